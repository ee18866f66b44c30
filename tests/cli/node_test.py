"""The commands that talk to a node, against one that a script plays. Run by run.py."""
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import time

import command_test
from command_test import Case
from fake_node import EFFECTS, LETTERS, TOKEN, FakeNode, RawServer, error, items, world

HELLO = "#!/bin/sh\ncat\n"


class NodeCase(Case):
    """A fake node that the command finds by itself."""

    def setUp(self):
        super().setUp()
        self.node = self.start_node("data")

    def start_node(self, name, **more):
        node = FakeNode(self.path(name), self.env["XDG_STATE_HOME"], **more)
        self.addCleanup(node.stop)
        return node

    def raw(self, serve):
        server = RawServer(serve)
        self.addCleanup(server.stop)
        return server

    def no_node(self):
        """An address at which nobody listens."""
        with socket.create_server(("127.0.0.1", 0)) as taken:
            return "127.0.0.1:%d" % taken.getsockname()[1]

    def one(self, path):
        """The only request for a path."""
        found = self.node.asked(path)
        self.assertEqual(len(found), 1, [r.target for r in self.node.requests])
        return found[0]

    def text(self, *args, **more):
        return self.ok(*args, **more).decode()

    def object(self, *args, **more):
        lines = self.text(*args, "--json", **more).splitlines()
        self.assertEqual(len(lines), 1, lines)
        return json.loads(lines[0])

    def lines(self, *args, **more):
        return [json.loads(line) for line in self.text(*args, "--json", **more).splitlines()]

    def said(self, status, *args, **more):
        """All of standard error of a command that must fail so."""
        return self.fails(status, "^sapling: ", *args, **more)

    def program(self, name="hello.py", mode=0o755):
        self.write(name, HELLO)
        os.chmod(self.path(name), mode)


# ---- Which node, and how ------------------------------------------------------------------------

class Finding(NodeCase):
    def test_the_socket_of_the_only_node_is_used_without_a_token(self):
        self.text("world", "show", "hello")
        request = self.one("/v1/worlds/hello")
        self.assertIsNone(request.token)
        self.assertEqual(request.headers["Host"], "localhost")

    def test_tcp_with_the_token_of_the_node_where_there_is_no_socket(self):
        self.node.register(self.node.address, socket=None)
        self.text("world", "show", "hello")
        self.assertEqual(self.one("/v1/worlds/hello").token, f"Bearer {TOKEN}")

    def test_a_token_file_means_tcp(self):
        self.write("my.token", f"{TOKEN}\n")
        for more, env in ((("--token-file", "my.token"), self.env),
                          ((), dict(self.env, SAPLING_TOKEN_FILE="my.token"))):
            self.text("world", "show", "hello", *more, env=env)
            self.assertEqual(self.node.requests[-1].token, f"Bearer {TOKEN}")

    def test_a_node_is_named_by_address_port_socket_or_data(self):
        other = self.start_node("other")
        port = other.address.split(":")[1]
        for name in (other.address, port, f"localhost:{port}", "other", "./other", self.path("other"),
                     "other/node.sock"):
            name = name if "/" in name or name[-1].isdigit() else "./" + name
            before = len(other.requests)
            self.text("status", "--node", name)
            self.text("status", env=dict(self.env, SAPLING_NODE=name))
            self.assertEqual(len(other.requests), before + 2, name)
        self.assertEqual(self.node.requests, [])

    def test_of_two_nodes_one_must_be_named_unless_one_has_the_usual_address(self):
        other = self.start_node("other")
        said = self.fails(2, "2 nodes run here: ", "status")
        self.assertIn(self.node.address, said)
        self.assertIn(other.address, said)
        self.assertIn("say which: --node ADDRESS", said)
        other.register("127.0.0.1:7227")
        self.text("status")
        self.assertEqual(len(other.requests), 1)

    def test_a_file_of_a_dead_process_counts_for_nothing(self):
        dead = subprocess.Popen(["true"])
        dead.wait()
        self.node.register("127.0.0.1:7227", pid=dead.pid, socket=self.path("gone"))
        self.text("status")
        self.assertEqual(len(self.node.requests), 1)

    def test_the_token_of_a_dead_node_is_not_sent_to_who_has_its_port(self):
        dead = subprocess.Popen(["true"])
        dead.wait()
        self.node.register(self.node.address, pid=dead.pid)
        self.fails(1, "needs a token", "status", "--node", self.node.address)
        self.assertIsNone(self.one("/v1/status").token)

    def test_files_that_are_no_nodes_are_passed_over(self):
        for name, text in (("a.json", "{"), ("b.json", "[]"), ("c.json", '{"pid":"x"}'), ("d.json", '{"pid":-1}'),
                           (".json", "{}"), ("e.txt", "{}"), ("f.json", "x" * 100000)):
            with open(os.path.join(self.node.registry, name), "w", encoding="utf-8") as file:
                file.write(text)
        os.mkdir(os.path.join(self.node.registry, "g.json"))
        os.mkfifo(os.path.join(self.node.registry, "h.json"))
        self.text("status")
        self.assertEqual(len(self.node.requests), 1)

    def test_a_socket_with_a_long_path_is_reached(self):
        deep = os.path.join("d" * 60, "e" * 60)
        node = self.start_node(deep)
        self.text("status", "--node", node.address)
        self.text("status", "--node", self.path(deep))
        self.assertEqual(len(node.requests), 2)

    def test_proxies_of_the_environment_are_not_used(self):
        env = dict(self.env, http_proxy="http://127.0.0.1:1", ALL_PROXY="http://127.0.0.1:1", NO_PROXY="")
        self.text("status", env=env)
        self.node.register(self.node.address, socket=None)
        self.text("status", env=env)

    def test_words_that_are_no_address(self):
        for word in ("", "x", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", ":1", "a b:1", "u@h:1", "h?:1"):
            if word:
                self.fails(2, "is not the address of a node: HOST:PORT", "status", "--node", word)
        self.assertEqual(self.node.requests, [])


# ---- Nodes that are not there, or not well ------------------------------------------------------

class Trouble(NodeCase):
    def test_no_node_is_exit_5_and_says_how_to_start_one(self):
        address = self.no_node()
        said = self.said(5, "status", "--node", address)
        self.assertEqual(said, f"sapling: no node at {address} (connection refused)\nstart one: sapling up\n")
        found = json.loads(self.run_("status", "--node", address, "--json").stderr)["error"]
        self.assertEqual((found["code"], found["exit"], found["hint"]), ("no_node", 5, "start one: sapling up"))
        self.fails(5, r"no node at \./none \(no such file or directory\)", "status", "--node", "./none")
        self.fails(5, r"no node at no\.such\.host\.invalid:1 \(", "status", "--node", "no.such.host.invalid:1")

    def test_every_command_says_that_there_is_no_node(self):
        self.program()
        address = self.no_node()
        commands = 0
        for words in command_test.node_verbs():
            usage = self.text(*words, "--help").split("Usage: ")[1].splitlines()[0]
            operands = usage.partition("[OPTION]...")[2].split(" | ")[0].replace("...", "").split()
            given = [{"METHOD": "GET", "PATH": "/v1/x", "RUNNER": "./hello.py", "VERSION|newest": "1"}.get(o, "x")
                     for o in operands if not o.startswith("[") and not o.endswith("]")]
            more = {"world create": ["--module", "m"], "world delete": ["--yes"], "dlq drop": ["--yes"],
                    "assign": ["x", "w"]}.get(" ".join(words), [])
            self.fails(5, "no node at", *words, *given, *more, "--node", address)
            commands += 1
        self.assertGreaterEqual(commands, 37)

    def test_a_stopped_node_is_given_up(self):
        process = subprocess.Popen(["python3", "-c", "import socket,time;s=socket.create_server(('127.0.0.1',0));"
                                    "print(s.getsockname()[1],flush=True);time.sleep(600)"], stdout=subprocess.PIPE)
        self.addCleanup(self.finish, process)
        address = "127.0.0.1:" + process.stdout.readline().decode().strip()
        self.stop(process)
        said = self.fails(124, "has not answered in 0.3 s", "status", "--node", address, "--give-up", "300ms")
        self.assertNotIn("may have been done", said)
        self.fails(124, "it may have been done all the same", "world", "pause", "x", "--node", address,
                   "--give-up", "300ms")
        process.send_signal(signal.SIGCONT)

    def test_an_answer_that_does_not_end_in_time_is_given_up(self):
        def drip(connection):
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
            while True:
                connection.sendall(b" ")
                time.sleep(0.05)

        self.fails(124, "has not answered in", "status", "--node", self.raw(drip).address, "--give-up", "500ms")

    def test_what_is_no_node_is_said_to_be_none(self):
        answers = (b"SSH-2.0-OpenSSH_9.2\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
                   b"HTTP/1.1 404 Not Found\r\nContent-Length: 6\r\n\r\n<html>", b"\x00\xff\x1b[31m" * 100,
                   b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
                   b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]", b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnull")
        for answer in answers:
            def serve(connection, answer=answer):
                connection.recv(65536)
                connection.sendall(answer)
                connection.shutdown(socket.SHUT_WR)
                connection.recv(1)

            for args in (("status",), ("world", "list"), ("world", "log", "x"), ("world", "state", "x")):
                said = self.fails(1, "is not a node of this version", *args, "--node", self.raw(serve).address)
                self.assertNotIn("\x1b", said)

    def test_a_redirect_is_not_followed(self):
        self.node.on("GET", "/v1/status", (302, ("", {"Location": "/v1/workers"})))
        self.fails(1, "status 302", "status")
        self.assertEqual(self.node.asked("/v1/workers"), [])

    def test_an_answer_that_is_too_large_is_cut_off(self):
        def flood(connection):
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n[")
            while True:
                connection.sendall(b"1," * 500000)

        said = self.fails(1, "is larger than 64.0 MiB", "status", "--node", self.raw(flood).address)
        self.assertIn("ask for less", said)

    def test_deep_and_odd_json_is_read(self):
        self.node.on("POST", "/v1/worlds/x/query", (200, '{"reply":' + "[" * 2000 + "]" * 2000 + "}"))
        self.assertEqual(self.text("world", "query", "x", "q"), "[" * 2000 + "]" * 2000 + "\n")
        self.node.on("POST", "/v1/worlds/x/query", (200, "[" * 100000))
        self.fails(1, "its answer is not JSON", "world", "query", "x", "q")
        for text, shown in (('0.1', "0.1"), ('12345678901234567890', "12345678901234567168"), ('"\\u0000"', '"\\u0000"'),
                            ('1e308', "1e+308"), ('{"b":1,"a":[]}', '{"b":1,"a":[]}'), ("{}", "{}"),
                            ("9007199254740993", "9007199254740993"), ("null", "null")):
            self.node.on("POST", "/v1/worlds/x/query", (200, f'{{"reply":{text}}}'))
            self.assertEqual(self.text("world", "query", "x", "q"), shown + "\n")

    def test_a_list_that_never_ends_ends(self):
        self.node.on("GET", "/v1/worlds", (200, {"items": [world("a")], "next": "x"}))
        self.fails(1, "its list does not go on", "world", "list")
        self.node.on("GET", "/v1/worlds", (200, {"items": "none"}))
        self.fails(1, "its list has no items", "world", "list")
        self.node.on("GET", "/v1/worlds/a/state", (200, {"rows": [], "next": "x"}))
        self.fails(1, "does not go on", "world", "state", "a")
        self.node.on("GET", "/v1/worlds/a/journal", (200, {"entries": [{"step": 1}, {"step": 1}]}))
        self.fails(1, "its journal goes back", "world", "log", "a")

    def test_items_in_another_form_are_shown_as_far_as_they_go(self):
        self.node.on("GET", "/v1/worlds", (200, {"items": [7, None, {}, {"world": ["a"], "inbox": 3, "step": "x"},
                                                           {"world": "\x1b[31mred\n", "step": -1}]}))
        out = self.text("world", "list")
        self.assertEqual(len(out.splitlines()), 6)
        self.assertIn(r"\x1b[31mred\x0a", out)
        self.assertNotIn("\x1b", out)

    def test_random_answers_crash_nothing_and_move_no_terminal(self):
        seed = int(os.environ.get("SAP_TEST_SEED", random.randrange(1 << 32)))
        rng = random.Random(seed)
        odd = (None, True, -1, 0, 10 ** 30, 1e308, "", "\x1b[31m\n", "\0", [], {}, [[]], "x" * 5000, "\u2028\x9b", {"a": [1]})

        def damage(value, chance):
            if rng.random() < chance:
                return rng.choice(odd)
            if isinstance(value, dict):
                return {rng.choice(("\x1b]0;", k)) if rng.random() < chance else k: damage(v, chance)
                        for k, v in value.items() if rng.random() >= chance}
            return [damage(v, chance) for v in value] if isinstance(value, list) else value

        right = self.node.find

        def wrong(request):
            status, body = right(request)
            text = json.dumps(damage(body, rng.choice((0.05, 0.2, 0.5))))
            return rng.choice((status, status, status, 200, 404, 500)), text[:rng.choice((None, None, None, -1, 7))]

        self.node.find = wrong
        commands = (("status",), ("world", "list"), ("world", "show", "a"), ("world", "log", "a"), ("world", "state", "a"),
                    ("world", "send", "a", "1", "--wait=1s"), ("world", "send", "a", "1"), ("world", "result", "a"),
                    ("world", "query", "a", "q"), ("world", "outstanding", "a"), ("module", "list"), ("module", "show", "a"),
                    ("effect", "list"), ("effect", "show", "a", "pay"), ("timer", "list"), ("dlq", "list"), ("lease", "list"),
                    ("dlq", "show", "a", "7-007a"), ("dlq", "drop", "--all", "--yes"), ("worker", "list"), ("assign",),
                    ("token", "create"), ("token", "list"), ("world", "list", "--names"), ("world", "pause", "a"))
        answers = 6 * len(commands)
        for i in range(answers):
            args = commands[i % len(commands)] + rng.choice(((), ("--json",)) if "--names" not in commands[i % len(commands)]
                                                            else ((),))
            result = self.run_(*args)
            said = (seed, args, result.stdout[-300:], result.stderr[-1500:])
            self.assertIn(result.returncode, (0, 1, 2, 3, 4, 124), said)
            self.assertNotIn(b"Sanitizer", result.stderr, said)
            self.assertNotIn(b"\x1b", result.stdout + result.stderr, said)
        print(f"      {answers} damaged answers, seed {seed}")

    def test_a_connection_that_breaks_is_tried_again_under_the_same_key(self):
        seen = []

        def serve(connection):
            head = connection.recv(65536).decode()
            seen.append(head.split("Idempotency-Key: ")[1].split("\r\n")[0])
            if len(seen) == 3:
                connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{"world":"x"}  ')

        self.ok("world", "pause", "x", "--node", self.raw(serve).address)
        self.assertEqual((len(seen), len(set(seen))), (3, 1))
        self.assertRegex(seen[0], "^[0-9a-f]{32}$")

    def test_a_node_that_always_breaks_the_connection_is_told(self):
        server = self.raw(lambda connection: connection.recv(65536))
        said = self.fails(1, "closed the connection without an answer", "world", "pause", "x", "--node", server.address)
        self.assertIn("it may have been done all the same", said)
        self.assertEqual(server.connections, 4)

    def test_a_busy_node_is_asked_again_when_it_says(self):
        count = []

        def busy(_):
            count.append(1)
            if len(count) < 3:
                status, body = error(429, "busy", "the inbox is full")
                return status, (json.dumps(body), {"Retry-After": "1"})
            return 200, world("x")

        self.node.on("POST", "/v1/worlds/x/pause", busy)
        start = time.monotonic()
        self.ok("world", "pause", "x")
        self.assertEqual(len(count), 3)
        self.assertGreaterEqual(time.monotonic() - start, 2)
        self.node.on("POST", "/v1/worlds/x/pause", error(429, "busy", "the inbox is full"))
        self.fails(4, "the inbox is full", "world", "pause", "x", "--give-up", "1500ms")

    def test_what_the_node_refuses_is_told_with_its_words_and_an_exit_code(self):
        for status, code, exit_ in ((400, "bad_request", 2), (403, "needs_scope", 1), (404, "not_found", 3),
                                    (409, "conflict", 4), (413, "too_large", 1), (422, "handler_failed", 1),
                                    (500, "store_failed", 1), (503, "stopping", 4), (507, "disk_full", 1)):
            self.node.on("GET", "/v1/worlds/x", error(status, code, f"words of {code}", detail={"field": "x"}))
            self.assertEqual(self.said(exit_, "world", "show", "x"), f"sapling: words of {code}\n")
            result = self.run_("world", "show", "x", "--json")
            found = json.loads(result.stderr)["error"]
            self.assertEqual((result.stdout, found["exit"], found["type"], found["detail"], found["message"]),
                             (b"", exit_, code, {"field": "x"}, f"words of {code}"))

    def test_what_a_node_says_reaches_no_terminal_as_a_command(self):
        self.node.on("GET", "/v1/worlds/x", error(500, "bad", "a\x1b[31m\nsapling: b\x9b"))
        self.assertEqual(self.said(1, "world", "show", "x"), "sapling: a\\x1b[31m\\x0asapling: b\\xc2\\x9b\n")

    def test_near_names_are_suggested(self):
        for path, args in (("/v1/worlds/helo", ("world", "show", "helo")),
                           ("/v1/worlds/helo/messages", ("world", "send", "helo", "1"))):
            method = "GET" if args[1] == "show" else "POST"
            self.node.on(method, path, error(404, "unknown_world", "there is no world helo"))
            self.assertEqual(self.said(3, *args), "sapling: there is no world helo\ndid you mean hello?\n")
        self.node.on("GET", "/v1/worlds/zzz", error(404, "unknown_world", "there is no world zzz"))
        self.fails(3, "no world zzz\nsee which there are: sapling world list", "world", "show", "zzz")
        self.node.on("GET", "/v1/modules/helo", error(404, "unknown_module", "there is no module helo"))
        self.fails(3, r"no module helo\ndid you mean hello\?", "module", "show", "helo")
        self.node.on("GET", "/v1/worlds", lambda r: time.sleep(60) or (200, {}))
        start = time.monotonic()
        self.fails(3, "see which there are", "world", "show", "zzz")
        self.assertLess(time.monotonic() - start, 20)

    def test_tokens_that_are_missing_or_wrong_are_told(self):
        self.node.register(self.node.address, socket=None, token_file=None)
        self.fails(1, "needs a token\nrun this as the user of the node, or give --token-file FILE", "status")
        self.write("wrong", "no\n")
        self.fails(1, "does not know the token of wrong\n", "status", "--token-file", "wrong")
        self.write("empty", "\n")
        self.fails(1, "the token file empty does not hold a token\nmake one: sapling token create", "status",
                   "--token-file", "empty")
        self.write("odd", "a\r\nX-Evil: 1")
        self.fails(1, "the token file odd does not hold a token", "status", "--token-file", "odd")
        self.fails(3, "cannot read the token file none: No such file", "status", "--token-file", "none")
        self.fails(1, "cannot read the token file .: Is a directory", "status", "--token-file", ".")
        self.assertEqual(len(self.node.requests), 2)

    def test_an_interruption_ends_a_wait_and_says_how_to_wait_on(self):
        self.node.on("POST", "/v1/worlds/x/messages", lambda r: time.sleep(60) or (204, None))
        process = self.start("world", "send", "x", "1", "--wait", stdin=subprocess.DEVNULL)
        self.await_("the message", lambda: self.node.asked("/v1/worlds/x/messages"))
        process.send_signal(signal.SIGINT)
        out, said = process.communicate(timeout=20)
        self.assertEqual((process.returncode, out), (130, b""))
        key = self.one("/v1/worlds/x/messages").key
        self.assertEqual(said.decode(), "sapling: interrupted\nthe message may be in the inbox of the world: "
                                        f"wait on with the same command and --id {key}\n")

    def test_a_reader_that_goes_away_ends_a_list_quietly(self):
        page = [world("w" * 2000) for i in range(1000)]
        self.node.on("GET", "/v1/worlds", lambda r: (200, {"items": page, "next": r.query.get("after", "") + "x"}))
        for more in ((), ("--json",), ("--names",)):
            reader, writer = os.pipe()
            os.close(reader)
            result = subprocess.run([command_test.COMMAND, "world", "list", *more], cwd=self.dir, env=self.env,
                                    stdout=writer, stderr=subprocess.PIPE, timeout=60, check=False)
            os.close(writer)
            self.assertEqual((result.returncode, result.stderr), (-signal.SIGPIPE, b""))

    def test_standard_output_that_is_closed_or_full_is_told(self):
        for shell in (">&-", "> /dev/full"):
            result = subprocess.run(["sh", "-c", f"'{command_test.COMMAND}' world list {shell}"], cwd=self.dir,
                                    env=self.env, stderr=subprocess.PIPE, timeout=60, check=False)
            self.assertEqual(result.returncode, 1)
            self.assertIn(b"cannot write to standard output", result.stderr)

    def test_words_that_are_not_utf8_are_told(self):
        for args in (("world", "show", b"a\xff"), ("world", "send", "x", b"\xff\xfe"), ("world", "list", b"--prefix=\xff")):
            self.fails(2, r"\\xff.*' is not UTF-8", *args)
        self.assertEqual(self.node.requests, [])


# ---- Worlds -------------------------------------------------------------------------------------

class Worlds(NodeCase):
    def test_names_are_encoded_in_paths(self):
        for name in ("a b/c", "..", "%41", "é?x=1#", "a\x1bb", "-x"):
            self.text("world", "show", "--", name)
            encoded = "".join(c if c.isalnum() and c.isascii() or c in "-._~" else
                              "".join(f"%{b:02X}" for b in c.encode()) for c in name)
            self.assertEqual(self.node.requests[-1].target, f"/v1/worlds/{encoded}")

    def test_send_takes_a_name_a_body_or_both(self):
        for args, body in ((("1",), {"body": 1}), (('{"n":0.1}',), {"body": {"n": 0.1}}), (("greet",), {"name": "greet"}),
                           (("greet", '"Ann"'), {"name": "greet", "body": "Ann"}), (("null",), {"body": None}),
                           ((), {}), (("true", "1"), {"name": "true", "body": 1}),
                           (("x", "1", "--priority", "9", "--correlation-id", "c"),
                            {"name": "x", "body": 1, "priority": 9, "correlation_id": "c"})):
            key = self.text("world", "send", "hello", *args).strip()
            request = self.node.requests[-1]
            self.assertEqual((request.method, request.target), ("POST", "/v1/worlds/hello/messages"))
            self.assertEqual((request.body, request.key), (body, key))
            self.assertEqual(request.headers["Content-Type"], "application/json")

    def test_send_reads_standard_input_and_bytes(self):
        self.text("world", "send", "hello", "add", "-", stdin='{"n": 2}\n')
        self.assertEqual(self.node.requests[-1].body, {"name": "add", "body": {"n": 2}})
        self.text("world", "send", "hello", "-", stdin="[1]")
        self.assertEqual(self.node.requests[-1].body, {"body": [1]})
        for data, b64 in ((b"\x00\xff", "AP8="), (b"", ""), (b"abc", "YWJj"), (b"a", "YQ=="), (bytes(range(256)), None)):
            self.text("world", "send", "hello", "add", "-", "--raw", stdin=data)
            body = self.node.requests[-1].body
            self.assertEqual((body["name"], body["encoding"]), ("add", "raw"))
            if b64 is not None:
                self.assertEqual(body["body"], {"b64": b64})
        self.text("world", "send", "hello", "text", "--raw")
        self.assertEqual(self.node.requests[-1].body, {"body": {"b64": "dGV4dA=="}, "encoding": "raw"})

    def test_send_says_what_is_wrong_with_a_body(self):
        self.fails(2, "BODY is not JSON: .*a text stands in quotes", "world", "send", "hello", "greet", "Ann")
        self.fails(2, "standard input is not JSON", "world", "send", "hello", "-", stdin="{")
        self.fails(2, "standard input is not JSON", "world", "send", "hello", "-", stdin="")
        self.fails(2, "duplicate", "world", "send", "hello", "x", '{"a":1,"a":2}')
        self.fails(2, "--raw goes with a BODY", "world", "send", "hello", "--raw")
        self.fails(2, "an id has 1 to 200 bytes", "world", "send", "hello", "1", "--id", "")
        self.fails(2, "an id has letters", "world", "send", "hello", "1", "--id", "a\nb")
        self.fails(1, "standard input is larger than a message may be", "world", "send", "hello", "-", "--raw",
                   stdin=b"x" * (33 << 20))
        self.assertEqual(self.node.requests, [])

    def test_wait_prints_the_reply_as_json(self):
        self.assertEqual(self.text("world", "send", "hello", "1", "--wait"), '{"n":1}\n')
        request = self.node.requests[-1]
        self.assertEqual(request.query, {"wait": "20000ms"})
        self.assertEqual(self.object("world", "send", "hello", "1", "--wait"), {"reply": {"n": 1}, "step": 4})
        self.node.on("POST", "/v1/worlds/hello/messages", (200, {"reply": {"b64": "AAE="}, "encoding": "raw", "step": 4}))
        self.assertEqual(self.text("world", "send", "hello", "1", "-w"), '{"b64":"AAE="}\n')
        self.node.on("POST", "/v1/worlds/hello/messages", (204, None))
        result = self.run_("world", "send", "hello", "1", "--wait")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, b"", b"hello handled it, without a reply\n"))
        self.assertEqual(self.object("world", "send", "hello", "1", "--wait"), {"handled": True})

    def test_a_handler_that_failed_is_exit_1_with_its_message(self):
        self.node.on("POST", "/v1/worlds/hello/messages", error(422, "handler_failed", "no such item"))
        result = self.run_("world", "send", "hello", "1", "--wait")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (1, b"", b"sapling: no such item\n"))

    def test_a_wait_that_is_over_is_exit_124_and_goes_on_under_the_same_key(self):
        accepted = []

        def accept(request):
            accepted.append(request)
            return 202, {"seq": "0a", "id": request.key, "duplicate": False}

        self.node.on("POST", "/v1/worlds/hello/messages", accept)
        said = self.fails(124, "no reply of hello in 0.5 s: the message is in its inbox", "world", "send", "hello", "1",
                          "--wait=500ms")
        keys = {request.key for request in accepted}
        self.assertEqual(len(keys), 1)
        self.assertLessEqual(len(accepted), 10)  # a node that does not wait is not asked without a pause
        key = keys.pop()
        self.assertIn(f"wait on with the same command and --id {key}\n", said)
        accepted.clear()
        self.node.on("POST", "/v1/worlds/hello/messages",
                     lambda r: accept(r) if len(accepted) < 2 else (200, {"reply": 5, "step": 4}))
        self.assertEqual(self.text("world", "send", "hello", "1", "--wait=1m", "--id", key), "5\n")
        requests = self.node.asked("/v1/worlds/hello/messages")
        self.assertEqual({(r.key, json.dumps(r.body)) for r in requests}, {(key, '{"body": 1}')})

    def test_a_message_that_was_sent_before_is_told(self):
        self.node.on("POST", "/v1/worlds/hello/messages", (202, {"seq": "0a", "id": "k", "duplicate": True}))
        result = self.run_("world", "send", "hello", "1", "--id", "k")
        self.assertEqual((result.stdout, result.stderr), (b"k\n", b"it was sent before, and is not sent again\n"))

    def test_a_program_is_registered_once_and_never_in_place_of_another(self):
        self.program()
        runner = "exec:" + self.path("hello.py")
        for module in ("./hello.py", "exec:./hello.py", "exec:hello.py", self.path("hello.py"), "././/hello.py",
                       "../" + os.path.basename(self.dir) + "/hello.py"):
            self.node.requests.clear()
            self.node.modules.clear()
            result = self.run_("world", "send", "hello", "1", "--module", module)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(result.stderr.decode(), f"registered the module hello: {runner}\n")
            self.assertEqual([r.method for r in self.node.requests], ["GET", "PUT", "POST"])
            self.assertEqual(self.node.requests[1].body, {"runner": runner})
            self.assertEqual(self.node.requests[2].body, {"body": 1, "module": "hello"})
        self.node.on("GET", "/v1/modules/hello", (200, {"name": "hello", "runner": runner, "state": "ask"}))
        self.node.requests.clear()
        self.ok("world", "send", "hello", "1", "--module", "./hello.py")
        self.assertEqual([r.method for r in self.node.requests], ["GET", "POST"])
        self.node.on("GET", "/v1/modules/hello", (200, {"name": "hello", "runner": "exec:/other/hello.py"}))
        said = self.fails(4, "the module hello is exec:/other/hello.py already, not " + runner, "world", "send", "hello",
                          "1", "--module", "./hello.py")
        self.assertIn(f"sapling module put hello '{runner}'", said)
        self.node.requests.clear()
        self.ok("world", "send", "hello", "1", "--module", "hello")
        self.assertEqual([(r.method, r.body) for r in self.node.requests], [("POST", {"body": 1, "module": "hello"})])

    def test_programs_have_arguments_blanks_and_names_of_their_files(self):
        os.mkdir(self.path("my dir"))
        for name, text, runner, module in (
                ("hello.py", "exec:./hello.py --loud x", f"exec:{self.dir}/hello.py --loud x", "hello"),
                ("my dir/a.b.py", "./my dir/a.b.py", f"exec:'{self.dir}/my dir/a.b.py'", "a.b"),
                ("it's.sh", "./it's.sh", f"exec:\"{self.dir}/it's.sh\"", "it's"), (".x", "./.x", f"exec:{self.dir}/.x", ".x"),
                ("plain", "exec:plain", f"exec:{self.dir}/plain", "plain")):
            self.program(name)
            self.ok("world", "create", "w", "--module", text)
            self.assertEqual(self.node.requests[-2].body, {"runner": runner})
            self.assertEqual(self.node.requests[-1].body, {"world": "w", "module": module})

    def test_a_program_is_tried_without_a_node(self):
        shutil.copy(os.path.join(command_test.ROOT, "tests/cli/example_world.py"), self.path("hello.py"))
        event = {"type": "message", "body": {"n": 2}, "state": {"total": 1}}
        self.assertEqual(self.text("world", "try", "./hello.py", stdin=json.dumps(event)),
                         '{"put":{"total":3},"reply":{"total":3}}\n')
        asked = json.loads(self.text("world", "try", "exec:hello.py", stdin='{"name":"remind"}'))["do"]
        self.assertEqual([timer["timer"] for timer in asked], ["remind", "close"])
        self.write("twice.py", "#!/usr/bin/env python3\nfrom sapling import handler, run\n"
                   "@handler\ndef twice(e):\n    return e.body * 2\nrun()\n")
        os.chmod(self.path("twice.py"), 0o755)
        self.assertEqual(self.text("world", "try", "./twice.py", stdin='{"body":21}'), '{"reply":42}\n')
        for program in ("#!/bin/sh\ncat\n", "#!/bin/sh\necho hi\n", "#!/bin/sh\nexit 3\n"):
            self.write("bad.sh", program)
            os.chmod(self.path("bad.sh"), 0o755)
            self.assertRegex(self.said(1, "world", "try", "./bad.sh", stdin="{}"), "^sapling: bad.sh")
        self.assertEqual(self.said(1, "world", "try", "./hello.py", stdin='{"name":"refuse"}'), "sapling: I do not take this\n")
        self.fails(2, "the event is not JSON", "world", "try", "./hello.py", stdin="{")
        self.fails(2, "is not a program", "world", "try", "hello", stdin="{}")
        self.fails(3, "there is no none", "world", "try", "./none", stdin="{}")
        self.assertEqual(self.node.requests, [])

    def test_a_program_that_cannot_run_is_told_before_anything_is_sent(self):
        self.program(mode=0o644)
        for text in ("./hello.py", "exec:hello.py"):
            self.assertEqual(self.said(1, "world", "send", "hello", "1", "--module", text),
                             "sapling: hello.py is not executable: chmod +x hello.py\n")
        self.fails(3, "there is no none.py\na program is named by its path", "world", "send", "hello", "1",
                   "--module", "./none.py")
        self.fails(1, "bin is not a file but a directory", "module", "put", "./bin")
        self.fails(2, "exec: names no program, as exec:./hello.py does", "module", "put", "exec:")
        self.fails(2, "'hello' is not a program", "module", "put", "hello")
        self.assertEqual(self.node.requests, [])

    def test_list_shows_columns_and_filters(self):
        out = self.text("world", "list", "--prefix", "o&", "--status", "paused", "--module", "m", "--tag", "a=b")
        self.assertEqual(self.node.requests[-1].query, {"limit": "1000", "prefix": "o&", "status": "paused",
                                                        "module": "m", "tag": "a=b"})
        self.assertEqual(out.splitlines(), ["WORLD    MODULE  STATUS  STEP  WAITING  OLDEST  REASON",
                                            "hello    hello   active     3        2      1m  -",
                                            "order-1  hello   paused     3        2      1m  bug"])
        self.assertEqual(self.text("world", "list", "--names"), "hello\norder-1\n")
        self.assertEqual([w["world"] for w in self.lines("world", "list")], ["hello", "order-1"])

    def test_lists_go_on_to_the_limit_page_by_page(self):
        names = [f"w{i:04}" for i in range(2500)]

        def page(request):
            start = int(request.query.get("after", 0))
            end = start + int(request.query["limit"])
            more = {"next": str(end)} if end < len(names) else {}
            return 200, {"items": [world(n) for n in names[start:end]], **more}

        self.node.on("GET", "/v1/worlds", page)
        self.assertEqual(self.text("world", "list", "--names").split(), names)
        self.assertEqual(len(self.node.requests), 3)
        self.assertEqual(self.text("world", "list", "--names", "-n", "1001").split(), names[:1001])
        self.assertEqual(self.node.requests[-1].query["limit"], "1")
        rows = self.text("world", "list").splitlines()[1:]
        self.assertEqual((len(rows), len(set(map(len, rows)))), (2500, 1))
        self.node.on("GET", "/v1/worlds", items())
        result = self.run_("world", "list")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, b"", b"there are no such worlds\n"))
        self.assertEqual(self.run_("world", "list", "--json").stderr, b"")

    def test_show_and_status(self):
        out = self.text("world", "show", "hello")
        for line in ("world     hello", "status    active", "messages  2", "oldest    1m", "tags      city=Rome", "assigned  -"):
            self.assertIn(line + "\n", out)
        self.assertEqual(self.object("world", "show", "hello"), world("hello"))
        out = self.text("status")
        self.assertIn("worlds        10,000+\n", out)
        self.assertIn("    1  1 world is paused  sapling world list --status paused\n", out)
        self.assertEqual(self.object("status")["dead_letters"], 2)
        status = self.object("status")
        status["attention"] = []
        self.node.on("GET", "/v1/status", (200, status))
        self.assertTrue(self.text("status").endswith("\nnothing needs you\n"))

    def test_log_shows_the_last_steps_changes_and_intents(self):
        env = dict(self.env, TZ="UTC")
        out = self.text("world", "log", "hello", "--limit", "2", env=env)
        self.assertEqual(out, "".join(
            f'       {n}  2023-11-14 22:13:20  message add {{"n":{n}}}\n          put  n = {n}\n'
            '          del  {"b64":"/w=="}\n          do   task charge\n' for n in (2, 3)))
        self.assertEqual([e["step"] for e in self.lines("world", "log", "hello", "--after", "0")], [1, 2, 3])
        self.assertEqual([e["step"] for e in self.lines("world", "log", "hello", "--after", "1", "-n", "1")], [2])

    def test_follow_shows_steps_as_they_come(self):
        process = self.start("world", "log", "hello", "--follow", "--json", stdin=subprocess.DEVNULL)
        steps = [json.loads(process.stdout.readline())["step"] for _ in range(3)]
        self.assertEqual(steps, [1, 2, 3])
        entry = {"step": 4, "kind": "step", "event": {"type": "timer"}}
        self.node.on("GET", "/v1/worlds/hello/journal",
                     lambda r: (200, {"entries": [entry] if int(r.query["after"]) < 4 else []}))
        self.assertEqual(json.loads(process.stdout.readline())["step"], 4)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=20), 130)

    def test_state_shows_rows_with_their_bytes(self):
        self.assertEqual(self.text("world", "state", "hello", "--prefix", "n", "--step", "2"),
                         'n\t0.1\n{"b64":"/w=="}\t{"b64":"AAE="}\n')
        self.assertEqual(self.node.requests[-1].query, {"prefix": "n", "step": "2", "limit": "1000"})
        self.assertEqual(self.lines("world", "state", "hello", "-n", "1"), [{"key": "n", "value": 0.1}])

    def test_query_and_result(self):
        self.assertEqual(self.text("world", "query", "hello", "total", "[1]", "--strong"), "7\n")
        request = self.node.requests[-1]
        self.assertEqual((request.body, request.query), ({"name": "total", "body": [1]}, {"strong": "1"}))
        self.assertEqual(self.text("world", "result", "hello"), '"fine"\n')
        self.node.on("GET", "/v1/worlds/hello/result", (200, {"failed": True, "result": {"why": 1}, "step": 2}))
        result = self.run_("world", "result", "hello")
        self.assertEqual((result.returncode, result.stdout), (1, b'{"why":1}\n'))
        self.node.on("GET", "/v1/worlds/hello/result", (204, None))
        self.fails(124, "hello has not finished yet\nwait for it: sapling world result hello --wait=10m", "world", "result", "hello")
        self.fails(124, "hello has not finished in 0.3 s", "world", "result", "hello", "--wait=300ms")
        self.node.on("GET", "/v1/worlds/hello/result", error(409, "no_result", "it was deleted"))
        self.fails(4, "it was deleted", "world", "result", "hello", "--wait")

    def test_what_an_operator_does_to_a_world(self):
        for args, path, body in ((("pause", "hello", "--reason", "why"), "pause", {"reason": "why"}),
                                 (("pause", "hello"), "pause", {}), (("resume", "hello"), "resume", {}),
                                 (("resume", "hello", "--skip"), "resume", {"skip": True}),
                                 (("cancel", "hello", "-r", "x"), "cancel", {"reason": "x"}),
                                 (("pin", "hello", "3"), "pin", {"version": 3}),
                                 (("pin", "hello", "newest"), "pin", {"version": 0})):
            self.assertEqual(self.text("world", *args), "")
            request = self.node.requests[-1]
            self.assertEqual((request.path, request.body), (f"/v1/worlds/hello/{path}", body))
            self.assertEqual(self.object("world", *args)["world"], "hello")
        for version in ("0", "-1", "x", "1x", ""):
            self.fails(2, "is not a version", "world", "pin", "hello", "--", version)

    def test_delete_asks(self):
        self.fails(2, "delete hello with its state and its journal: not done without being sure", "world", "delete", "hello")
        self.fails(2, "say so with --yes", "world", "delete", "hello", "--json")
        self.assertEqual(self.node.requests, [])
        for answer, status in ((b"n\n", 1), (b"y\n", 0)):
            process, master, _ = self.at_terminal("world", "delete", "hello", answer=answer)
            code, shown = self.shown(process, master)
            self.assertEqual(code, status)
            self.assertIn("delete hello with its state and its journal? [y/N]", shown)
        self.assertEqual(self.one("/v1/worlds/hello").method, "DELETE")
        self.assertEqual(self.object("world", "delete", "hello", "--yes"), {"world": "hello", "status": "deleted"})


# ---- Everything else ----------------------------------------------------------------------------

class Others(NodeCase):
    def test_effects_are_named_by_hash_beginning_or_ref(self):
        pay = EFFECTS[0]["hash"]
        for word in (pay, pay[:12], "pay"):
            self.assertEqual(self.object("effect", "show", "hello", word), EFFECTS[0])
            self.assertEqual(self.node.requests[-1].query, {"world": "hello"})
            self.assertEqual(self.object("effect", "retry", "hello", word), {"world": "hello", "hash": pay})
            request = self.node.requests[-1]
            self.assertEqual((request.path, request.body), (f"/v1/effects/{pay}/retry", {"world": "hello"}))
        self.fails(3, "hello has no effect 'zzz'\nsee which there are: sapling effect list hello", "effect", "show", "hello", "zzz")
        self.fails(3, "has no effect", "effect", "show", "hello", pay[:3])
        self.node.on("GET", "/v1/effects", items(EFFECTS[0], dict(EFFECTS[1], hash=pay[:20] + "f" * 44)))
        self.fails(2, "2 effects of hello are meant by", "effect", "cancel", "hello", pay[:12])

    def test_effects_timers_and_receipts(self):
        out = self.text("effect", "list", "hello", "--kind", "bank", "--state", "pending")
        self.assertEqual(self.node.requests[-1].query, {"limit": "1000", "world": "hello", "kind": "bank", "state": "pending"})
        self.assertIn(f"hello  {EFFECTS[0]['hash'][:12]}  bank  pay     pending         2      1s   3m  "
                      '{"amount":0.1}\n', out)
        self.ok("receipt", "inject", "hello", "pay", '{"paid":true}', "--status", "error", "--code", "http_402")
        self.assertEqual(self.node.requests[-1].body, {"world": "hello", "status": "error", "code": "http_402", "body": {"paid": True}})
        self.ok("receipt", "inject", "hello", "pay")
        self.assertEqual(self.node.requests[-1].body, {"world": "hello", "status": "ok"})
        self.assertIn("hello  abababababab  remind      5m     4  -\n", self.text("timer", "list"))
        self.ok("timer", "cancel", "hello", "remind")
        self.assertEqual(self.node.requests[-1].path, f"/v1/timers/{'ab' * 32}/cancel")

    def test_dead_letters(self):
        out = self.text("dlq", "list", "hello")
        self.assertIn("hello  7-007a  refuse         1", out)
        self.assertEqual(self.node.requests[-1].path, "/v1/worlds/hello/dead-letters")
        self.assertEqual(self.lines("dlq", "list"), LETTERS)
        self.assertEqual(self.object("dlq", "show", "hello", "8-008a"), LETTERS[1])
        self.assertIn('body      {"n":7}\n', self.text("dlq", "show", "hello", "7-007a"))
        self.fails(3, "hello has no dead letter 1-1", "dlq", "show", "hello", "1-1")
        result = self.run_("dlq", "replay", "hello", "7-007a", "8-008a", "--dry-run")
        self.assertEqual((result.returncode, result.stderr), (0, b"2 dead letters would be put back into the inbox\n"))
        self.assertEqual(self.node.requests[-1].body, {"letters": [{"world": "hello", "id": i} for i in ("7-007a", "8-008a")],
                                                       "dry_run": True})
        self.ok("dlq", "replay", "--all")
        self.assertEqual(self.node.requests[-1].body, {"all": True})
        self.assertEqual(self.object("dlq", "drop", "hello", "--all", "--yes")["count"], 2)
        self.assertEqual(self.node.requests[-1].body, {"all": True, "world": "hello"})
        self.fails(2, r"which\?", "dlq", "drop", "hello")
        self.fails(2, r"which\?", "dlq", "replay")
        self.fails(2, "--all goes without ids", "dlq", "drop", "hello", "7-007a", "--all")

    def test_drop_asks_with_the_number_of_letters(self):
        self.fails(2, "drop 2 dead letters of all worlds for ever: not done without being sure", "dlq", "drop", "--all")
        self.assertEqual([r.body for r in self.node.requests], [{"all": True, "dry_run": True}])
        process, master, _ = self.at_terminal("dlq", "drop", "hello", "--all", answer=b"y\n")
        self.assertIn("2 dead letters dropped", self.shown(process, master)[1])
        self.assertEqual(self.node.requests[-1].body, {"all": True, "world": "hello"})

    def test_modules(self):
        self.program()
        self.ok("module", "put", "./hello.py", "--state", "ask", "--timeout", "5s", "--max-attempts", "3", "--on-failure",
                "skip", "--settings", '{"retention":"7d"}')
        request = self.node.requests[-1]
        self.assertEqual((request.method, request.path), ("PUT", "/v1/modules/hello"))
        self.assertEqual(request.body, {"runner": "exec:" + self.path("hello.py"), "state": "ask", "timeout_ms": 5000,
                                        "max_attempts": 3, "on_failure": "skip", "settings": {"retention": "7d"}})
        result = self.run_("module", "put", "other", "native:counter")
        self.assertEqual(self.node.requests[-1].path, "/v1/modules/other")
        self.assertEqual(result.stderr.decode(), "other: version 1, new code 3f3f3f3f, native:counter\n")
        self.fails(2, "--settings is a JSON object", "module", "put", "./hello.py", "--settings", "[]")
        self.assertIn("hello         1  3f3f3f3f3f3f", self.text("module", "list"))

    def test_workers_leases_and_assignments(self):
        self.assertIn("w1      yes      4s       2  hello@1  task, fabric.send\n", self.text("worker", "list"))
        self.assertIn("hello  w1      1        4s  yes    no\n", self.text("lease", "list"))
        self.assertIn("hello  w1             0  -\n", self.text("assign"))
        self.ok("assign", "hello", "w2", "--reason", "why", "--priority", "3")
        request = self.node.requests[-1]
        self.assertEqual((request.method, request.path, request.body),
                         ("PUT", "/v1/assignments/hello", {"worker": "w2", "priority": 3, "reason": "why"}))
        self.fails(2, "to which worker", "assign", "hello")
        self.ok("unassign", "hello")
        self.assertEqual(self.node.requests[-1].method, "DELETE")

    def test_tokens(self):
        result = self.run_("token", "create", "--scope", "read,send", "--name", "shop")
        self.assertEqual((result.stdout.decode(), self.node.requests[-1].body), (TOKEN + "\n", {"scopes": ["read", "send"], "name": "shop"}))
        self.assertEqual(result.stderr, b"the token 1f0c, which is not shown again\n")
        for scope in ("", "x", "read,x", "reads", "rea"):
            self.fails(2, "--scope", "token", "create", "--scope", scope)
        self.assertIn("1f0c  read, send  shop\n", self.text("token", "list"))
        self.ok("token", "revoke", "1f0c")
        self.assertEqual(self.node.requests[-1].path, "/v1/tokens/1f0c")

    def test_api_sends_anything(self):
        self.assertEqual(self.text("api", "get", "/metrics"), "sapling_up 1\n")
        self.assertEqual(json.loads(self.text("api", "GET", "worlds/x")), world("x"))
        self.text("api", "POST", "/v1/worlds", '{"world":"a","module":"m"}')
        request = self.node.requests[-1]
        self.assertEqual(request.body, {"world": "a", "module": "m"})
        self.assertRegex(request.key, "^[0-9a-f]{32}$")
        self.text("api", "POST", "worlds/a b/pause", "-", stdin="{}")
        self.assertEqual(self.node.requests[-1].target, "/v1/worlds/a%20b/pause")
        self.fails(3, "there is no GET /v1/nothing", "api", "GET", "nothing")
        self.node.on("GET", "/readyz", (503, "no disk\n"))
        self.fails(4, "status 503, no disk", "api", "GET", "/readyz")
        self.fails(2, "is not a method", "api", "G T", "/x")
        self.fails(2, "BODY is not JSON", "api", "POST", "/x", "{")

    def test_completion_knows_the_names_of_worlds_and_modules(self):
        self.write("c.bash", self.ok("completion", "bash"))

        def complete(*words, env=self.env):
            script = (f"source c.bash; COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; _sapling; "
                      "printf '%s\\n' \"${COMPREPLY[@]}\"")
            result = subprocess.run(["bash", "-c", script], cwd=self.dir, env=env, check=True, capture_output=True,
                                    text=True, timeout=60)
            self.assertEqual(result.stderr, "")
            return [line for line in result.stdout.split("\n") if line]

        self.node.on("GET", "/v1/worlds", lambda r: items(*(
            world(n) for n in ("hello", "hello again", "order-1", "a\nb") if n.startswith(r.query.get("prefix", "")))))
        def expect(names, *words):  # it is given half a second, which may be too short on a busy machine
            self.await_(names, lambda: complete(*words) == names)

        expect(["hello", r"hello\ again"], "sapling", "world", "show", "hel")
        self.assertEqual(self.node.asked("/v1/worlds")[-1].query, {"prefix": "hel", "limit": "100"})
        expect(["order-1"], "sapling", "world", "send", "--wait", "--id", "x", "o")
        expect([r"hello\ again"], "sapling", "effect", "list", r"'hello\ a'")
        expect(["order-1"], "sapling", "unassign", "o")
        expect(["hello"], "sapling", "world", "send", "order-1", "--module", "h")
        expect(["hello"], "sapling", "module", "show", "h")
        self.program("hello.py")
        expect(["./hello.py"], "sapling", "world", "send", "order-1", "--module", "./hel")
        self.assertEqual(complete("sapling", "world", "pin", "order-1", "c.b"), ["c.bash"])
        self.assertEqual(complete("sapling", "world", "send", "--st"), [])
        nobody = dict(self.env, SAPLING_NODE=self.no_node())
        self.assertEqual(complete("sapling", "world", "show", "hel", env=nobody), [])
        silent = self.raw(lambda connection: time.sleep(60))
        start = time.monotonic()
        self.assertEqual(complete("sapling", "world", "show", "hel", env=dict(self.env, SAPLING_NODE=silent.address)), [])
        self.assertLess(time.monotonic() - start, 20)
        for shell in ("zsh", "fish"):
            self.assertIn("world list --names" if shell == "fish" else "_sapling_worlds", self.text("completion", shell))

    def test_curl_commands_do_the_same(self):
        for args, usual in ((("POST", "/v1/worlds", '{"world":"it\'s","module":"m"}'), "--json"), (("DELETE", "worlds/x"), "-X DELETE"),
                            (("PUT", "assignments/x", '{"worker":"w"}'), "-X PUT --json"), (("GET", "worlds?limit=3&prefix=a"), "'http")):
            for local in (True, False):
                self.node.register(self.node.address, socket=self.node.socket if local else None)
                command = self.text("api", *args, "--curl")
                self.assertIn(usual, command)
                self.assertEqual("--unix-socket" in command, local)
                subprocess.run(["sh", "-c", command], check=True, capture_output=True, cwd=self.dir, timeout=60)
                by_curl = self.node.requests[-1]
                self.run_("api", *args)
                ours = self.node.requests[-1]
                self.assertEqual((by_curl.method, by_curl.target, by_curl.body, by_curl.token),
                                 (ours.method, ours.target, ours.body, ours.token))
