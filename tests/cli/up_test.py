"""`sapling up` and `sapling config show`: real nodes on unused ports of loopback. Run by run.py."""
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import stat
import subprocess
import threading
import time

import command_test
from command_test import Case
from store_test import Server, server_programs

KILLS = int(os.environ.get("SAP_KILLS") or 20)
SENDERS = 4
STOP_SECONDS = 5

# Keeps a row for each number it is given, and replies how many there are; "hang" never ends.
PROGRAM = '''#!/usr/bin/env python3
import json, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for line in sys.stdin:
    event = json.loads(line)
    answer = {"id": event["id"]}
    state, body = event.get("state", {}), event.get("body") or {}
    if event.get("name") == "hang":
        time.sleep(1000)
    if "n" in body:
        key = "i%08d" % body["n"]
        answer["put"] = {key: state.get(key, 0) + 1, "count": state.get("count", 0) + 1}
        answer["reply"] = {"n": body["n"], "count": state.get("count", 0) + 1}
    print(json.dumps(answer), flush=True)
'''


class Local(http.client.HTTPConnection):
    """HTTP over a node's socket."""

    def __init__(self, path, timeout=30):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)

    def ask(self, method, path, body=None, **headers):
        """(status, JSON or None)"""
        data = None if body is None else json.dumps(body)
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        self.request(method, path, data, {"Content-Type": "application/json", **headers})
        answer = self.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text[:1] in (b"{", b"[") else None


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class NodeCase(Case):
    """A node in the directory, with the program keep.py."""

    def setUp(self):
        super().setUp()
        self.write("keep.py", PROGRAM)
        os.chmod(self.path("keep.py"), 0o755)
        self.listen = f"127.0.0.1:{free_port()}"
        self.addCleanup(self.kill_all)

    def kill_all(self):
        """Nodes that a test has left behind."""
        for root, _, names in os.walk(self.dir):
            if "node.pid" in names:
                self.kill(os.path.relpath(root, self.dir))

    def pid(self, data="sapling-data"):
        try:
            return int(self.read(os.path.join(data, "node.pid")))
        except (FileNotFoundError, ValueError):
            return None

    @staticmethod
    def runs(pid):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                return file.read().rpartition(")")[2].split()[0] not in "ZX"
        except (FileNotFoundError, ProcessLookupError):
            return False

    def kill(self, data="sapling-data", number=signal.SIGKILL):
        """Returns the seconds until it has ended."""
        pid = self.pid(data)
        start = time.monotonic()
        if pid is not None and self.runs(pid):
            os.kill(pid, number)
            self.await_("the end of the node", lambda: not self.runs(pid))
        return time.monotonic() - start

    def up(self, *args, data="sapling-data", listen=None, **more):
        return self.ok("up", "--detach", "--data", data, "--listen", listen or self.listen, *args, **more).decode()

    def local(self, data="sapling-data", **more):
        return Local(self.path(data, "node.sock"), **more)

    def send(self, *args, data="sapling-data"):
        return json.loads(self.ok("world", "send", "--node", self.path(data), *args, "--wait"))

    def log(self, data="sapling-data"):
        return [json.loads(line) for line in self.read(os.path.join(data, "node.log")).decode().splitlines()]

    def events(self, name, data="sapling-data"):
        return [line for line in self.log(data) if line["event"] == name]


# ---- Starting and stopping ----------------------------------------------------------------------

class Up(NodeCase):
    def test_a_node_is_up_when_the_command_returns_and_is_found_by_others(self):
        text = self.up()
        self.assertLessEqual(len(text.splitlines()), 24)
        for part in (self.listen, self.path("sapling-data", "node.sock"), "Try:\n", "curl --unix-socket"):
            self.assertIn(part, text)
        curl = re.search(r"curl .*", text).group(0)
        said = subprocess.run(["sh", "-c", curl], capture_output=True, check=True).stdout
        self.assertEqual(json.loads(said)["pid"], self.pid())
        self.assertEqual(json.loads(self.ok("status", "--json"))["listen"], self.listen)
        self.assertEqual(self.send("w", '{"n":7}', "--module", "./keep.py"), {"n": 7, "count": 1})
        mode = {name: stat.S_IMODE(os.stat(self.path("sapling-data", name)).st_mode)
                for name in (".", "token", "node.json", "node.log", "node.pid")}
        self.assertEqual(mode, {".": 0o700, "token": 0o600, "node.json": 0o600, "node.log": 0o600, "node.pid": 0o600})
        self.assertLess(self.kill(number=signal.SIGTERM), STOP_SECONDS)
        self.assertEqual([line["event"] for line in self.log()][-1], "node.stopped")
        self.assertFalse(os.path.exists(self.path("sapling-data", "node.json")))
        self.assertEqual(os.listdir(self.path("bin", "state", "sapling", "nodes")), [])
        self.fails(5, "no node at", "status")
        self.assertNotIn("did not stop cleanly", self.up())
        self.assertEqual(self.send("w", '{"n":8}'), {"n": 8, "count": 2})

    def test_as_json_it_is_one_object(self):
        made = json.loads(self.up("--json"))
        self.assertEqual((made["address"], made["pid"], made["recovered"]), (self.listen, self.pid(), None))
        self.kill()
        again = json.loads(self.up("--json"))
        self.assertEqual(again["recovered"]["pid"], made["pid"])

    def test_a_second_node_on_the_same_data_is_refused_by_the_pid_of_the_first(self):
        self.up()
        error = self.fails(4, rf"sapling-data is in use by a node \(pid {self.pid()}\)\n.*kill {self.pid()}", "up",
                           "--listen", "none")
        self.assertNotIn("{", error)
        self.fails(4, "is in use by a node", "up", "--detach", "--listen", "none")
        self.assertEqual(self.send("w", '{"n":1}', "--module", "./keep.py"), {"n": 1, "count": 1})

    def test_a_port_that_is_taken_is_an_error_and_leaves_nothing_behind(self):
        with socket.create_server(("127.0.0.1", 0)) as other:
            listen = "127.0.0.1:%d" % other.getsockname()[1]
            self.fails(4, rf"{listen}.*\n.*--listen", "up", "--listen", listen)
            self.fails(4, rf"{listen}.*\n.*--listen", "up", "--detach", "--listen", listen)
            self.assertFalse(os.path.exists(self.path("sapling-data", "node.json")))
        self.assertNotIn("did not stop cleanly", self.up())

    def test_the_socket_alone_is_enough(self):
        self.assertNotIn("address", self.up(listen="none"))
        self.assertEqual(self.send("w", '{"n":1}', "--module", "./keep.py"), {"n": 1, "count": 1})

    def test_in_the_foreground_it_logs_json_and_stops_with_success(self):
        process = self.start("up", "--listen", self.listen)
        self.await_("the node", lambda: os.path.exists(self.path("sapling-data", "node.json")))
        text = b""
        while b"Ctrl-C stops it." not in text:
            text += process.stdout.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=STOP_SECONDS)
        self.assertEqual((process.returncode, out), (0, b""))
        self.assertEqual([json.loads(line)["event"] for line in err.decode().splitlines()][-1], "node.stopped")

    def test_at_a_terminal_it_logs_text(self):
        process, master, seconds = self.at_terminal("up", "--listen", "none")
        self.await_("the node", lambda: os.path.exists(self.path("sapling-data", "node.json")))
        process.send_signal(signal.SIGTERM)
        code, text = self.shown(process, master, seconds)
        self.assertEqual(code, 0)
        self.assertRegex(text, r"(?m)^\S+Z info node\.started pid=\d+ ")
        self.assertNotIn("{", text)

    def test_a_handler_that_hangs_is_ended_and_its_message_is_handled_again(self):
        self.up()
        self.send("w", '{"n":1}', "--module", "./keep.py")
        self.ok("world", "send", "w", "hang", "{}")
        self.ok("world", "send", "w", '{"n":2}')
        self.await_("the handler", lambda: len(self.programs()) > 0)
        self.assertLess(self.kill(number=signal.SIGTERM), STOP_SECONDS)
        self.await_("the end of its programs", lambda: not self.programs())
        self.assertNotIn("did not stop cleanly", self.up())
        info = json.loads(self.ok("world", "show", "w", "--json"))
        self.assertEqual((info["step"], info["inbox"]["messages"]), (2, 2))

    def programs(self):
        """Processes that run keep.py of this test."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    if self.path("keep.py").encode() in file.read():
                        found.append(int(pid))
            except (FileNotFoundError, ProcessLookupError):
                pass
        return found

    def test_a_second_signal_ends_it_at_once(self):
        process = self.start("up", "--listen", "none")
        self.await_("the node", lambda: os.path.exists(self.path("sapling-data", "node.json")))
        self.stop(process)
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGCONT)
        process.send_signal(signal.SIGTERM)  # the same wish, as from timeout(1)
        self.assertEqual(process.wait(timeout=STOP_SECONDS), 0)

    def test_a_killed_node_ends_its_programs_and_says_what_it_found(self):
        self.up()
        self.send("w", '{"n":1}', "--module", "./keep.py")
        pid = self.pid()
        self.kill()
        text = self.up()
        self.assertRegex(text, rf"The node before \(pid {pid}, started .*\) did not stop cleanly.*\n"
                               r"  worlds that it held go on +1\n")
        self.assertEqual(self.events("node.recovered")[0]["pid_before"], pid)
        self.assertEqual(self.send("w", '{"n":2}'), {"n": 2, "count": 2})


# ---- Data that it cannot use --------------------------------------------------------------------

class Data(NodeCase):
    def test_a_newer_format_is_refused(self):
        self.up()
        self.kill(number=signal.SIGTERM)
        self.write("sapling-data/format", "sapling data 7\n")
        self.fails(4, r"has format 7, and sapling \S+ knows none above 1\n.*newer", "up", "--detach")

    def test_what_is_no_data_directory_is_left_alone(self):
        os.mkdir(self.path("home"), 0o755)
        self.write("home/letter.txt", "dear")
        for args in ((), ("--detach",)):
            self.fails(6, r"home is not a data directory, and has files in it \(letter.txt\)", "up", "--data", "home",
                       *args)
        self.assertEqual(os.listdir(self.path("home")), ["letter.txt"])
        self.assertEqual(stat.S_IMODE(os.stat(self.path("home")).st_mode), 0o755)

    def test_a_directory_that_cannot_be_written_is_named(self):
        self.fails(1, "cannot make /proc/data: ", "up", "--data", "/proc/data")
        self.fails(1, "cannot make no/such/data: No such file or directory\n", "up", "--data", "no/such/data")
        if os.geteuid() == 0:
            os.mkdir(self.path("locked"), 0o755)
            self.mount("locked", "size=4m,ro")
            self.fails(1, "Read-only file system\n.*--data DIR", "up", "--data", "locked/data")

    def mount(self, name, options):
        result = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", self.path(name)], capture_output=True,
                                check=False)
        if result.returncode != 0:
            self.skipTest(f"no mount: {result.stderr.decode()}")
        self.addCleanup(subprocess.run, ["umount", "-l", self.path(name)], check=False)

    def test_a_full_disk_stops_nobody_for_longer_than_it_is_full(self):
        if os.geteuid() != 0:
            self.skipTest("mounting needs root")
        os.mkdir(self.path("small"))
        self.mount("small", "size=256k")
        self.fails(1, "no room for sapling:.*small/data/store.db.*\n.*--data DIR", "up", "--data", "small/data", "--listen", "none")
        self.mount("small", "size=48m")
        self.up(data="small/data")
        self.send("w", '{"n":1}', "--module", "./keep.py", data="small/data")
        with open(self.path("small", "filler"), "wb", buffering=0) as filler:
            try:
                while True:
                    filler.write(b"x" * 65536)
            except OSError:
                pass
        full = None
        local = self.local("small/data")
        for number in range(2, 3000):
            status, answer = local.ask("POST", "/v1/worlds/w/messages", {"body": {"n": number, "pad": "x" * 30000}})
            if status != 202:
                full = status, answer["code"]
                break
        self.assertEqual(full, (507, "disk_full"))
        os.unlink(self.path("small", "filler"))
        self.assertEqual(self.send("w", f'{{"n":{number}}}', data="small/data"), {"n": number, "count": number})
        self.kill("small/data")


# ---- Settings -----------------------------------------------------------------------------------

class Config(NodeCase):
    def shown(self, *args, **env):
        lines = self.ok("config", "show", "--json", *args, env={**self.env, **env}).decode().splitlines()
        return {line["name"]: (line["value"], line["origin"]) for line in map(json.loads, lines)}

    def test_flags_count_before_the_environment_before_files_before_defaults(self):
        self.assertEqual(self.shown()["listen"], ("127.0.0.1:7227", "default"))
        self.write("sapling-node.conf", "listen = 127.0.0.1:1\nmax-memory = 1G # much\nhost-name = a, b\n")
        self.assertEqual(self.shown()["listen"], ("127.0.0.1:1", "./sapling-node.conf:1"))
        env = {"SAPLING_NODE_LISTEN": "127.0.0.1:2", "SAPLING_NODE": "x"}
        self.assertEqual(self.shown(**env)["listen"], ("127.0.0.1:2", "SAPLING_NODE_LISTEN"))
        shown = self.shown("--listen=127.0.0.1:3", "--role", "http", "--role", "timers,reaper", **env)
        self.assertEqual(shown["listen"], ("127.0.0.1:3", "--listen"))
        self.assertEqual(shown["role"], ("http,timers,reaper", "--role"))
        self.assertEqual(shown["max-memory"], ("1G", "./sapling-node.conf:2"))
        self.assertEqual(shown["host-name"], ("a,b", "./sapling-node.conf:3"))
        self.write("other.conf", "data = elsewhere\n")
        shown = self.shown("--config", "other.conf")
        self.assertEqual((shown["data"], shown["listen"]), (("elsewhere", "other.conf:1"), ("127.0.0.1:7227", "default")))
        self.fails(3, "none.conf: there is no such file", "config", "show", "--config", "none.conf")
        self.assertRegex(self.ok("config", "show").decode(), r"(?m)^listen +127\.0\.0\.1:1 +\./sapling-node\.conf:1$")

    def test_a_password_is_not_shown(self):
        shown = self.shown("--store", "postgres://me:hidden@host/d")["store"][0]
        self.assertNotIn("hidden", shown)
        self.assertIn("host", shown)

    def test_unknown_names_and_bad_values_are_errors(self):
        for text, pattern in (("lisen = 1", r"\./sapling-node\.conf:1: there is no such setting: lisen\n"
                                            r"did you mean listen\?"),
                              ("\nhandlers = many", r"\./sapling-node\.conf:2: handlers cannot be many\n.*1 to 1024"),
                              ("token = abc", "tokens are read from files only")):
            self.write("sapling-node.conf", text + "\n")
            for command in (("config", "show"), ("up",)):
                self.fails(2, pattern, *command)
        os.unlink(self.path("sapling-node.conf"))
        self.fails(2, r"SAPLING_NODE_DATEN\ndid you mean SAPLING_NODE_DATA\?", "up",
                   env={**self.env, "SAPLING_NODE_DATEN": "x"})
        for option, value in (("--store", "mysql://x"), ("--store", "memory:"), ("--allow-http", "x"),
                              ("--exec-user", "nobody-of-that-name"), ("--listen", "x"), ("--role", "x"),
                              ("--modules-allow", "/no/such/file")):
            self.fails(2, re.escape(value), "up", option, value)
        self.assertFalse(os.path.exists(self.path("sapling-data", "node.json")))

    def test_settings_reach_the_node(self):
        self.write("sapling-node.conf", f"data = d\nlisten = {self.listen}\nworker = w1\nlog-level = error\n"
                                        "role = worlds, http\n")
        self.write("list", f"# programs\nexec:{self.path('keep.py')}\n")
        os.chmod(self.path("list"), 0o666)
        self.fails(2, "can be written by other users", "up", "--modules-allow", "list")
        os.chmod(self.path("list"), 0o600)
        self.ok("up", "-d", "--modules-allow", "list")
        self.assertEqual(self.read("d/node.log"), b"")
        token = self.read("d/token").decode().strip()
        tcp = http.client.HTTPConnection(self.listen, timeout=30)
        for runner, status in ((self.path("keep.py"), 200), ("/bin/cat", 403)):
            tcp.request("PUT", "/v1/modules/keep", json.dumps({"runner": "exec:" + runner}),
                        {"Content-Type": "application/json", "Authorization": "Bearer " + token})
            answer = tcp.getresponse()
            self.assertEqual((answer.status, answer.read() and None), (status, None))
        workers = json.loads(self.ok("worker", "list", "--json").decode().splitlines()[0])
        self.assertEqual((workers["worker"], workers["kinds"]), ("w1", []))
        self.kill("d")


# ---- Failures of the store ----------------------------------------------------------------------

class Failures(NodeCase):
    def test_after_an_error_of_its_disk_it_goes_on_with_what_is_there(self):
        if shutil.which("strace") is None:
            self.skipTest("no strace")
        self.up()
        self.send("w", '{"n":1}', "--module", "./keep.py")
        tracer = subprocess.Popen(["strace", "-f", "-p", str(self.pid()), "-e", "trace=fdatasync", "-e",
                                   "inject=fdatasync:error=EIO:when=1+", "-o", os.devnull], stderr=subprocess.PIPE)
        self.addCleanup(self.finish, tracer)
        self.assertIn(b"attached", tracer.stderr.readline())
        self.await_("the failure", lambda: self.events("node.store_failed"))
        tracer.send_signal(signal.SIGINT)
        tracer.wait()
        self.await_("the node", lambda: self.events("node.reopened"))
        self.await_("HTTP", lambda: os.path.exists(self.path("sapling-data", "node.sock")))
        self.assertEqual(self.send("w", '{"n":2}'), {"n": 2, "count": 2})
        self.assertEqual(self.local().ask("GET", "/readyz")[0], 200)


# ---- Kills under load ---------------------------------------------------------------------------

class Load:
    """Senders that number their messages, and repeat each under its key until it has an answer."""

    def __init__(self, case):
        self.case = case
        self.stopping = False
        self.replies = {}  # by number
        self.wrong = []
        self.next = 0
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.run, daemon=True) for _ in range(SENDERS)]
        for thread in self.threads:
            thread.start()

    def number(self):
        with self.lock:
            self.next += 1
            return self.next

    def run(self):
        local = None
        while not self.stopping:
            number = self.number()
            while True:
                try:
                    local = local or self.case.local(timeout=20)
                    status, answer = local.ask("POST", "/v1/worlds/w/messages?wait=10s", {"body": {"n": number}},
                                               Idempotency_Key=f"k{number}")
                except (OSError, http.client.HTTPException):
                    local = None  # it was killed
                    time.sleep(0.01)
                    continue
                if status == 200:
                    self.note(number, answer["reply"])
                    break
                if status not in (202, 503):
                    self.wrong.append((number, status, answer))
                    break

    def note(self, number, reply):
        with self.lock:
            if reply["n"] != number or number in self.replies:
                self.wrong.append((number, reply))
            self.replies[number] = reply["count"]

    def stop(self):
        self.stopping = True
        for thread in self.threads:
            thread.join(60)


class Kills(NodeCase):
    def test_kills_under_load_lose_nothing_and_answer_nothing_twice(self):
        seed = int(os.environ.get("SAP_TEST_SEED") or random.SystemRandom().randrange(1 << 31))
        chance = random.Random(seed)
        self.up()
        self.ok("module", "put", "keep", "exec:./keep.py")
        self.ok("world", "create", "w", "--module", "keep")
        load = Load(self)
        for _ in range(KILLS):
            time.sleep(chance.uniform(0.02, 0.4))
            self.kill()
            self.up()
        before = len(load.replies)
        self.await_("answers after the last kill", lambda: len(load.replies) > before)
        load.stop()
        self.assertEqual(load.wrong, [], f"seed {seed}")
        rows = {line["key"]: line["value"] for line in map(json.loads, self.ok("world", "state", "w", "--json").splitlines())
                if "key" in line}
        count = rows.pop("count")
        self.assertEqual({key: value for key, value in rows.items() if value != 1}, {}, f"seed {seed}")
        self.assertEqual(count, len(rows))
        lost = [number for number in load.replies if f"i{number:08}" not in rows]
        self.assertEqual(lost, [], f"seed {seed}")
        self.assertEqual(len(set(load.replies.values())), len(load.replies), f"seed {seed}")
        print(f"node kills: {KILLS} kills, {len(load.replies)} messages answered, {count} handled, seed {seed}", flush=True)


# ---- On a server --------------------------------------------------------------------------------

class OnPostgres(NodeCase):
    def setUp(self):
        super().setUp()
        programs = server_programs()
        if programs is None:
            self.skipTest("no PostgreSQL")
        self.server = Server(self.path("pg"), programs)
        self.addCleanup(self.server.stop)
        self.server.make()
        self.server.start()
        self.url = f"postgres://postgres@127.0.0.1:{self.server.port}/postgres"

    def test_nodes_share_worlds_on_a_server_and_go_on_after_a_kill(self):
        self.fails(3, r"(?s)sapling store init '?postgres://.*--universe", "up", "--store", self.url, "--listen", "none")
        self.ok("store", "init", self.url, "--universe")
        self.up("--store", self.url, "--role", "http", data="front")
        self.up("--store", self.url, "--role", "worlds,timers,effects,orchestrator,reaper", data="back",
                listen=f"127.0.0.1:{free_port()}")
        self.assertEqual(self.send("w", '{"n":1}', "--module", "./keep.py", data="front"), {"n": 1, "count": 1})
        self.kill("back")
        start = time.monotonic()
        self.up("--store", self.url, data="back", listen=f"127.0.0.1:{free_port()}")
        self.assertEqual(self.send("w", '{"n":2}', data="front"), {"n": 2, "count": 2})
        # The same name takes the session of the node before: nobody waits until that expires.
        self.assertLess(time.monotonic() - start, 15)
        for data in ("front", "back"):
            self.assertLess(self.kill(data, signal.SIGTERM), STOP_SECONDS)


if __name__ == "__main__":
    raise SystemExit(f"run.py runs this with {command_test.__name__}")
