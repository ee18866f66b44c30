"""The command as a user runs it: help, `sapling db`, documents. Run by run.py.

Each test has a directory of its own, in memory where there is such a place.
"""
import ctypes
import itertools
import json
import os
import pty
import random
import re
import resource
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import unittest


ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
SCRATCH = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
SECONDS = 120
COMMAND = ""  # set by run.py
MIGRATING = ""  # the same, with the migrations of tests/support/migrations.h and tests/schemas/shop.wit


class Case(unittest.TestCase):
    """A directory, and the command in it."""

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="sapling-cli-", dir=SCRATCH)
        os.chmod(self.dir, 0o755)
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        os.mkdir(self.path("bin"))
        os.symlink(COMMAND, self.path("bin", "sapling"))
        os.symlink(os.path.join(ROOT, "build/schema_diff"), self.path("bin", "schema_diff"))
        self.env = dict(os.environ, PATH=self.path("bin") + ":" + os.environ["PATH"], LC_ALL="C.UTF-8", TERM="xterm")
        self.env["XDG_STATE_HOME"] = self.path("bin", "state")  # no node of the machine is found
        for name in ("NO_COLOR", "SAPLING_NODE", "SAPLING_TOKEN_FILE"):
            self.env.pop(name, None)

    def path(self, *names):
        return os.path.join(self.dir, *names)

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data.encode() if isinstance(data, str) else data)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def files(self):
        """Names in the directory, but for locks and logs."""
        return sorted(n for n in os.listdir(self.dir)
                      if n != "bin" and not re.search(r"-lock$|-wal\.[0-9a-f]+$", n))

    def remove(self, name):
        """The database, and all that lies beside it."""
        for file in os.listdir(self.dir):
            if file == name or file.startswith(name + "-"):
                os.unlink(self.path(file))

    def run_(self, *args, stdin=b"", **more):
        env = more.pop("env", self.env)
        return subprocess.run([COMMAND, *args], cwd=self.dir, env=env, timeout=SECONDS, check=False,
                              input=stdin.encode() if isinstance(stdin, str) else stdin,
                              capture_output=True, **more)

    def ok(self, *args, stdin=b"", **more):
        """Standard output of a command that must succeed."""
        result = self.run_(*args, stdin=stdin, **more)
        self.assertEqual(result.returncode, 0, (args, result.stdout[-500:], result.stderr[-2000:]))
        return result.stdout

    def db(self, verb, *args, **more):
        return self.ok("db", verb, *args, **more).decode()

    def fails(self, status, pattern, *args, stdin=b"", **more):
        """Standard error of a command that must fail so, with nothing of a result."""
        result = self.run_(*args, stdin=stdin, **more)
        error = result.stderr.decode()
        self.assertEqual(result.returncode, status, (args, result.stdout[-500:], error[-2000:]))
        self.assertRegex(error, pattern)
        self.assertTrue(error.startswith("sapling: ") or "--json" in args or ":" in error, error)
        return error

    def start(self, *args, **more):
        process = subprocess.Popen([COMMAND, *args], cwd=self.dir, env=self.env,
                                   stdin=more.pop("stdin", subprocess.PIPE),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
        self.addCleanup(self.finish, process)
        return process

    @staticmethod
    def finish(process):
        if process.poll() is None:
            process.kill()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None and not stream.closed:
                stream.close()
        process.wait()

    def await_(self, what, condition):
        end = time.monotonic() + 30
        while not condition():
            self.assertLess(time.monotonic(), end, f"waited in vain for {what}")
            time.sleep(0.002)

    def stop(self, process):
        """Stops a process, and returns when it stands still."""
        process.send_signal(signal.SIGSTOP)

        def stopped():
            with open(f"/proc/{process.pid}/stat", encoding="utf-8", errors="replace") as file:
                return file.read().rpartition(")")[2].split()[0] == "T"

        self.await_("the stop", stopped)

    def fill(self, name, rows, width=40):
        self.write("rows.tsv", "".join(f"row/{i:08}\t{'v' * width}{i}\n" for i in range(rows)))
        self.db("load", name, "rows.tsv", "--quiet")
        os.unlink(self.path("rows.tsv"))

    def at_terminal(self, *args, answer=b"", env=None, stdin_too=True, seconds=30):
        """(exit status, what the terminal showed) with standard input and error at a terminal."""
        master, slave = pty.openpty()
        process = subprocess.Popen([COMMAND, *args], cwd=self.dir, env=env or self.env,
                                   stdin=slave if stdin_too else subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=slave)
        os.close(slave)
        self.addCleanup(os.close, master)
        self.addCleanup(self.finish, process)
        if answer:
            os.write(master, answer)
        return process, master, seconds

    def shown(self, process, master, seconds=30):
        text = b""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            ready, _, _ = select.select([master], [], [], 0.05)
            if ready:
                try:
                    text += os.read(master, 65536)
                except OSError:
                    break
            elif process.poll() is not None:
                break
        return process.wait(timeout=10), text.decode()


# ---- Help and words -----------------------------------------------------------------------------

def verbs():
    text = subprocess.run([COMMAND, "help"], capture_output=True, text=True, check=True).stdout
    return [m.split() for m in re.findall(r"^  ((?:(?:db|queue|store) )?[a-z-]+(?: [a-z]+)?) {2,}\S", text, re.M)]


def node_verbs():
    """Those of the commands that talk to a node."""
    return [words for words in verbs() if "--give-up" in
            subprocess.run([COMMAND, *words, "--help"], capture_output=True, text=True, check=True).stdout]


class Help(Case):
    def test_every_command_has_one_line_usage_two_examples_and_exit_codes(self):
        self.assertGreaterEqual(len(verbs()), 60)
        for words in verbs():
            text = self.ok(*words, "--help").decode()
            name = " ".join(["sapling", *words])
            self.assertRegex(text, rf"\A{name} - [^\n]+\n\nUsage: {name} ")
            examples = re.search(r"\nExamples:\n((?:  .*\n)+)", text).group(1)
            self.assertGreaterEqual(examples.count("\n"), 2, words)
            self.assertIn(f"sapling {' '.join(words)}", examples)
            order = [text.index(part) for part in ("Usage:", "Examples:", "Other options:", "Exit codes:")]
            self.assertEqual(order, sorted(order), words)
            self.assertEqual(text, self.ok("help", *words).decode())
            self.assertTrue(all(len(line) <= 100 for line in text.splitlines()), words)

    def test_every_example_of_help_runs(self):
        # In the order of the list: later ones use what earlier ones made.
        shutil.copy(os.path.join(ROOT, "tests/cli/example_world.py"), self.path("hello.py"))
        settle = self.start_any_node()
        count = 0
        for words in verbs():
            text = self.ok(*words, "--help").decode()
            for line in re.search(r"\nExamples:\n((?:  .*\n)+)", text).group(1).splitlines():
                result = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", line.strip()],
                                        cwd=self.dir, env=self.env, capture_output=True,
                                        stdin=subprocess.DEVNULL, timeout=SECONDS, check=False)
                self.assertEqual(result.returncode, 0, (line, result.stderr))
                count += 1
                if "sapling world send" in line:
                    settle()
            while os.path.exists(self.path("shop", "node.json")):  # of `up`: it stops
                time.sleep(0.02)
        self.assertGreaterEqual(count, 134)

    def start_any_node(self):
        """A node for examples. Returns what waits until its worlds have handled what they got."""
        self.env["SAPLING_NODE"] = self.path("bin", "data")
        node = self.start("up", "--data", self.path("bin", "data"), "--listen", "127.0.0.1:0", stdin=subprocess.DEVNULL)
        self.assertIn(b" is up", node.stdout.readline())

        def is_settled():
            worlds = [json.loads(line) for line in self.ok("world", "list", "--json").splitlines()]
            return all(w["inbox"]["messages"] + w["inbox"]["receipts"] == 0 for w in worlds if w["status"] == "active")

        return lambda: self.await_("the worlds", is_settled)

    def test_bare_command_group_and_version(self):
        everything = self.ok("--help").decode()
        self.assertEqual(everything, self.ok("help").decode())
        self.assertIn("Usage: sapling COMMAND", everything)
        shown = re.findall(r"^  (\w+(?: \w+)?) {2,}\S", self.ok().decode(), re.MULTILINE)
        self.assertEqual(len(shown), 10)
        for name in shown:
            self.assertIn(f"\n  {name} ", everything)
        self.assertEqual(self.ok("db"), self.ok("db", "--help"))
        self.assertEqual(self.ok("db"), self.ok("help", "db"))
        self.assertIn("Usage: sapling queue COMMAND", self.ok("queue").decode())
        for words in (("queue", "--help"), ("help", "queue"), ("queue", "dlq"), ("queue", "dlq", "--help"),
                      ("help", "queue", "dlq")):
            self.assertEqual(self.ok("queue"), self.ok(*words))
        with open(os.path.join(ROOT, "VERSION"), encoding="utf-8") as file:
            self.assertEqual(self.ok("--version").decode(), f"sapling {file.read().strip()}\n")
        self.assertEqual(self.ok("version"), self.ok("--version"))
        self.assertIn("version", json.loads(self.ok("--json", "--version")))

    def test_input_that_cannot_be_read_is_named_without_a_line(self):
        for shell, why in (("<&-", "stdin: cannot be read: Bad file descriptor"),
                           ("< .", "cannot read standard input: it is a directory")):
            result = subprocess.run(["sh", "-c", f"'{COMMAND}' db load a.db {shell}"], cwd=self.dir, env=self.env,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
            self.assertEqual((result.returncode, result.stderr.decode()), (1, f"sapling: {why}\n"))

    def test_no_hint_is_the_command_that_was_run(self):
        for words in (("db", "put", "/proc/x.db", "k", "v"), ("queue", "push", "/proc/x.db", "k")):
            self.fails(3, r"/proc/x.db\nand none can be made in its directory: name a file elsewhere", *words)

    def test_near_names_are_suggested(self):
        self.fails(2, r"no such command: db scna\ndid you mean: sapling db scan", "db", "scna")
        self.fails(2, r"no such command: bd\ndid you mean: sapling db", "bd")
        self.fails(2, r"no such command: scan\ndid you mean: sapling db scan", "scan")
        self.fails(2, r"no such option: --prefx\ndid you mean --prefix\?", "db", "scan", "--prefx", "a", "x")
        self.fails(2, r"no such command: zzzzzz\nsee: sapling --help", "zzzzzz")
        self.fails(2, r"no such option: --zzzzzz\nsee: sapling db scan --help", "db", "scan", "--zzzzzz")
        self.fails(2, r"no such command: queue psuh\ndid you mean: sapling queue push", "queue", "psuh")
        self.fails(2, r"no such command: push\ndid you mean: sapling queue push", "push")
        self.fails(2, r"no such command: queue dlq lsit\ndid you mean: sapling queue dlq list",
                   "queue", "dlq", "lsit")
        self.fails(2, r"no such command: db stats\ndid you mean: sapling db stat", "help", "db", "stats")

    def test_wrong_arguments(self):
        for pattern, *args in (
                ("something is missing: FILE KEY", "db", "get", "x"),
                ("too many arguments: 'z'", "db", "get", "x", "y", "z"),
                ("--table needs a value: --table N", "db", "get", "x", "y", "--table"),
                ("--table 1024 is not a number from 0 to 1023", "db", "get", "x", "y", "--table", "1024"),
                ("--table -1 is not a number", "db", "get", "x", "y", "--table=-1"),
                ("--limit 0x is not a number from 1", "db", "scan", "x", "--limit", "0x"),
                ("--keys takes no value", "db", "scan", "x", "--keys=1"),
                ("--format xml: it is one of text.hex.csv.json", "db", "scan", "x", "--format", "xml"),
                ("--prefix is a range of its own", "db", "scan", "x", "--prefix", "a", "--to", "b"),
                (r"'\\q': a backslash", "db", "get", "x", r"\q"),
                ("'abc': an odd number", "db", "get", "x", "abc", "--hex"),
                ("which key", "db", "del", "x"),
                ("--range needs FROM and TO", "db", "del", "x", "a", "--range"),
                ("--json needs an OUTPUT", "db", "dump", "x", "--json"),
                ("--table goes with", "db", "dump", "x", "--table", "1"),
                ("go with --format csv", "db", "load", "x", "--header"),
                ("a dump names its tables", "db", "load", "x", "--format", "dump", "-t", "1"),
                ("--delimiter is one character", "db", "load", "x", "--format", "csv", "--delimiter", "ab"),
                ("no completion for 'tcsh'", "completion", "tcsh")):
            error = self.fails(2, pattern, *args)
            self.assertIn("see: sapling ", error)

    def test_options_may_stand_anywhere(self):
        self.db("put", "--table", "3", "x.db", "k", "v")
        self.assertEqual(self.db("get", "x.db", "-t3", "k"), "v")
        self.assertEqual(self.ok("--quiet", "db", "get", "x.db", "k", "--table=3"), b"v")
        self.db("put", "x.db", "--", "-k", "--v")
        self.assertEqual(self.db("scan", "-k", "x.db"), "-k\n")

    def test_man_page_is_the_one_of_the_table(self):
        with open(os.path.join(ROOT, "man/sapling.1"), encoding="utf-8") as file:
            self.assertEqual(self.ok("help", "--man").decode(), file.read(),
                             "make man writes it anew")

    def test_completion_of_bash_knows_commands_options_and_choices(self):
        self.write("c.bash", self.ok("completion", "bash"))

        def complete(*words):
            script = (f"source c.bash; COMP_WORDS=({' '.join(words)}); "
                      f"COMP_CWORD={len(words) - 1}; _sapling; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
            return subprocess.run(["bash", "-c", script], cwd=self.dir, env=self.env, check=True,
                                  capture_output=True, text=True).stdout.split()

        self.assertEqual(complete("sapling", "d"), ["dlq", "db"])
        self.assertEqual(complete("sapling", "db", "st"), ["stat"])
        self.assertEqual(complete("sapling", "qu"), ["queue"])
        self.assertEqual(complete("sapling", "queue", "p"), ["push", "peek", "pop"])
        self.assertEqual(complete("sapling", "queue", "dl"), ["dlq"])
        self.assertEqual(complete("sapling", "queue", "dlq", ""), ["list", "show", "replay", "drop", "--help"])
        self.assertEqual(complete("sapling", "queue", "dlq", "re"), ["replay"])
        self.assertEqual(complete("sapling", "queue", "dlq", "drop", "--dr"), ["--dry-run"])
        self.assertEqual(complete("sapling", "queue", "push", "--priority", "h"), ["high"])
        self.assertEqual(complete("sapling", "db", "scan", "--pre"), ["--prefix"])
        self.assertEqual(complete("sapling", "db", "scan", "--format", "c"), ["csv"])
        self.assertEqual(complete("sapling", "db", "scan", "c.b"), ["c.bash"])
        for words in verbs():
            text = self.ok(*words, "--help").decode()
            options = set(re.findall(r"^  .{4}(--[a-z-]+)", text, re.M))
            self.assertEqual(set(complete("sapling", *words, "--")), options, words)

    def test_completion_of_zsh_and_fish_names_everything(self):
        zsh = self.ok("completion", "zsh").decode()
        fish = self.ok("completion", "fish").decode()
        for words in verbs():
            options = re.findall(r"^  .{4}--([a-z-]+)", self.ok(*words, "--help").decode(), re.M)
            for option in options:
                self.assertRegex(zsh, rf"'\*--{option}(=-)?\[")
                self.assertIn(f"__fish_seen_subcommand_from {words[-1]}' -l {option} ", fish)
        for shell, text in (("zsh", zsh), ("fish", fish)):
            if shutil.which(shell):
                subprocess.run([shell, "-n", "/dev/stdin"], input=text.encode(), check=True)

    def test_colour_is_for_terminals(self):
        self.assertNotIn(b"\033", self.run_("db", "scna").stderr)
        self.assertIn(b"\033", self.run_("db", "scna", "--color=always").stderr)
        self.assertIn(b"\033", self.run_("db", "scan", "--help", "--color", "always").stdout)
        env = dict(self.env, TERM="xterm")
        process, master, _ = self.at_terminal("db", "scna", env=env)
        self.assertIn("\033", self.shown(process, master)[1])
        for more in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            process, master, _ = self.at_terminal("db", "scna", env=dict(env, **more))
            self.assertNotIn("\033", self.shown(process, master)[1])
        process, master, _ = self.at_terminal("db", "scna", "--color", "never", env=env)
        self.assertNotIn("\033", self.shown(process, master)[1])


# ---- Rows ---------------------------------------------------------------------------------------

class Rows(Case):
    def test_values_are_exact(self):
        value = bytes(range(256)) * 40
        self.db("put", "a.db", "k", "-", stdin=value)
        self.assertEqual(self.ok("db", "get", "a.db", "k"), value)
        self.assertEqual(self.ok("db", "get", "a.db", "6b", "--hex").decode(), value.hex() + "\n")
        self.db("put", "a.db", "empty", "")
        self.assertEqual(self.ok("db", "get", "a.db", "empty"), b"")
        self.db("put", "a.db", "00ff", "0a", "--hex")
        self.assertEqual(self.ok("db", "get", "a.db", r"\x00\xff"), b"\n")

    def test_put_replaces_unless_new(self):
        self.db("put", "a.db", "k", "1")
        self.db("put", "a.db", "k", "2")
        self.fails(4, r"the key 'k' is there already\nreplace it: leave out --new",
                   "db", "put", "a.db", "k", "3", "--new")
        self.assertEqual(self.db("get", "a.db", "k"), "2")
        self.db("put", "a.db", "other", "3", "--new")

    def test_what_is_not_there_is_exit_3(self):
        self.fails(3, r"there is no database none.db\nmake one: sapling db put none.db", "db", "get", "none.db", "k")
        self.assertEqual(self.files(), [])
        self.db("put", "a.db", "k", "1")
        self.fails(3, r"there is no key 'x\\x00'", "db", "get", "a.db", r"x\x00")
        self.fails(3, r"there is no key 'x'", "db", "del", "a.db", "x")
        self.fails(3, r"there is no table 9 in a.db\nits tables: 0", "db", "get", "a.db", "k", "-t", "9")
        self.fails(3, r"no table 9", "db", "scan", "a.db", "-t", "9")
        self.fails(3, r"cannot read none.tsv", "db", "load", "a.db", "none.tsv")
        self.fails(3, r"cannot read none.bak", "db", "restore", "none.bak", "b.db")
        for verb in ("stat", "scan", "verify", "dump"):
            self.fails(3, "there is no database none.db", "db", verb, "none.db")
        for verb in ("backup", "compact"):
            self.fails(3, "there is no database none.db", "db", verb, "none.db", "t.db")
        self.assertEqual(self.files(), ["a.db"])

    def test_many_values_per_key(self):
        self.db("put", "a.db", "k", "2", "-t", "1", "--dupsort")
        self.db("put", "a.db", "k", "1", "-t", "1")
        self.db("put", "a.db", "k", "1", "-t", "1")
        self.fails(4, "is there already", "db", "put", "a.db", "k", "1", "-t", "1", "--new")
        self.assertEqual(self.db("scan", "a.db", "-t", "1"), "k\t1\nk\t2\n")
        self.assertEqual(self.db("get", "a.db", "k", "-t", "1"), "1")
        self.db("del", "a.db", "k", "2", "-t", "1")
        self.assertEqual(self.db("scan", "a.db", "-t", "1"), "k\t1\n")
        self.fails(3, "the key 'k' has no value '2'", "db", "del", "a.db", "k", "2", "-t", "1")
        self.fails(3, "there is no key 'x'", "db", "del", "a.db", "x", "2", "-t", "1")
        self.fails(3, "the key 'k' has no value 'vvv", "db", "del", "a.db", "k", "v" * 70000, "-t", "1")
        self.db("put", "a.db", "k", "1")
        error = self.fails(1, "a.db: table 0 has one value per key", "db", "del", "a.db", "k", "1")
        self.assertNotIn("misuse", error)
        self.assertEqual(self.db("get", "a.db", "k"), "1")
        self.fails(3, "there is no key 'kkk", "db", "del", "a.db", "k" * 70000)
        self.fails(4, "holds one value per key", "db", "put", "a.db", "k", "1", "--dupsort")

    def test_scan_bounds_order_and_limit(self):
        self.db("load", "a.db", stdin="".join(f"{k}\t{i}\n" for i, k in enumerate(
            ["a", "b", "b/1", "b/2", "b\\xff", "c"])))
        def keys(*args):
            return self.db("scan", "a.db", "-k", *args).split()
        self.assertEqual(keys(), ["a", "b", "b/1", "b/2", "b\\xff", "c"])
        self.assertEqual(keys("--from", "b", "--to", "b/2"), ["b", "b/1"])
        self.assertEqual(keys("--prefix", "b/"), ["b/1", "b/2"])
        self.assertEqual(keys("--prefix", "b", "--reverse", "--limit", "2"), ["b\\xff", "b/2"])
        self.assertEqual(keys("--prefix", "b\\xff"), ["b\\xff"])
        self.assertEqual(keys("--prefix", ""), keys())
        self.assertEqual(keys("--to", ""), [])
        self.assertEqual(self.db("scan", "a.db", "--prefix", "b", "--count"), "4\n")
        self.assertEqual(self.db("scan", "a.db", "--limit", "3", "--count"), "3\n")
        self.assertEqual(self.db("scan", "a.db", "--from", "62ff", "--hex"), "62ff\t34\n63\t35\n")
        self.assertEqual(self.db("scan", "a.db", "--from", "c", "--format", "csv"), "c,5\n")

    def test_scan_and_load_are_inverse_in_every_format(self):
        rng = random.Random(7)
        rows = {}
        for _ in range(300):
            rows[bytes(rng.choice(b'a",\n\r\t\\\0\xff\xc3\xbc ') for _ in range(rng.randrange(9)))] = \
                bytes(rng.randrange(256) for _ in range(rng.randrange(20)))
        self.db("load", "a.db", "--format", "hex",
                stdin="".join(f"{k.hex()}\t{v.hex()}\n" for k, v in rows.items()))
        want = self.ok("db", "dump", "a.db", "--format", "stream")
        for name in ("text", "hex", "csv"):
            out = self.ok("db", "scan", "a.db", "--format", name)
            self.assertEqual(out, self.ok("db", "dump", "a.db", "--format", name))
            self.db("load", f"{name}.db", "--format", name, stdin=out)
            self.assertEqual(self.ok("db", "dump", f"{name}.db", "--format", "stream"), want, name)
        lines = [json.loads(l) for l in self.ok("db", "scan", "a.db", "--format", "json").splitlines()]
        got = {}
        for line in lines:
            key = bytes.fromhex(line["key_hex"]) if "key_hex" in line else line["key"].encode()
            got[key] = bytes.fromhex(line["value_hex"]) if "value_hex" in line else line["value"].encode()
        self.assertEqual(got, rows)

    def test_del_of_many_asks(self):
        self.db("load", "a.db", stdin="a\t1\nb/1\t2\nb/2\t3\nc\t4\n")
        self.fails(2, r"delete 2 rows of table 0: not done without being sure\nsay so with --yes",
                   "db", "del", "a.db", "--prefix", "b/")
        for answer, status, left in ((b"n\n", 1, 4), (b"y\n", 0, 2)):
            process, master, _ = self.at_terminal("db", "del", "a.db", "--prefix", "b/", answer=answer)
            got, text = self.shown(process, master)
            self.assertEqual(got, status, text)
            self.assertIn("delete 2 rows of table 0? [y/N]", text)
            self.assertEqual(self.db("scan", "a.db", "--count"), f"{left}\n")
        self.assertEqual(self.run_("db", "del", "a.db", "--range", "a", "c", "--dry-run").stderr,
                         b"1 row would be deleted\n")
        self.assertEqual(self.db("scan", "a.db", "--count"), "2\n")
        self.db("del", "a.db", "--range", "a", "c", "--yes")
        self.assertEqual(self.db("scan", "a.db"), "c\t4\n")
        self.db("del", "a.db", "--prefix", "none/")

    def test_reader_that_goes_away_ends_the_scan_quietly(self):
        self.fill("a.db", 20000)
        result = subprocess.run(f"{COMMAND} db scan a.db | head -n 1; echo ${{PIPESTATUS[0]}}", shell=True,
                                executable="/bin/bash", cwd=self.dir, env=self.env, check=True,
                                capture_output=True, text=True)
        self.assertRegex(result.stdout, r"\Arow/00000000\tv+0\n(0|141)\n\Z")
        self.assertEqual(result.stderr, "")


# ---- Load ---------------------------------------------------------------------------------------

class Load(Case):
    def test_bad_line_is_named_and_the_rows_before_it_are_in(self):
        self.write("in.csv", 'id,n\n1,a\n2,b\n3,"c\n4,d\n')
        error = self.fails(1, r"in.csv:4: a quote that is not closed\nin so far: 2 rows; mend the line and "
                              r"go on with --from-line 4, or leave such lines out with --skip-bad",
                           "db", "load", "a.db", "in.csv", "--format", "csv", "--header")
        self.assertEqual(self.db("scan", "a.db"), "1\ta\n2\tb\n", error)
        self.write("in.csv", 'id,n\n1,a\n2,b\n3,c\n4,d\n')
        self.db("load", "a.db", "in.csv", "--format", "csv", "--header", "--from-line", "4", "--new")
        self.assertEqual(self.db("scan", "a.db"), "1\ta\n2\tb\n3\tc\n4\td\n")

    def test_bad_lines_can_be_left_out_and_are_counted(self):
        result = self.run_("db", "load", "a.db", "--skip-bad", stdin="a\t1\nb\nc\t3\nd\\q\t4\n")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stderr.decode(), r"stdin:2: no tab.*\nstdin:4: a backslash.*\n"
                                                 r"2 rows loaded in .*; bad lines left out: 2\n")
        out = json.loads(self.ok("db", "load", "a.db", "--skip-bad", "--json", stdin="x\ny\t1\n"))
        self.assertEqual((out["rows"], out["bad"], out["next_line"]), (1, 1, 3))

    def test_new_refuses_keys_that_are_there(self):
        self.db("put", "a.db", "b", "old")
        self.fails(4, r"stdin:2: the key is there already", "db", "load", "a.db", "--new",
                   stdin="a\t1\nb\t2\nc\t3\n")
        self.assertEqual(self.db("scan", "a.db"), "a\t1\nb\told\n")
        self.db("load", "a.db", "--new", "--skip-bad", stdin="a\t5\nc\t3\nc\t4\nd\t4\n")
        self.assertEqual(self.db("scan", "a.db"), "a\t1\nb\told\nc\t3\nd\t4\n")
        self.db("load", "a.db", stdin="a\t5\n")
        self.assertEqual(self.db("get", "a.db", "a"), "5")

    def test_rows_too_large_are_bad_lines(self):
        long = "k" * 5000
        self.fails(1, r"stdin:2: a key of 5000 bytes is too long: with pages of 4096 bytes it has at most 2001: "
                      r"a new file can have larger pages with --page-size\nin so far: 1 row",
                   "db", "load", "a.db", stdin=f"a\t1\n{long}\t2\n")
        self.assertEqual(self.db("scan", "a.db"), "a\t1\n")
        self.db("load", "b.db", "--page-size", "32768", stdin=f"a\t1\n{long}\t2\n")
        self.assertEqual(self.db("scan", "b.db", "--count"), "2\n")

    def test_a_row_that_is_too_long_is_told_with_the_limit(self):
        for page, most in (("4096", 2001), ("8192", 4049)):
            name = page + ".db"
            self.db("put", name, "k" * most, "v", "--page-size", page)
            error = self.fails(1, f"a key of {most + 1} bytes is too long: with pages of {page} bytes "
                                  f"it has at most {most}\n", "db", "put", name, "k" * (most + 1), "v")
            self.assertNotIn("disk", error)
            self.fails(1, "a key of 70000 bytes is too long", "db", "put", name, "k" * 70000, "v")
            self.db("put", name, "k" * (most - 3), "v", "-t", "1", "--dupsort")
            error = self.fails(1, f"a key of 1 and a value of {most - 2} bytes are too long: .* at most {most - 2}\n",
                               "db", "put", name, "k", "v" * (most - 2), "-t", "1")
            self.assertNotIn("disk", error)

    def test_load_that_meets_a_full_disk_says_why_and_where_to_go_on(self):
        most = 17000000  # of a file: the log fits, the data file does not grow beyond
        rows = [b"%08d\t%s\n" % (i, b"x" * 100) for i in range(200000)]
        for more in ([], ["--batch", "1000000"], ["--skip-bad"]):
            result = self.run_("db", "load", "a.db", *more, stdin=b"".join(rows),
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
            error = result.stderr.decode()
            self.assertEqual(result.returncode, 1, error)
            found = re.fullmatch(r"sapling: a.db: there is no room for more rows: File too large\nmake room on the disk and try again; "
                                 r"in so far: ([\d,]+) rows; go on with --from-line (\d+)\n", error)
            self.assertTrue(found, error)
            count, line = int(found[1].replace(",", "")), int(found[2])
            self.assertEqual(count, line - 1)
            self.assertGreater(count, 10000)
            self.assertEqual(self.db("scan", "a.db", "--count"), f"{count}\n")
            self.db("load", "a.db", "--from-line", str(line), "--new", stdin=b"".join(rows))
            self.assertEqual(self.db("scan", "a.db", "--count"), "200000\n")
            for name in os.listdir(self.dir):
                if name.startswith("a.db"):
                    os.unlink(self.path(name))

    def test_csv_with_composite_keys(self):
        self.write("in.csv", "city;id;name\nRome;7;Ann\nOslo;8;Bob\n")
        self.db("load", "a.db", "in.csv", "--format", "csv", "--delimiter", ";", "--header", "--key", "city",
                "--key", "id", "--join", "/", "--value", "name")
        self.assertEqual(self.db("scan", "a.db"), "Oslo/8\tBob\nRome/7\tAnn\n")
        self.fails(1, r"in.csv:1: no column 'age'", "db", "load", "a.db", "in.csv", "--format", "csv",
                   "--delimiter", ";", "--header", "--key", "age")

    def test_dump_comes_back_with_all_tables(self):
        self.db("load", "a.db", stdin="a\t\\x00\nb\t\n")
        self.db("load", "a.db", "-t", "700", "--dupsort", stdin="k\t1\nk\t2\n")
        dump = self.db("dump", "a.db")
        self.assertEqual(dump, "sapling-dump 1\ntable 0 plain 2\n a\t\\x00\n b\t\ntable 700 dupsort 2\n"
                               " k\t1\n k\t2\nend\n")
        self.db("load", "b.db", "--format", "dump", stdin=dump)
        self.assertEqual(self.ok("db", "dump", "b.db", "--format", "stream"),
                         self.ok("db", "dump", "a.db", "--format", "stream"))
        self.fails(1, r"stdin:8: the dump is cut off", "db", "load", "c.db", "--format", "dump",
                   stdin=dump[:-4])
        self.fails(1, r"stdin:1: not a dump", "db", "load", "c.db", "--format", "dump", stdin="a\t1\n")

    def test_interrupted_load_keeps_rows_and_says_where_to_go_on(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            name = f"{number}.db"
            process = self.start("db", "load", name, "--batch", "100")
            process.stdin.write(b"".join(b"%08d\tx\n" % i for i in range(1000)))
            process.stdin.flush()
            self.await_("the socket", lambda: os.path.exists(self.path(name + ".sock")))
            self.await_("rows", lambda: self.db("scan", name, "--count") == "1000\n")
            process.send_signal(number)
            error = process.stderr.read().decode()
            self.assertEqual(process.wait(timeout=30), 130, error)
            line = int(re.search(r"interrupted\nin so far: 1,000 rows; go on with --from-line (\d+)", error).group(1))
            self.assertEqual(line, 1001)
            self.assertFalse(os.path.exists(self.path(name + ".sock")))
            self.db("load", name, "--from-line", str(line), "--new",
                    stdin="".join(f"{i:08}\tx\n" for i in range(1200)))
            self.assertEqual(self.db("scan", name, "--count"), "1200\n")

    def test_killed_load_leaves_whole_batches(self):
        process = self.start("db", "load", "a.db", "--batch", "100")
        process.stdin.write(b"".join(b"%08d\tx\n" % i for i in range(1050)))
        process.stdin.flush()
        self.await_("the socket", lambda: os.path.exists(self.path("a.db.sock")))
        self.await_("rows", lambda: self.db("scan", "a.db", "--count") == "1000\n")
        process.kill()
        process.wait()
        self.assertEqual(self.db("scan", "a.db", "--count"), "1000\n")
        self.db("verify", "a.db")

    def test_others_use_the_file_while_it_is_loaded(self):
        process = self.start("db", "load", "a.db", "--batch", "10")
        process.stdin.write(b"".join(b"%08d\tx\n" % i for i in range(100)))
        process.stdin.flush()
        self.await_("the socket", lambda: os.path.exists(self.path("a.db.sock")))
        self.await_("rows", lambda: self.db("scan", "a.db", "--count") == "100\n")
        self.assertIn("through a.db.sock", self.db("stat", "a.db"))
        self.assertTrue(json.loads(self.db("stat", "a.db", "--json"))["served"])
        self.db("put", "a.db", "k", "v")
        self.db("put", "a.db", "k", "v", "-t", "4")
        self.assertEqual(self.db("get", "a.db", "k"), "v")
        self.db("del", "a.db", "k")
        self.db("del", "a.db", "--prefix", "0000009", "--yes")
        self.db("verify", "a.db")
        self.db("backup", "a.db", "live.bak")
        self.db("compact", "a.db", "small.db")
        self.db("dump", "a.db", "live.dump")
        self.assertIn("table 0 plain 90\n", self.read("live.dump").decode())
        self.fails(4, "a.db is open in process", "db", "restore", "live.bak", "a.db", "--force", "--yes")
        process.stdin.close()
        self.assertEqual(process.wait(timeout=30), 0)
        want = self.ok("db", "dump", "a.db", "--format", "stream")
        for copy in ("live.bak", "small.db"):
            self.assertEqual(self.ok("db", "dump", copy, "--format", "stream"), want)

    def test_symbolic_links_are_the_file_they_name(self):
        os.mkdir(self.path("d"))
        self.fill("d/a.db", 1000)
        os.symlink("d/a.db", self.path("l.db"))
        os.symlink("d", self.path("e"))
        want = json.loads(self.db("stat", "d/a.db", "--json"))
        self.assertGreater(want["data_bytes"], 0)
        self.assertEqual(want["log_bytes"], 0)
        for name in ("l.db", "e/a.db"):
            found = json.loads(self.db("stat", name, "--json"))
            self.assertEqual((found["file"], found["data_bytes"], found["log_bytes"]),
                             (name, want["data_bytes"], want["log_bytes"]))
        for owner in ("l.db", "e/a.db", "d/a.db"):
            process = self.start("db", "load", owner)
            self.await_("the socket", lambda: os.path.exists(self.path("d/a.db.sock")))
            self.assertFalse(os.path.lexists(self.path("l.db.sock")))
            for name in ("d/a.db", "l.db", "e/a.db"):
                self.db("put", name, "k", owner)
                self.assertEqual(self.db("get", name, "k"), owner)
                self.assertRegex(self.db("stat", name), rf"file +{name}\nowner +another process, through .*a.db.sock\n")
                self.assertEqual(json.loads(self.db("stat", name, "--json"))["data_bytes"],
                                 os.path.getsize(self.path("d/a.db")))
            process.stdin.close()
            self.assertEqual(process.wait(timeout=30), 0)
            self.assertFalse(os.path.lexists(self.path("d/a.db.sock")))
        self.fails(4, "l.db", "db", "backup", "d/a.db", "l.db")

    def test_paused_reader_does_not_keep_a_load_that_ended(self):
        rows = b"".join(b"%08d\t%s\n" % (i, b"x" * 100) for i in range(100000))
        for end in ("input", "interruption"):
            process = self.start("db", "load", "a.db", "--batch", "10000")
            process.stdin.write(rows)
            process.stdin.flush()
            self.await_("the socket", lambda: os.path.exists(self.path("a.db.sock")))
            self.await_("rows", lambda: self.db("scan", "a.db", "--count") == "100000\n")
            paused = self.start("db", "scan", "a.db")
            taking = self.start("db", "scan", "a.db")
            self.await_("both", lambda: json.loads(self.db("stat", "a.db", "--json"))["readers"] == 2)
            began = time.monotonic()
            if end == "input":
                process.stdin.close()
            else:
                process.send_signal(signal.SIGINT)
            got = b""
            while piece := os.read(taking.stdout.fileno(), 400000):
                got += piece
                time.sleep(0.03)
            self.assertEqual(got, rows)
            self.assertGreater(time.monotonic() - began, 3.5)  # longer than the paused one is waited for
            self.assertEqual(process.wait(timeout=15), 0 if end == "input" else 130)
            self.db("put", "a.db", "k", "v")
            self.db("del", "a.db", "k")
            paused.stdout.read()
            self.assertEqual(paused.wait(timeout=15), 1)
            self.assertIn(b"sapling: ", paused.stderr.read())

    def test_file_that_cannot_be_served_is_loaded_and_that_is_said(self):
        name = "n" * 150
        result = self.run_("db", "load", name, stdin="a\t1\n")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stderr.decode(), r"\.sock: .*too long.*\n1 row loaded")
        self.assertEqual(self.run_("db", "load", "s.db", stdin="a\t1\n").stderr.count(b"\n"), 1)

    def test_progress_is_shown_at_a_terminal_after_a_second(self):
        process, master, _ = self.at_terminal("db", "load", "a.db", "--batch", "10", stdin_too=False)
        for i in range(16):
            process.stdin.write(b"".join(b"%04d%04d\tx\n" % (i, j) for j in range(10)))
            process.stdin.flush()
            time.sleep(0.1)
        process.stdin.close()
        status, text = self.shown(process, master)
        self.assertEqual(status, 0)
        self.assertRegex(text, r"\rload|load: \d+ rows, .*/s")
        self.assertRegex(text, r"160 rows loaded in")
        process, master, _ = self.at_terminal("db", "load", "a.db", "--quiet", stdin_too=False)
        process.stdin.close()
        self.assertEqual(self.shown(process, master), (0, ""))

    def progress_of(self, *args):
        """What a command shows whose second second comes in the middle of its work: it is stopped there
        for a while. When that is depends on the machine, so some moments are tried."""
        begin = time.monotonic()
        self.db(*args, "--quiet")
        whole = time.monotonic() - begin
        for part in (0.6, 0.7, 0.5, 0.8, 0.4, 0.9, 0.3, 0.2) * 4:
            for name in os.listdir(self.dir):
                if name.startswith("copy"):
                    os.unlink(self.path(name))
            process, master, _ = self.at_terminal("db", *args)
            time.sleep(whole * part)
            process.send_signal(signal.SIGSTOP)
            time.sleep(1.1)
            process.send_signal(signal.SIGCONT)
            status, text = self.shown(process, master)
            self.assertEqual(status, 0, text)
            if " left" in text:
                return text
        return self.fail(f"{args} never showed its progress")

    def test_progress_of_verify_and_compact_is_shown_with_rate_and_time_left(self):
        self.fill("a.db", 300000)
        for args, last in ((("verify", "a.db"), r"a\.db: no damage found in "),
                           (("compact", "a.db", "copy.db"), r"copy\.db: .*, from .*, in ")):
            text = self.progress_of(*args)
            self.assertRegex(text, rf"\r\x1b\[K{args[0]}: [\d,]+ rows, [\d,]+/s, \d+%, (\d+ min )?[\d.]+ s left")
            self.assertRegex(text, rf"\r\x1b\[K{last}", "the line is taken away")
            process, master, _ = self.at_terminal("db", *args, "--quiet", "--force"
                                                  if args[0] == "compact" else "--quiet")
            self.assertEqual(self.shown(process, master), (0, ""))


# ---- Files --------------------------------------------------------------------------------------

class Files(Case):
    def flip(self, name, offset):
        data = bytearray(self.read(name))
        data[offset] ^= 0x40
        self.write(name, bytes(data))

    def test_stat(self):
        self.fill("a.db", 1000)
        self.db("put", "a.db", "k", "v", "-t", "3", "--dupsort")
        stat = json.loads(self.db("stat", "a.db", "--json"))
        self.assertEqual(stat["tables"], [{"table": 0, "kind": "plain", "rows": 1000, "depth": 2},
                                          {"table": 3, "kind": "dupsort", "rows": 1, "depth": 1}])
        self.assertEqual(stat["data_bytes"], os.path.getsize(self.path("a.db")))
        self.assertEqual((stat["file"], stat["page_size"], stat["served"]), ("a.db", 4096, False))
        text = self.db("stat", "a.db")
        self.assertRegex(text, r"(?m)^page size  4096$")
        self.assertRegex(text, r"(?m)^    3  dupsort +1 +1$")

    def test_verify_names_each_finding(self):
        self.fill("a.db", 2000)
        self.assertEqual(self.run_("db", "verify", "a.db").stdout, b"")
        self.assertEqual(json.loads(self.db("verify", "a.db", "--json")),
                         {"file": "a.db", "ok": True, "findings": []})
        self.db("backup", "a.db", "b.db")
        self.flip("b.db", 20 * 4096 + 100)
        result = self.run_("db", "verify", "b.db")
        self.assertEqual(result.returncode, 6)
        self.assertRegex(result.stdout.decode(), r"page 20")
        self.assertRegex(result.stderr.decode(), r"findings?; see what can be saved: sapling db recover b.db")
        result = self.run_("db", "verify", "b.db", "--json")
        found = json.loads(result.stdout)
        self.assertEqual((result.returncode, found["ok"], len(found["findings"]) > 0), (6, False, True))
        self.fails(6, r"sapling db recover b.db", "db", "scan", "b.db")

    def test_recover_shows_losses_asks_and_saves_the_rest(self):
        self.fill("a.db", 2000)
        sound = self.ok("db", "dump", "a.db", "--format", "stream")
        self.assertRegex(self.db("recover", "a.db"), r"\Acan be saved: 2,000 rows of 1 table, .*\nlost: nothing\n\Z")
        self.db("recover", "a.db", "whole.db")
        self.assertEqual(self.ok("db", "dump", "whole.db", "--format", "stream"), sound)
        self.flip("a.db", 20 * 4096 + 100)
        before = self.read("a.db")
        look = self.run_("db", "recover", "a.db")
        self.assertEqual(look.returncode, 6)
        lost = int(re.search(r"(?m)^lost: (\d+) rows", look.stdout.decode()).group(1))
        self.assertGreater(lost, 0)
        self.assertIn("page 20", look.stdout.decode())
        self.fails(2, r"make b.db of what can be saved: not done without being sure", "db", "recover", "a.db", "b.db")
        process, master, _ = self.at_terminal("db", "recover", "a.db", "b.db", answer=b"n\n")
        self.assertEqual(self.shown(process, master)[0], 1)
        self.assertEqual(self.files(), ["a.db", "whole.db"])
        process, master, _ = self.at_terminal("db", "recover", "a.db", "b.db", answer=b"y\n")
        self.assertEqual(self.shown(process, master)[0], 0)
        self.assertEqual(self.db("scan", "b.db", "--count"), f"{2000 - lost}\n")
        self.db("verify", "b.db")
        out = json.loads(self.db("recover", "a.db", "c.db", "--yes", "--json"))
        self.assertEqual((out["rows"], out["rows_lost"], len(out["losses"]) > 0), (2000 - lost, lost, True))
        self.assertEqual((out["file"], out["target"], out["pages_damaged"]), ("a.db", "c.db", 1))
        self.fails(4, "c.db exists", "db", "recover", "a.db", "c.db", "--yes")
        self.fails(3, "there is no file none", "db", "recover", "none", "d.db", "--yes")
        self.assertEqual(self.read("a.db"), before)

    def test_recover_of_what_is_no_file_is_an_error_and_no_loss(self):
        os.mkfifo(self.path("pipe"))
        for status, name, pattern in ((3, "none", "there is no file none\n"), (1, "pipe", "pipe: is something else, not a file\n"),
                                      (1, "bin", "bin: is a directory, not a file\n"),
                                      (6, "text", "text: nothing of it looks like")):
            self.write("text", "no database" * 1000)
            for more in ([], ["t.db", "--yes"]):
                self.fails(status, pattern, "db", "recover", name, *more)
                self.assertEqual(self.run_("db", "recover", name, *more).stdout, b"")
        self.assertEqual(self.files(), ["pipe", "text"])

    def test_files_of_other_programs_are_told_so(self):
        class Comparator(ctypes.Structure):
            _fields_ = [("name", ctypes.c_char_p), ("cmp", ctypes.c_void_p), ("ctx", ctypes.c_void_p)]

        class Options(ctypes.Structure):
            _fields_ = [("size", ctypes.c_uint32), ("flags", ctypes.c_uint), ("page_size", ctypes.c_uint32), ("max_size", ctypes.c_uint64),
                        ("sync_mode", ctypes.c_int), ("sync_period_ms", ctypes.c_uint32),
                        ("checkpoint_bytes", ctypes.c_uint64), ("checkpoint_period_ms", ctypes.c_uint32),
                        ("comparators", ctypes.POINTER(Comparator)), ("comparator_count", ctypes.c_uint32),
                        ("rest", ctypes.c_uint64 * 32)]

        self.db("put", "a.db", "k", "v")
        library = ctypes.CDLL(os.path.join(ROOT, "build/libsapling.so"))
        compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_uint32,
                                   ctypes.c_void_p)(lambda *_: 0)
        order = Comparator(b"by-size", ctypes.cast(compare, ctypes.c_void_p), None)
        options = Options(size=ctypes.sizeof(Options), comparators=ctypes.pointer(order), comparator_count=1)
        db = ctypes.c_void_p()
        self.assertEqual(library.sap_db_open_path(self.path("a.db").encode(), ctypes.byref(options), ctypes.byref(db)), 0)
        self.assertEqual(library.sap_dbi_open_named(db, 3, b"by-size", 0), 0)
        self.assertEqual(library.sap_db_close(db), 0)
        for args in (["get", "a.db", "k"], ["put", "a.db", "k", "w"], ["stat", "a.db"]):
            self.fails(1, r"table 3 is ordered by the comparator \"by-size\".*: it needs the program that made it\n",
                       "db", *args)
        look = self.run_("db", "recover", "a.db")
        self.assertEqual(look.returncode, 6)
        self.assertRegex(look.stdout.decode(), r"(?m)^can be saved: 1 row of 1 table.*\n"
                                               r"lost: 0 rows, the rows of 1 table, 0 commits;")

    def make_store(self, name):
        """A store with the row k=v in table 16; opens an existing one again."""
        class Options(ctypes.Structure):
            _fields_ = [("size", ctypes.c_uint32), ("table_count", ctypes.c_uint32),
                        ("tables", ctypes.POINTER(ctypes.c_uint32)), ("rest", ctypes.c_uint64 * 32)]

        library = ctypes.CDLL(os.path.join(ROOT, "build/libsapling-runtime.so"))
        table = ctypes.c_uint32(16)
        options = Options(size=ctypes.sizeof(Options), table_count=1, tables=ctypes.pointer(table))
        store, txn = ctypes.c_void_p(), ctypes.c_void_p()
        library.sap_open_error.restype = ctypes.c_char_p
        rc = library.sap_store_open(b"sapling:" + self.path(name).encode(), ctypes.byref(options), ctypes.byref(store))
        self.assertEqual(rc, 0, library.sap_open_error())
        self.assertEqual(library.sap_store_begin(store, 2, ctypes.byref(txn)), 0)
        self.assertEqual(library.sap_store_put(txn, table, b"k", 1, b"v", 1), 0)
        self.assertEqual(library.sap_store_commit(txn, None), 0)
        self.assertEqual(library.sap_store_close(store), 0)

    def changes_of_a_store_are_refused(self):
        refused = r"it is the file of a store"
        for args in (["put", "s.db", "k", "w"], ["put", "s.db", "k", "w", "--force"], ["put", "s.db", "k", "w", "-t", "16"],
                     ["put", "s.db", "k", "w", "-t", "16", "--new"], ["put", "s.db", "k", "w", "-t", "17", "--force"],
                     ["put", "s.db", "00", "00", "-t", "8", "--hex", "--force"],
                     ["del", "s.db", "k", "-t", "16"], ["del", "s.db", "--prefix", "", "-t", "16", "--yes", "--force"]):
            self.fails(4, refused, "db", *args)
        for args in ([], ["--force"], ["-t", "16"], ["-t", "16", "--skip-bad"]):
            self.fails(4, refused, "db", "load", "s.db", *args, stdin="a\t1\n")
        self.fails(4, refused, "queue", "push", "s.db", "hello")
        self.fails(3, r"no queue", "queue", "pop", "s.db")
        self.assertEqual(self.db("get", "s.db", "k", "-t", "16"), "v")
        self.assertEqual(self.db("scan", "s.db", "-t", "16"), "k\tv\n")
        self.db("stat", "s.db")
        self.db("verify", "s.db")

    def test_a_store_is_read_and_not_changed(self):
        self.make_store("s.db")
        self.changes_of_a_store_are_refused()
        dump = self.db("dump", "s.db")
        self.make_store("s.db")
        # Rows of a store make no store: a load that ended early would be an empty one.
        self.fails(4, r"would make the file a store's: .*restore", "db", "load", "new.db", "--format", "dump", stdin=dump)
        self.write("s.stream", self.ok("db", "dump", "s.db", "--format", "stream"))
        self.db("restore", "s.stream", "copy.db")
        self.make_store("copy.db")

    def test_a_store_that_another_process_serves_is_read_and_not_changed(self):
        self.make_store("s.db")
        process = self.start("db", "load", "s.db", "-t", "16")  # which would write, once it has rows
        self.await_("the socket", lambda: os.path.exists(self.path("s.db.sock")))
        self.assertIn("through s.db.sock", self.db("stat", "s.db"))
        self.changes_of_a_store_are_refused()
        process.stdin.write(b"k\tw\n")
        process.stdin.close()
        self.assertEqual(process.wait(timeout=30), 4, process.stderr.read())
        self.make_store("s.db")

    def test_a_million_rows_loaded_looked_at_backed_up_damaged_and_recovered(self):
        rows = 1000000
        os.mkfifo(self.path("orders.csv"))  # so that the load is not over before the backup
        load = self.start("db", "load", "orders.db", "orders.csv", "--header", "--key", "id", "--batch", "2000")
        with open(self.path("orders.csv"), "w", encoding="ascii") as file:
            file.write("id,customer,city,amount\n")
            lines = (f'{i},name {i},"city, {i % 1000}",{i * 7 % 10007}\n' for i in range(rows))
            file.writelines(itertools.islice(lines, rows // 2))
            file.flush()
            self.await_("rows", lambda: int(self.db("scan", "orders.db", "--count")) > rows // 3)
            self.assertEqual(self.db("get", "orders.db", "7"), 'name 7,"city, 7",49')
            self.db("backup", "orders.db", "orders.backup")
            self.assertIsNone(load.poll(), "the load was over before the backup")
            file.writelines(lines)
        self.assertEqual(load.wait(timeout=SECONDS), 0, load.stderr.read())
        self.assertEqual(self.db("scan", "orders.db", "--count"), f"{rows}\n")
        saved = int(self.db("scan", "orders.backup", "--count"))
        self.assertTrue(0 < saved < rows and saved % 2000 == 0, saved)
        self.db("verify", "orders.backup")
        shutil.copy(self.path("orders.backup"), self.path("copy.db"))
        self.flip("copy.db", os.path.getsize(self.path("copy.db")) // 4096 // 2 * 4096 + 200)
        self.fails(6, "1 finding|findings", "db", "verify", "copy.db")
        look = self.run_("db", "recover", "copy.db").stdout.decode()
        lost = int(re.search(r"(?m)^lost: (\d+) rows", look).group(1))
        self.assertTrue(0 < lost < 200, look)
        self.db("recover", "copy.db", "recovered.db", "--yes")
        self.assertEqual(self.db("scan", "recovered.db", "--count"), f"{saved - lost}\n")
        self.db("verify", "recovered.db")

    def test_names_that_are_not_utf8_are_told(self):
        name = b"caf\xe9.db"
        self.ok("db", "put", name, "k", "v")
        self.assertEqual(json.loads(self.ok("db", "stat", name, "--json"))["file"], "caf\\xe9.db")
        self.assertEqual(json.loads(self.ok("db", "verify", name, "--json"))["file"], "caf\\xe9.db")
        error = json.loads(self.run_("db", "get", name + b"x", "k", "--json").stderr)["error"]
        self.assertIn("caf\\xe9.dbx", error["message"])

    def test_what_is_no_database(self):
        self.write("text", "hello\n" * 10000)
        os.mkdir(self.path("directory"))
        for verb in ("stat", "scan", "verify", "dump"):
            self.fails(6, "text: not a Sapling database", "db", verb, "text")
            self.fails(1, "directory is a directory", "db", verb, "directory")
        self.fails(6, "not a Sapling database", "db", "put", "text", "k", "v")
        self.assertEqual(self.read("text"), b"hello\n" * 10000)
        self.fails(6, "text is no backup", "db", "restore", "text", "x.db")
        self.fails(1, "it is a directory", "db", "load", "x.db", "directory")
        self.assertEqual(self.files(), ["directory", "text"])

    def test_backup_and_restore(self):
        self.fill("a.db", 3000)
        want = self.ok("db", "dump", "a.db", "--format", "stream")
        result = self.run_("db", "backup", "a.db", "a.bak")
        self.assertRegex(result.stderr.decode(), r"\Aa.bak: [\d.]+ KiB in [\d.]+ s\n\Z")
        out = json.loads(self.db("backup", "a.db", "b.bak", "--json"))
        self.assertEqual((out["target"], out["bytes"]), ("b.bak", os.path.getsize(self.path("b.bak"))))
        image = self.ok("db", "backup", "a.db", "-")
        self.fails(4, r"a.bak exists\nchoose another name, or replace it with --force", "db", "backup", "a.db", "a.bak")
        self.db("backup", "a.db", "a.bak", "--force")
        self.db("restore", "a.bak", "b.db")
        self.db("restore", "-", "c.db", stdin=image)
        self.db("restore", "-", "d.db", stdin=want)
        out = json.loads(self.db("restore", "-", "e.db", "--json", stdin=want))
        self.assertEqual((out["file"], out["bytes"]), ("e.db", os.path.getsize(self.path("e.db"))))
        for name in ("b.db", "c.db", "d.db", "e.db"):
            self.assertEqual(self.ok("db", "dump", name, "--format", "stream"), want)
            self.db("put", name, "k", "v")
            self.db("verify", name)
        self.assertEqual(self.files(), ["a.bak", "a.db", "b.bak", "b.db", "c.db", "d.db", "e.db"])

    def test_restore_replaces_only_when_told_so(self):
        self.fill("a.db", 100)
        self.db("backup", "a.db", "a.bak")
        self.db("put", "b.db", "k", "precious")
        self.fails(4, "b.db exists", "db", "restore", "a.bak", "b.db")
        self.fails(2, r"replace the database b.db by a.bak: not done without being sure\nsay so with --yes",
                   "db", "restore", "a.bak", "b.db", "--force")
        process, master, _ = self.at_terminal("db", "restore", "a.bak", "b.db", "--force", answer=b"\n")
        self.assertEqual(self.shown(process, master)[0], 1)
        self.assertEqual(self.db("get", "b.db", "k"), "precious")
        self.db("restore", "a.bak", "b.db", "--force", "--yes")
        self.assertEqual(self.db("scan", "b.db", "--count"), "100\n")
        # What a crash leaves: a segment with a group in it.
        self.write("b.db-wal.0000000000000001", b"SAPLWGP1" + bytes(16376))
        os.unlink(self.path("b.db"))
        for args in (["put", "b.db", "k", "v"], ["get", "b.db", "k"], ["stat", "b.db"]):
            error = self.fails(6, r"b.db is missing, but its log is there: b.db-wal.0+1\nput its data file back, or a backup in place of "
                                  "both: sapling db restore BACKUP b.db --force; or remove the log\n", "db", *args)
            self.assertNotIn("recover", error)
        self.fails(4, "b.db is missing, but its log is there", "db", "restore", "a.bak", "b.db")
        self.db("restore", "a.bak", "b.db", "--force", "--yes")
        self.assertEqual(self.db("scan", "b.db", "--count"), "100\n")

    def test_restore_names_who_has_the_file(self):
        self.fill("a.db", 50000, width=100)
        self.db("backup", "a.db", "i.db")
        reader = self.start("db", "scan", "i.db")
        self.assertTrue(reader.stdout.read(1))
        self.fails(4, f"i.db is open in process {reader.pid}\n", "db", "restore", "a.db", "i.db", "--force", "--yes")

    def test_damaged_backups_leave_nothing_and_replace_nothing(self):
        self.fill("a.db", 2000)
        image = self.ok("db", "backup", "a.db", "-")
        stream = self.ok("db", "dump", "a.db", "--format", "stream")
        self.db("put", "old.db", "k", "v")
        rng = random.Random(3)
        for whole, name in ((image, "image"), (stream, "stream")):
            for i in range(8):
                bad = bytearray(whole)
                if i % 2:
                    bad = bad[:rng.randrange(100, len(bad))]
                else:
                    # Behind both copies of the meta, of which one is enough.
                    bad[rng.randrange(20480, len(bad))] ^= 1 << rng.randrange(8)
                self.fails(6, r"standard input is (damaged|cut off).*\nuse another backup",
                           "db", "restore", "-", "new.db", stdin=bytes(bad))
                self.fails(6, r"standard input is (damaged|cut off)",
                           "db", "restore", "-", "old.db", "--force", "--yes", stdin=bytes(bad))
                self.assertEqual(self.files(), ["a.db", "old.db"], name)
        self.assertEqual(self.db("get", "old.db", "k"), "v")

    def test_targets_are_not_databases_in_use_or_devices(self):
        self.fill("a.db", 10)
        self.db("put", "b.db", "k", "v")
        self.write("b.db-wal.0000000000000001", "")
        for verb in ("backup", "compact"):
            self.fails(4, r"b.db is a database with a log of its own", "db", verb, "a.db", "b.db", "--force")
            self.fails(4, r"/dev/null is not a regular file", "db", verb, "a.db", "/dev/null", "--force")
            self.fails(4, r"bin is a directory", "db", verb, "a.db", "bin", "--force")
            self.fails(1, r"cannot write no/such: No such file", "db", verb, "a.db", "no/such")
        self.assertEqual(self.db("get", "b.db", "k"), "v")

    def test_a_file_is_never_written_over_itself(self):
        self.fill("a.db", 100)
        self.db("backup", "a.db", "i.db")  # no log: nothing but the name tells that it is the source
        want = self.ok("db", "dump", "a.db", "--format", "stream")
        os.mkdir(self.path("d"))
        for log in [name for name in os.listdir(self.dir) if name.startswith("a.db-wal.")]:
            before = self.read(log)
            for verb in ("dump", "backup", "compact"):
                self.fails(4, "is the name of a database's log", "db", verb, "a.db", log, "--force")
            self.assertEqual(self.read(log), before)
        for name in ("a.db", "i.db"):
            os.link(self.path(name), self.path("d", "hard-" + name))
            os.symlink("../" + name, self.path("d", "soft-" + name))
            before = self.read(name)
            for other in (name, f"./d/../{name}", f"d/hard-{name}", f"d/soft-{name}"):
                for verb in ("dump", "backup", "compact"):
                    self.fails(4, "is the file that is read\nchoose another name", "db", verb, name, other, "--force")
                self.fails(4, "is the file that is read", "db", "restore", name, other, "--force", "--yes")
                self.fails(4, "exists", "db", "recover", name, other, "--yes")
                self.assertEqual(self.read(name), before)
            with open(self.path(name), "rb") as file:
                result = subprocess.run([COMMAND, "db", "restore", "-", name, "--force", "--yes"], cwd=self.dir,
                                        stdin=file, capture_output=True, timeout=SECONDS, check=False)
            self.assertEqual(result.returncode, 4, result.stderr)
            self.assertEqual(self.ok("db", "dump", name, "--format", "stream"), want)

    def test_dump_does_not_replace_a_database(self):
        self.fill("a.db", 10)
        self.db("put", "b.db", "k", "v")
        self.db("backup", "b.db", "i.db")
        self.write("old.dump", "old")
        for form in ("dump", "stream", "csv"):
            self.fails(4, "b.db is a database\nchoose another", "db", "dump", "a.db", "b.db", "--force", "--format", form)
            self.fails(4, "i.db is a database\nchoose another", "db", "dump", "a.db", "i.db", "--force", "--format", form)
            self.db("dump", "a.db", "old.dump", "--force", "--format", form)
        self.assertEqual(self.db("get", "b.db", "k") + self.db("get", "i.db", "k"), "vv")
        self.assertEqual(self.files(), ["a.db", "b.db", "i.db", "old.dump"])

    def test_names_beside_a_database_are_told_apart(self):
        self.write("foo-wal.txt", "mine")
        self.write("foo-wal.000000000000001", "mine")  # a digit less than a log has
        self.db("put", "foo", "k", "v")
        self.db("backup", "foo", "foo.bak")
        self.ok("db", "restore", "foo.bak", "foo", "--force", "--yes")
        self.assertEqual(self.read("foo-wal.txt") + self.read("foo-wal.000000000000001"), b"minemine")
        self.db("dump", "foo", "foo-wal.txt", "--force")
        os.symlink("nothere", self.path("dangling"))
        for words in (("put", "dangling", "k", "v"), ("get", "dangling", "k")):
            self.fails(3, "symbolic link to a file that is not there\nmake that file", "db", *words)
        self.assertTrue(os.path.islink(self.path("dangling")))

    def test_what_a_killed_copy_left_goes_with_the_next(self):
        self.fill("a.db", 10)
        self.db("backup", "a.db", "a.bak")
        dead = subprocess.Popen(["true"])
        dead.wait()
        other = subprocess.Popen(["true"])
        other.wait()
        keep = ["t.tmp-", f"t.tmp-{os.getpid()}", f"t.tmp-{dead.pid}x", f"tt.tmp-{dead.pid}", f"t-tmp-{dead.pid}",
                "t.tmp-20240101"]
        for name in keep:
            self.write(name, "")
            os.utime(self.path(name), (1000, 1000))
        keep.append(f"t.tmp-{other.pid}")  # written to just now, by a process of another container perhaps
        self.write(keep[-1], "")
        for args in (("backup", "a.db", "t"), ("compact", "a.db", "t"), ("dump", "a.db", "t"), ("restore", "a.bak", "t")):
            for tail in ("", "-lock", "-work", "-work-wal.0000000000000001"):
                self.write(f"t.tmp-{dead.pid}{tail}", "")
                os.utime(self.path(f"t.tmp-{dead.pid}{tail}"), (1000, 1000))
            self.db(*args)
            self.assertEqual(sorted(n for n in os.listdir(self.dir) if "tmp-" in n), sorted(keep), args)
            for name in os.listdir(self.dir):
                if name == "t" or name.startswith("t-lock") or name.startswith("t-wal"):
                    os.unlink(self.path(name))

    def test_compact_is_smaller_and_the_same(self):
        self.fill("a.db", 20000)
        self.db("del", "a.db", "--range", "row/00001000", "row/00019000", "--yes")
        out = json.loads(self.db("compact", "a.db", "b.db", "--json"))
        self.assertEqual(out["bytes"], os.path.getsize(self.path("b.db")))
        self.assertLess(out["bytes"], os.path.getsize(self.path("a.db")) / 4)
        self.assertEqual(self.ok("db", "dump", "b.db", "--format", "stream"),
                         self.ok("db", "dump", "a.db", "--format", "stream"))
        self.fails(4, "b.db exists", "db", "compact", "a.db", "b.db")
        self.db("compact", "a.db", "b.db", "--force")
        self.assertEqual(self.files(), ["a.db", "b.db"])
        self.assertFalse([n for n in os.listdir(self.dir) if ".tmp-" in n])

    def test_interrupted_copies_leave_no_target(self):
        self.fill("a.db", 150000, width=300)
        self.write("a.stream", self.ok("db", "dump", "a.db", "--format", "stream"))
        self.db("backup", "a.db", "a.bak")
        before = sorted(n for n in os.listdir(self.dir) if not n.startswith("a.db-"))
        for args in (("backup", "a.db", "t"), ("compact", "a.db", "t"), ("dump", "a.db", "t"),
                     ("restore", "a.bak", "t"), ("restore", "a.stream", "t"), ("recover", "a.db", "t")):
            interrupted = 0
            for _ in range(20):
                process = self.start("db", *args)
                self.await_("the temporary file", lambda: process.poll() is not None or any(
                    ".tmp-" in n or "-recovering" in n for n in os.listdir(self.dir)))
                process.send_signal(signal.SIGINT)
                error = process.stderr.read().decode()
                status = process.wait(timeout=60)
                self.assertIn(status, (0, 130), (args, error))
                if status == 130:
                    interrupted += 1
                    self.assertIn("interrupted", error)
                    # A lock holds nothing.
                    left = sorted(n for n in os.listdir(self.dir)
                                  if not n.startswith("a.db-") and n != "t-lock")
                    self.assertEqual(left, before, args)
                    break
                for name in os.listdir(self.dir):
                    if name not in before and not name.startswith("a.db-"):
                        os.unlink(self.path(name))
            self.assertEqual(interrupted, 1, f"{args} was never interrupted")

    def test_full_disk_is_told_and_leaves_nothing(self):
        self.fill("a.db", 20000)
        self.db("dump", "a.db", "a.dump")
        before = self.files()
        small = 40 << 10

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (small, small))

        self.fails(1, "n.db.*: File too large", "db", "put", "n.db", "k", "v", preexec_fn=limit)
        self.assertEqual(self.files(), before)
        for args in (("backup", "a.db", "t"), ("dump", "a.db", "t"), ("compact", "a.db", "t")):
            error = self.fails(1, r"(?s)\bt\b|a\.db", "db", *args, preexec_fn=limit)
            self.assertRegex(error, "File too large|no room|make room")
            self.assertNotIn("tmp-", error)
            self.assertEqual(self.files(), before, args)

    def test_full_file_system(self):
        disk = self.path("disk")
        os.mkdir(disk)
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mount(b"tmpfs", disk.encode(), b"tmpfs", 0, b"size=2m") != 0:
            self.skipTest("no mounts here")
        self.addCleanup(libc.umount2, disk.encode(), 2)
        self.fill("a.db", 50000)
        for args in (("backup", "a.db", "disk/t"), ("dump", "a.db", "disk/t"), ("compact", "a.db", "disk/t")):
            error = self.fails(1, "disk/t", "db", *args)
            self.assertIn("make room", error)
            self.assertEqual(os.listdir(disk), [], args)
        self.write("a.bak", self.ok("db", "backup", "a.db", "-"))
        self.fails(1, "disk/t", "db", "restore", "a.bak", "disk/t")
        self.assertEqual(os.listdir(disk), [])
        with open(os.path.join(disk, "rest"), "wb", buffering=0) as rest:
            with self.assertRaises(OSError):
                while True:
                    rest.write(bytes(4096))
        error = self.fails(1, "disk/l.db", "db", "load", "disk/l.db", stdin="a\t1\n")
        self.assertIn("make room", error)

    def test_permission_is_told(self):
        if os.getuid() != 0:
            self.skipTest("needs root to become another user")
        binary = self.path("sapling-copy")
        shutil.copy(COMMAND, binary)
        os.chmod(binary, 0o755)
        self.db("put", "a.db", "k", "v")
        os.chmod(self.path("a.db"), 0o600)

        def drop():
            os.setgid(65534)
            os.setuid(65534)

        for args in (["get", "a.db", "k"], ["put", "a.db", "k", "v"], ["put", "new.db", "k", "v"]):
            result = subprocess.run([binary, "db", *args], cwd=self.dir, env=self.env, check=False,
                                    capture_output=True, text=True, preexec_fn=drop)
            self.assertEqual(result.returncode, 1, (args, result))
            self.assertRegex(result.stderr, r"sapling: .*\.db.*Permission denied")

    def test_a_missing_directory_is_told(self):
        self.db("put", "a.db", "k", "v")
        for verb, *args in (("put", "k", "v"), ("get", "k"), ("del", "k"), ("scan",), ("stat",), ("load", "/dev/null"), ("dump",),
                            ("verify",), ("backup", "b.db"), ("compact", "b.db"), ("migrate",), ("recover",)):
            self.fails(3, r"sapling: there is no directory none/sub\nmake it first\n\Z", "db", verb, "none/sub/a.db", *args)
        for verb in ("backup", "compact", "dump", "restore"):
            self.fails(1, "cannot write none/b: No such file or directory\nmake its directory first", "db", verb, "a.db", "none/b")
        self.assertEqual(self.files(), ["a.db"])

    def test_file_of_an_owner_that_does_not_serve_is_busy(self):
        self.db("put", "a.db", "k", "v")
        import fcntl
        with open(self.path("a.db-lock"), "w+b") as lock:
            # Open-file-description locks conflict with those of the engine.
            flock = bytes(ctypes.c_short(fcntl.F_WRLCK)) + bytes(ctypes.c_short(os.SEEK_SET)) + bytes(28)
            fcntl.fcntl(lock, getattr(fcntl, "F_OFD_SETLK", 37), flock)
            error = self.fails(4, "a.db", "db", "get", "a.db", "k")
            self.assertIn("try again", error)


# ---- JSON ---------------------------------------------------------------------------------------

class Json(Case):
    def test_results_are_one_object_and_lists_one_a_line(self):
        self.assertEqual(json.loads(self.db("put", "a.db", "k", "v", "--json")), {"rows": 1})
        self.assertEqual(json.loads(self.db("get", "a.db", "k", "--json")), {"key": "k", "value": "v"})
        self.db("put", "a.db", r"\xff", r"\x00a", "--json")
        self.assertEqual([json.loads(l) for l in self.db("scan", "a.db", "--json").splitlines()],
                         [{"key": "k", "value": "v"}, {"key_hex": "ff", "value": "\0a"}])
        self.assertEqual(json.loads(self.db("scan", "a.db", "--json", "--count")), {"rows": 2})
        self.assertEqual(json.loads(self.db("del", "a.db", "k", "--json")), {"rows": 1})
        self.assertEqual(json.loads(self.db("del", "a.db", "--prefix", "", "--json", "--dry-run")), {"rows": 1})
        self.assertEqual(json.loads(self.db("del", "a.db", "--prefix", "", "--json", "--yes")), {"rows": 1})
        out = json.loads(self.db("dump", "a.db", "d", "--json"))
        self.assertEqual(out, {"target": "d", "bytes": os.path.getsize(self.path("d"))})

    def test_errors_are_objects_on_standard_error(self):
        self.db("put", "a.db", "k", "v")
        self.write("text", "x" * 20000)
        for status, code, *args in ((1, "failed", "db", "get", ".", "k"),
                                    (2, "usage", "db", "get", "a.db"),
                                    (2, "usage", "nothing"),
                                    (3, "not_found", "db", "get", "none.db", "k"),
                                    (3, "not_found", "db", "get", "a.db", "x"),
                                    (4, "conflict", "db", "put", "a.db", "k", "v", "--new"),
                                    (6, "corrupt", "db", "stat", "text")):
            result = self.run_(*args, "--json")
            self.assertEqual((result.returncode, result.stdout), (status, b""), args)
            error = json.loads(result.stderr)["error"]
            self.assertEqual((error["exit"], error["code"]), (status, code))
            self.assertTrue(error["message"])
        process = self.start("db", "load", "b.db", "--json")
        self.await_("the socket", lambda: os.path.exists(self.path("b.db.sock")))
        process.send_signal(signal.SIGINT)
        error = json.loads(process.stderr.read())["error"]
        self.assertEqual((process.wait(), error["code"], error["exit"]), (130, "interrupted", 130))


# ---- Schemas ------------------------------------------------------------------------------------

def message(id_, payload, trace=None, to=7):
    """A message frame, field by field as row-layouts.md has them."""
    body = id_ + (trace or b"") + payload
    return struct.pack("<4sHHIBBHqqqqIII", b"LMSG", 0, 0, 60 + len(body), 0, 1 | (0x20 if trace else 0),
                       0, to, 1, 1000, -2, len(id_), len(trace) if trace else 0xFFFFFFFF,
                       len(payload)) + body


OWN_SCHEMA = """/// @dbi-base(2)
package shop:orders@1.0.0;
interface rows {
    enum state { open, paid }
    record dbi2-orders-key { customer: string, number: u32 }
    record dbi2-orders-value {
        state: state,
        /// @refine(value >= 1)
        items: u16,
        note: option<string>,
    }
    record dbi3-price-list-key { day: s32 }
    record dbi3-price-list-value { prices: list<tuple<string, f64>> }
}
"""

SEEN_KEY = b"seen:" + struct.pack(">Q", 7) + b"m-1"


class Schemas(Case):
    def put(self, table, key, val, name="a.db"):
        self.db("put", name, "--table", str(table), "--force", "--hex", key.hex(), val.hex())

    def rows(self, *args, name="a.db"):
        return [json.loads(line) for line in self.db("scan", name, *args).splitlines()]

    def runtime(self):
        """One row of each kind that the runtime's tables have."""
        self.put(0, b"mine", b"\xff\x00")
        self.put(0, b"runner.schema.version", b"RSV0" + struct.pack("<HH", 0, 1))
        self.put(0, b"runner.seq.inbox", struct.pack(">Q", 5))
        self.put(1, struct.pack(">QQ", 7, 1 << 63 | 5), message(b"m-1", b"hi", b"t-1"))
        self.put(2, struct.pack(">Q", 3), message(b"m-2", b"\xff"))
        self.put(3, struct.pack(">QQ", 7, 5), b"LSE0" + struct.pack("<QqIQ", 9, -1, 2, 77))
        self.put(4, struct.pack(">QQ", (1000 + (1 << 63)) % (1 << 64), 6), message(b"m-3", b""))
        self.put(5, b"retry:\x01" + struct.pack(">QQ", 7, 5), struct.pack("<I", 4))
        self.put(5, SEEN_KEY, struct.pack("<?qQ", True, 12, 13))
        self.put(6, struct.pack(">QQ", 7, 4),
                 b"DLQ0" + struct.pack("<iII", -3, 4, len(message(b"m-4", b"x"))) + message(b"m-4", b"x"))
        self.put(7, b"\x00" + SEEN_KEY, struct.pack(">Q", 5000))
        self.put(7, b"\x01" + struct.pack(">Q", 5000) + SEEN_KEY, b"")

    def test_rows_of_the_runtime_are_shown_with_what_is_in_them(self):
        self.runtime()
        rows = self.rows("--schema")
        self.assertEqual([r["table"] for r in rows],
                         ["app_state"] * 3 + ["inbox", "outbox", "leases", "timers"] + ["dedupe"] * 2 +
                         ["dead_letter"] + ["dedupe_ttl"] * 2)
        self.assertEqual([(r["key"], r["value"]) for r in rows[:3]],
                         [({"key": "mine"}, {"value_hex": "ff00"}),
                          ({"key": "runner.schema.version"}, {"schema-marker": {"major": 0, "minor": 1}}),
                          ({"key": "runner.seq.inbox"}, {"high-water-mark": {"last": 5}})])
        self.assertEqual(rows[3]["key"], {"worker": 7, "seq": str(1 << 63 | 5)})
        frame = rows[3]["value"]["frame"]
        self.assertEqual((frame["kind"], frame["flags"], frame["to-worker"], frame["from-worker"]),
                         ("command", ["durable", "has-trace"], 7, -2))
        self.assertEqual((frame["message-id"], frame["trace-id"], frame["payload"]), ("m-1", "t-1", "hi"))
        self.assertNotIn("body", frame)
        self.assertEqual(rows[4]["key"], {"seq": 3})
        self.assertEqual(rows[4]["value"]["frame"]["payload_hex"], "ff")
        self.assertNotIn("trace-id", rows[4]["value"]["frame"])
        self.assertEqual(rows[5]["value"], {"owner": 9, "deadline": -1, "attempts": 2, "token": 77})
        self.assertEqual(rows[6]["key"], {"due": 1000, "seq": 6})
        self.assertEqual((rows[7]["key"], rows[7]["value"]),
                         ({"retry-key": {"inbox": {"worker": 7, "seq": 5}}}, {"retry-value": {"count": 4}}))
        self.assertEqual((rows[8]["key"], rows[8]["value"]),
                         ({"seen-key": {"worker": 7, "id": "m-1"}},
                          {"seen-value": {"accepted": True, "last-seen": 12, "checksum": 13}}))
        self.assertEqual((rows[9]["value"]["rc"], rows[9]["value"]["attempts"],
                          rows[9]["value"]["frame"]["message-id"]), (-3, 4, "m-4"))
        self.assertEqual([(r["key"], r["value"]) for r in rows[10:]],
                         [({"of": {"seen-key": {"worker": 7, "id": "m-1"}}}, {"expires": 5000}),
                          ({"expires": 5000, "of": {"seen-key": {"worker": 7, "id": "m-1"}}}, {})])

    def test_the_count_of_a_message_that_waits_is_shown_with_its_timer(self):
        self.runtime()
        self.put(5, b"retry:\x04" + struct.pack(">QQ", (1000 + (1 << 63)) % (1 << 64), 6), struct.pack("<I", 2))
        row = self.rows("dedupe", "--schema", "--prefix", "retry:")[1]
        self.assertEqual((row["key"], row["value"]),
                         ({"retry-key": {"timers": {"due": 1000, "seq": 6}}}, {"retry-value": {"count": 2}}))

    def test_a_row_that_does_not_decode_is_shown_and_counted(self):
        self.runtime()
        broken = {0: (b"runner.seq.inbox", b"x"), 1: (b"short", message(b"m", b"")),
                  2: (struct.pack(">Q", 9), b"LMSG"), 3: (struct.pack(">QQ", 7, 6), b"LSE0"),
                  4: (struct.pack(">QQ", 1, 2), message(b"m", b"")[:-1]), 5: (SEEN_KEY[:-3], b""),
                  6: (struct.pack(">QQ", 7, 7), b"DLQ0" + struct.pack("<iII", 0, 1, 4) + b"LMSG"),
                  7: (b"\x02", b"")}
        for table, (key, val) in broken.items():
            self.put(table, key, val)
        result = self.run_("db", "scan", "a.db", "--schema")
        self.assertEqual(result.returncode, 6)
        self.assertIn("8 of 19 rows not decoded", result.stderr.decode())
        rows = [json.loads(line) for line in result.stdout.splitlines()]
        bad = [r for r in rows if "error" in r]
        self.assertEqual((len(rows), len(bad)), (19, 8))
        for row, (table, (key, val)) in zip(sorted(bad, key=lambda r: r["table"]), sorted(
                broken.items(), key=lambda b: ["app_state", "inbox", "outbox", "leases", "timers", "dedupe",
                                               "dead_letter", "dedupe_ttl"][b[0]])):
            self.assertEqual(row["value_hex"], val.hex(), table)
            self.assertIn("record ", row["error"])
            if "key" not in row:
                self.assertEqual(row["key_hex"], key.hex())
            self.assertNotIn("value", row)
        self.assertIn("attempts", next(r for r in rows if r["table"] == "leases" and "value" in r)["value"])

    def test_a_table_is_chosen_by_name_or_number(self):
        self.runtime()
        self.assertEqual(self.rows("leases", "--schema"), self.rows("--table", "3", "--schema"))
        self.assertEqual(self.rows("3", "--schema"), self.rows("leases", "--schema"))
        self.assertEqual(len(self.rows("dedupe", "--schema", "--prefix", "seen:")), 1)
        self.assertEqual(self.rows("dedupe", "--schema", "--reverse")[0]["key"],
                         {"seen-key": {"worker": 7, "id": "m-1"}})
        self.assertEqual(len(self.rows("--schema", "--limit", "5")), 5)
        self.assertEqual(self.rows("leases", "--schema", "--keys"),
                         [{"table": "leases", "key": {"worker": 7, "seq": 5}}])
        worker = r"\x00" * 7 + r"\x07"
        number = r"\x00" * 7 + r"\x05"
        self.assertEqual(self.db("scan", "a.db", "5", "-k"),
                         rf"retry:\x01{worker}{number}" + f"\nseen:{worker}m-1\n")
        self.fails(3, "the schema has no table inbux", "db", "scan", "a.db", "inbux", "--schema")
        self.fails(2, "names are known with --schema", "db", "scan", "a.db", "inbox")
        self.fails(2, "which table", "db", "scan", "a.db", "inbox", "--schema", "--table", "1")
        self.fails(2, "rows by a schema are JSON", "db", "scan", "a.db", "--schema", "--format", "csv")
        self.fails(2, "without --schema", "db", "scan", "a.db", "--schema", "--count")
        self.fails(2, "go with one table", "db", "scan", "a.db", "--schema", "--from", "a")
        self.db("put", "b.db", "k", "v")
        self.fails(3, "there is no table 1", "db", "scan", "b.db", "inbox", "--schema")

    def test_tables_of_another_package_are_left_alone(self):
        def two(*args):
            return subprocess.run([MIGRATING, *args], cwd=self.dir, text=True, capture_output=True,
                                  timeout=60, check=False)
        pushed = two("queue", "push", "a.db", "hello")
        self.assertEqual((pushed.returncode, pushed.stderr), (0, ""))
        for table in (8, 16):
            self.fails(3, f"there is no table {table}", "db", "scan", "a.db", "--table", f"{table}")
            self.put(table, b"\0\0\0\1", b"\1\2\0")
        shown = two("db", "scan", "a.db", "--schema")
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        tables = [json.loads(line)["table"] for line in shown.stdout.splitlines()]
        self.assertIn("inbox", tables)
        self.assertNotIn("orders", tables)
        self.assertNotIn("store_meta", tables)

    def test_rows_by_a_schema_of_ones_own(self):
        self.write("orders.wit", OWN_SCHEMA)
        self.put(2, b"ann\0\0" + struct.pack(">I", 7), b"\x01\x01\x02\x00\x01\x03\x00\x00\x00now")
        self.put(2, b"bob\0\0" + struct.pack(">I", 1), b"\x01\x00\x01\x00")
        self.put(3, struct.pack(">I", (1 << 31) - 2),
                 b"\x01" + struct.pack("<II3sd", 1, 3, b"tea", 2.5))
        self.assertEqual(self.rows("--schema=orders.wit"), [
            {"table": "orders", "key": {"customer": "ann", "number": 7},
             "value": {"state": "paid", "items": 2, "note": "now"}},
            {"table": "orders", "key": {"customer": "bob", "number": 1},
             "value": {"state": "open", "items": 1, "note": None}},
            {"table": "price_list", "key": {"day": -2}, "value": {"prices": [["tea", 2.5]]}}])
        self.put(2, b"bob\0\0" + struct.pack(">I", 2), b"\x01\x00\x00\x00")
        result = self.run_("db", "scan", "a.db", "orders", "--schema=orders.wit", "--json")
        self.assertEqual(result.returncode, 6)
        self.assertEqual(json.loads(result.stderr)["error"]["exit"], 6)
        self.assertEqual(json.loads(result.stdout.splitlines()[-1]),
                         {"table": "orders", "key": {"customer": "bob", "number": 2}, "value_hex": "01000000",
                          "error": "record dbi2-orders-value, field items: breaks value >= 1"})

    def test_schemas_with_mistakes_are_told(self):
        self.db("put", "a.db", "k", "v")
        self.write("bad.wit", "package a:b@1.0.0;\ninterface i {\n    record r { x: u9, y: u10 }\n}\n")
        error = self.fails(1, r"bad.wit:3:19: there is no type 'u9'", "db", "scan", "a.db", "--schema=bad.wit")
        self.assertIn("and 1 more", error)
        self.write("empty.wit", "package a:b@1.0.0;\ninterface i {\n    record r { x: u8 }\n}\n")
        self.fails(1, "declares no tables", "db", "scan", "a.db", "--schema=empty.wit")
        self.fails(3, "cannot read none.wit", "db", "scan", "a.db", "--schema=none.wit")

    def test_rows_of_a_file_that_another_owns_are_shown_too(self):
        process = self.start("db", "load", "a.db", "--batch", "1", "--table", "5", "--format", "hex")
        process.stdin.write(SEEN_KEY.hex().encode() + b"\t" + struct.pack("<?qQ", True, 1, 2).hex().encode() +
                            b"\n")
        process.stdin.flush()
        self.await_("the socket", lambda: os.path.exists(self.path("a.db.sock")))
        self.await_("rows", lambda: self.db("scan", "a.db", "5", "--count") == "1\n")
        self.assertEqual(self.rows("dedupe", "--schema")[0]["key"], {"seen-key": {"worker": 7, "id": "m-1"}})
        process.stdin.close()
        self.assertEqual(process.wait(timeout=30), 0)


# ---- Migrations -----------------------------------------------------------------------------------

MARKER = "runner.schema.version"


class Migrations(Case):
    """Chains of the migrations in tests/support/migrations.h: 0.1 to 0.2 to 1.0."""

    def migrate(self, *args, env=None, command=None):
        return subprocess.run([command or MIGRATING, "db", "migrate", "a.db", *args], cwd=self.dir,
                              env={**self.env, **(env or {})}, timeout=SECONDS, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)

    def fill(self, rows=50, version=(0, 1)):
        self.db("load", "a.db", "--table", "8", "--quiet",
                stdin="".join(f"k{i}\tvalue\n" for i in range(rows)))
        self.mark(*version)

    def mark(self, major, minor):
        self.db("put", "a.db", "--force", "--hex", MARKER.encode().hex(),
                (b"RSV0" + struct.pack("<HH", major, minor)).hex())

    def version(self):
        row = json.loads(self.db("scan", "a.db", "app_state", "--schema", "--prefix", MARKER))
        return tuple(row["value"]["schema-marker"][part] for part in ("major", "minor"))

    def state(self):
        return self.ok("db", "dump", "a.db", "--format", "stream")

    def test_a_chain_is_shown_asked_for_and_done(self):
        self.fill()
        before = self.state()
        lines = ["0.1 to 0.2: rows get an option: 50 rows read, 50 written, 0 deleted",
                 "0.2 to 1.0: keys become numbers: 50 rows read, 50 written, 50 deleted"]
        result = self.migrate("--dry-run")
        self.assertEqual((result.returncode, result.stdout.splitlines()), (0, lines))
        self.assertIn("a.db would be of version 1.0", result.stderr)
        self.assertEqual(self.state(), before)
        result = self.migrate()
        self.assertEqual(result.returncode, 2)
        self.assertIn("migrate a.db from version 0.1 to 1.0", result.stderr)
        self.assertEqual(self.state(), before)
        result = self.migrate("--yes")
        self.assertEqual((result.returncode, result.stdout.splitlines()), (0, lines))
        self.assertIn("a.db is of version 1.0", result.stderr)
        self.assertEqual(self.version(), (1, 0))
        self.assertEqual(self.db("scan", "a.db", "--table", "9", "--count"), "50\n")
        self.assertEqual(self.db("scan", "a.db", "9", "--limit", "1", "--hex"), "00000000\t76616c756500\n")
        self.assertEqual(self.db("scan", "a.db", "8", "--count"), "0\n")
        result = self.migrate("--yes")
        self.assertEqual((result.returncode, result.stdout), (0, ""))
        self.assertIn("nothing to do", result.stderr)

    def test_a_chain_stops_at_the_version_asked_for(self):
        self.fill(3)
        report = json.loads(self.migrate("--to", "0.2", "--yes", "--json").stdout)
        self.assertEqual(report, {"file": "a.db", "from": "0.1", "to": "0.2", "dry_run": False, "migrations": [
            {"from": "0.1", "to": "0.2", "name": "rows get an option", "read": 3, "written": 3, "deleted": 0}]})
        self.assertEqual(self.version(), (0, 2))
        report = json.loads(self.migrate("--dry-run", "--json").stdout)
        self.assertEqual((report["from"], report["dry_run"], len(report["migrations"])), ("0.2", True, 1))
        self.assertEqual(self.version(), (0, 2))

    def test_a_failure_of_the_second_undoes_the_first(self):
        self.fill()
        self.db("put", "a.db", "--table", "8", "kx", "value")
        self.db("put", "a.db", "--table", "9", "z", "")
        before = self.state()
        for more in (["--yes"], ["--dry-run"]):
            result = self.migrate(*more)
            self.assertEqual((result.returncode, result.stdout), (6, ""))
            self.assertIn("keys become numbers: the key 'kx' is not k and digits", result.stderr)
            self.assertIn("nothing was changed", result.stderr)
            self.assertEqual(self.state(), before)

    def test_a_kill_on_the_way_leaves_the_old_version(self):
        self.fill(200)
        self.db("put", "a.db", "--table", "9", "z", "")
        before = self.state()
        for at in (1, 100, 200, 201, 399, 400):
            result = self.migrate("--yes", env={"SAP_TEST_KILL_AT": str(at)})
            self.assertEqual(result.returncode, -signal.SIGKILL, at)
            self.assertEqual(self.state(), before)
        self.assertEqual(self.migrate("--yes").returncode, 0)
        self.assertEqual(self.version(), (1, 0))

    def test_a_kill_at_any_time_leaves_the_old_version_or_the_new(self):
        rng = random.Random(11)
        for _ in range(12):
            for name in os.listdir(self.dir):
                if name.startswith("a.db"):
                    os.unlink(self.path(name))
            self.fill(2000)
            process = subprocess.Popen([MIGRATING, "db", "migrate", "a.db", "--yes"], cwd=self.dir,
                                       env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(rng.uniform(0, 0.03))
            process.kill()
            process.wait()
            version = self.version()
            self.assertIn(version, ((0, 1), (1, 0)))
            rows = [self.db("scan", "a.db", table, "--count") if f"{table}  plain" in self.db("stat", "a.db")
                    else "0\n" for table in ("8", "9")]
            self.assertEqual(rows, ["0\n", "2000\n"] if version == (1, 0) else ["2000\n", "0\n"])

    def test_markers_that_lead_nowhere(self):
        self.db("put", "a.db", "k", "v")
        for command in (COMMAND, MIGRATING):
            result = self.migrate(command=command)
            self.assertEqual(result.returncode, 3)
            self.assertIn("nothing to migrate: no schema marker", result.stderr)
        self.mark(2, 0)
        result = self.migrate("--yes")
        self.assertEqual(result.returncode, 4)
        self.assertIn("a.db is of version 2.0, newer than this program's 1.0", result.stderr)
        self.mark(0, 0)
        result = self.migrate("--yes")
        self.assertEqual(result.returncode, 4)
        self.assertIn("no migrations lead from version 0.0 to 1.0", result.stderr)
        self.mark(1, 0)
        self.assertIn("do not go back", self.migrate("--to", "0.1").stderr)
        self.assertEqual(self.migrate("--to", "1.1").returncode, 4)
        for bad in ("", "1", "1.", "1.x", "-1.0", "1.70000", "1.0.0"):
            self.assertEqual(self.migrate("--to", bad).returncode, 2, bad)
        self.db("put", "a.db", MARKER, "RSV0", "--force")
        result = self.migrate("--yes")
        self.assertEqual(result.returncode, 6)
        self.assertIn("the schema marker does not decode", result.stderr)

    def test_a_file_in_use_is_not_migrated(self):
        self.fill(10)
        process = self.start("db", "load", "a.db", "--force", "--batch", "1")
        process.stdin.write(b"a\tb\n")
        process.stdin.flush()
        self.await_("the socket", lambda: os.path.exists(self.path("a.db.sock")))
        result = self.migrate("--yes")
        self.assertEqual(result.returncode, 4)
        self.assertIn("a.db is in use by another process", result.stderr)
        process.stdin.close()
        self.assertEqual(process.wait(timeout=30), 0)
        self.assertEqual(self.version(), (0, 1))


# ---- Documents ----------------------------------------------------------------------------------

class Documents(Case):
    """```console blocks of the pages: `$ ` begins a command, what follows is what it prints (both
    streams); `...` in a line stands for anything. A block ```wit NAME is a file of that name. A page
    runs in one directory."""

    PAGES = ["README.md", "docs/reference/command.md"] + sorted(
        "docs/howto/" + n for n in os.listdir(os.path.join(ROOT, "docs/howto")))

    def blocks(self, page):
        with open(os.path.join(ROOT, page), encoding="utf-8") as file:
            return re.findall(r"^```(console|wit [\w./-]+)\n(.*?)^```$", file.read(), re.M | re.S)

    def test_every_page_shows_what_happens(self):
        commands = pages = 0
        for page in self.PAGES:
            blocks = self.blocks(page)
            if not blocks and page.startswith("docs/howto/"):
                continue  # a page for who writes programs
            self.assertTrue(blocks, page)
            pages += 1
            where = self.path(page.replace("/", "-"))
            os.mkdir(where)
            for kind, block in blocks:
                if kind != "console":
                    with open(os.path.join(where, kind.split()[1]), "w", encoding="utf-8") as file:
                        file.write(block)
                    continue
                for command, expected in re.findall(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", block, re.M):
                    result = subprocess.run(["bash", "-c", command], cwd=where, env=self.env, check=False,
                                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                            stdin=subprocess.DEVNULL, timeout=SECONDS)
                    pattern = ".*".join(re.escape(p) for p in expected.rstrip("\n").split("..."))
                    self.assertRegex(result.stdout.rstrip("\n"), rf"(?s)\A{pattern}\Z",
                                     f"{page}: {command}")
                    commands += 1
        self.assertGreaterEqual((commands, pages), (90, 7))

    def test_the_reference_has_every_verb_and_option(self):
        with open(os.path.join(ROOT, "docs/reference/command.md"), encoding="utf-8") as file:
            text = file.read()
        for words in verbs():
            if words[0] in ("help", "completion"):
                continue
            title = words[1] if words[0] == "db" else " ".join(words)
            self.assertRegex(text, rf"(?m)^## {title}$")
            section = re.search(rf"(?ms)^## {title}$(.*?)(?=^## |\Z)", text).group(1)
            help_ = re.split(r" {6}--(?:json|node) ", self.ok(*words, "--help").decode())[0]
            for option in re.findall(r"^  .{4}(--[a-z-]+)", help_, re.M):
                self.assertIn(option, section, words)
