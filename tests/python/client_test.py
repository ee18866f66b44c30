"""The client of the HTTP API, against a node that answers as the test wants."""
import json
import os
import shutil
import sys
import tempfile
import threading
import time
import unittest

import harness
from fake_node import FakeNode, once

sys.path.insert(0, harness.PACKAGE)

import sapling  # noqa: E402
from sapling import find  # noqa: E402

GONE_PID = 2 ** 22 + 1


class ClientTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.mkdtemp(prefix="sapling-client-")
        self.addCleanup(shutil.rmtree, self.scratch)
        self.environment = {"XDG_STATE_HOME": self.scratch, "SAPLING_NODE": ""}
        before = {name: os.environ.get(name) for name in self.environment}
        os.environ.update(self.environment)

        def restore():
            for name, value in before.items():
                os.environ.pop(name, None)
                if value is not None:
                    os.environ[name] = value
        self.addCleanup(restore)
        registries = find.registries
        find.registries = lambda: registries()[:1]  # not the nodes of this machine
        self.addCleanup(setattr, find, "registries", registries)

    def node(self, *answers, path=None, **more):
        """A node that answers so, and a client of it."""
        answers = answers[0] if len(answers) == 1 and callable(answers[0]) else once(*answers)
        node = FakeNode(answers, path)
        self.addCleanup(node.close)
        client = sapling.Client(**({"socket": path} if path else {"address": node.address}), **more)
        self.addCleanup(client.close)
        return node, client

    def register(self, address, **fields):
        directory = os.path.join(self.scratch, "sapling", "nodes")
        os.makedirs(directory, exist_ok=True)
        with open(os.path.join(directory, address + ".json"), "w", encoding="utf-8") as file:
            json.dump({"address": address, "pid": os.getpid(), **fields}, file)

    # ---- finding ----

    def test_the_default_node_is_found_by_its_file_and_its_socket_is_preferred(self):
        self.register("127.0.0.1:7227", socket="/run/x.sock", token_file="/nowhere")
        self.register("127.0.0.1:9", socket="/run/y.sock")
        self.assertEqual(sapling.Client().where(), "/run/x.sock")
        self.assertEqual(sapling.Client("127.0.0.1:9").where(), "/run/y.sock")
        os.environ["SAPLING_NODE"] = "127.0.0.1:9"
        self.assertEqual(sapling.Client().where(), "/run/y.sock")

    def test_the_only_node_is_found_wherever_it_is_and_of_several_none(self):
        self.register("127.0.0.1:9", socket="/run/y.sock")
        self.assertEqual(sapling.Client().where(), "/run/y.sock")
        self.register("127.0.0.1:7227", socket="/run/x.sock", pid=GONE_PID)
        self.assertEqual(sapling.Client().where(), "/run/y.sock")
        self.register("127.0.0.1:10", socket="/run/z.sock")
        with self.assertRaisesRegex(sapling.NoNode, "127.0.0.1:10, 127.0.0.1:9\nname one"):
            sapling.Client()

    def test_files_that_are_no_node_s_are_passed_over(self):
        directory = os.path.join(self.scratch, "sapling", "nodes")
        os.makedirs(directory)
        for name, text in (("a.json", "{"), ("b.json", "[]"), ("c.json", '{"address":7}'), ("d.txt", "{}"),
                           ("e.json", '{"address":"127.0.0.1:8","pid":"x"}'), ("f.json", "\xff")):
            with open(os.path.join(directory, name), "w", encoding="latin-1") as file:
                file.write(text)
        self.assertEqual(sapling.Client().where(), "127.0.0.1:7227")

    def test_no_node_says_how_to_start_one_at_once(self):
        client = sapling.Client("127.0.0.1:1")
        start = time.monotonic()
        with self.assertRaisesRegex(sapling.NoNode, "no node at 127.0.0.1:1 .connection refused.\nstart one: sapling up") as caught:
            client.status()
        self.assertEqual(caught.exception.code, "no_node")
        self.assertLess(time.monotonic() - start, 5)
        with self.assertRaisesRegex(sapling.NoNode, "no such socket"):
            sapling.Client(socket=self.scratch + "/none").status()
        with self.assertRaisesRegex(sapling.NoNode, "not the address"):
            sapling.Client("nonsense").status()

    def test_over_tcp_the_token_of_the_node_is_sent_and_over_the_socket_none(self):
        token = os.path.join(self.scratch, "token")
        with open(token, "w", encoding="utf-8") as file:
            file.write("secret\n")
        node, _ = self.node((200, {}))
        self.register(node.address, token_file=token)
        self.status_of(node.address)
        self.assertEqual(node.asked[-1].headers["Authorization"], "Bearer secret")
        path = os.path.join(self.scratch, "node.sock")
        local, _ = self.node((200, {}), path=path)
        self.register("127.0.0.1:5", socket=path, token_file=token)
        self.status_of("127.0.0.1:5")
        self.assertNotIn("Authorization", local.asked[-1].headers)
        self.assertEqual(local.asked[-1].headers["Host"], "localhost")
        self.register(node.address, socket=path, token_file="/nowhere")
        with sapling.Client(node.address, token_file=token) as client:  # whoever gives a token wants its scopes
            client.status()
        self.assertEqual(node.asked[-1].headers["Authorization"], "Bearer secret")
        with self.assertRaisesRegex(sapling.NoNode, "token file"):
            sapling.Client(node.address, token_file="/nowhere/token")

    @staticmethod
    def status_of(address):
        with sapling.Client(address) as client:
            return client.status()

    def test_a_node_that_was_started_elsewhere_meanwhile_is_found_again(self):
        first, _ = self.node((200, {"n": 1}))
        self.register("127.0.0.1:7227", socket=None)
        second = FakeNode(once((200, {"n": 2})), os.path.join(self.scratch, "second.sock"))
        self.addCleanup(second.close)
        os.unlink(os.path.join(self.scratch, "sapling/nodes/127.0.0.1:7227.json"))
        self.register(first.address)
        client = sapling.Client()
        self.addCleanup(client.close)
        self.assertEqual(client.status(), {"n": 1})
        first.server.shutdown()
        first.server.socket.close()
        self.register(first.address, socket=second.address)
        client._once = self.failing_first(client._once)  # the node's threads keep their connections
        self.assertEqual(client.status(), {"n": 2})

    @staticmethod
    def failing_first(function):
        calls = []

        def call(*arguments):
            calls.append(1)
            if len(calls) == 1:
                raise ConnectionResetError()
            return function(*arguments)
        return call

    # ---- repeating ----

    def test_a_lost_connection_is_repeated_with_the_same_key(self):
        for lost in ("drop", "half"):
            node, client = self.node((200, {}), lost, lost, (202, {"seq": "1", "id": "x", "duplicate": False}))
            client.status()
            self.assertEqual(client.send("w", body=1)["seq"], "1")
            keys = {asked.headers.get("Idempotency-Key") for asked in node.asked[1:]}
            self.assertEqual((len(node.asked), len(keys)), (4, 1))
            self.assertEqual(len(keys.pop()), 32)

    def test_busy_and_stopping_nodes_are_asked_again_with_the_same_key(self):
        for status, code in ((429, "busy"), (503, "stopping"), (503, "outcome_unknown")):
            node, client = self.node((status, {"code": code, "message": "later"}, {"Retry-After": "0"}), (201, {"world": "w"}))
            client.create("w", "m")
            self.assertEqual(len({asked.headers["Idempotency-Key"] for asked in node.asked}), 1)
            self.assertEqual(len(node.asked), 2)

    def test_a_node_that_stays_busy_is_an_error_in_the_end(self):
        node, client = self.node((429, {"code": "busy", "message": "too much", "detail": {"a": 1}}), retry_for=0.3)
        with self.assertRaises(sapling.Busy) as caught:
            client.send("w", body=1)
        self.assertEqual((caught.exception.code, caught.exception.status, caught.exception.detail), ("busy", 429, {"a": 1}))
        self.assertGreater(len(node.asked), 1)

    def test_a_node_that_does_not_come_back_says_that_the_outcome_is_not_known(self):
        _, client = self.node((200, {}), "drop", retry_for=0.3)
        client.status()
        with self.assertRaisesRegex(sapling.Unavailable, "not known whether"):
            client.send("w", body=1)

    def test_a_node_that_does_not_answer_is_given_up(self):
        def sleepy(_):
            time.sleep(0.3)
            return 200, {}
        _, client = self.node(sleepy, retry_for=0.1, timeout=0.1)
        with self.assertRaisesRegex(sapling.Unavailable, "does not answer"):
            client.status()

    def test_other_errors_are_not_repeated_and_have_their_type(self):
        cases = ((400, "bad_request", sapling.BadRequest), (401, "needs_token", sapling.NotAllowed),
                 (403, "needs_scope", sapling.NotAllowed), (404, "unknown_world", sapling.NotFound),
                 (405, "method", sapling.BadRequest), (409, "world_exists", sapling.Conflict),
                 (413, "too_large", sapling.BadRequest), (415, "send_json", sapling.BadRequest),
                 (422, "handler_failed", sapling.HandlerFailed), (500, "store_failed", sapling.Unavailable),
                 (507, "disk_full", sapling.Unavailable), (418, "tea", sapling.BadRequest), (599, "odd", sapling.SaplingError))
        for status, code, kind in cases:
            node, client = self.node((status, {"code": code, "message": "what to do"}))
            with self.assertRaisesRegex(kind, "what to do") as caught:
                client.send("w", body=1)
            self.assertEqual((caught.exception.code, caught.exception.status), (code, status))
            self.assertIsInstance(caught.exception, sapling.SaplingError)
            self.assertEqual(len(node.asked), 1)

    def test_answers_that_are_no_node_s_are_errors_too(self):
        _, client = self.node((502, "<html>proxy</html>"))
        with self.assertRaisesRegex(sapling.SaplingError, "502.*proxy"):
            client.status()
        _, client = self.node((200, "{", {"Content-Type": "application/json"}))
        with self.assertRaisesRegex(sapling.SaplingError, "not JSON"):
            client.status()
        _, client = self.node((404, {"surprise": 1}))
        with self.assertRaises(sapling.NotFound):
            client.status()

    # ---- sending ----

    def test_send_says_what_was_given_and_nothing_else(self):
        node, client = self.node((202, {"seq": "1", "id": "", "duplicate": False}))
        client.send("w / ö", {"n": 1})
        self.assertEqual((node.asked[-1].path, node.asked[-1].query, node.asked[-1].body),
                         ("/v1/worlds/w%20%2F%20%C3%B6/messages", "", {"body": {"n": 1}}))
        client.send("w", "add", [1], module="m", id="i", correlation_id="c", priority=3, key="k")
        self.assertEqual(node.asked[-1].body, {"name": "add", "body": [1], "module": "m", "id": "i", "correlation_id": "c",
                                               "priority": 3})
        self.assertEqual(node.asked[-1].headers["Idempotency-Key"], "k")
        client.send("w", body=b"\0")
        self.assertEqual(node.asked[-1].body, {"body": {"b64": "AA=="}, "encoding": "raw"})
        client.send("w", body=sapling.Cbor(b"\xf6"))
        self.assertEqual(node.asked[-1].body, {"body": {"b64": "9g=="}, "encoding": "cbor"})
        client.send("w")
        self.assertEqual(node.asked[-1].body, {})
        for bad in (lambda: client.send("w", {"a": 1}, {"b": 1}), lambda: client.send("", 1), lambda: client.send("w", body={1}),
                    lambda: client.send("w", body=float("nan")), lambda: client.send("w", body=1, wait="soon")):
            with self.assertRaises((TypeError, ValueError)):
                bad()

    def test_a_send_that_waits_returns_the_reply(self):
        for answer, reply in (((200, {"reply": {"n": 2}, "step": 3}), {"n": 2}), ((204, None), None),
                              ((200, {"reply": {"b64": "AA=="}, "encoding": "raw", "step": 1}), b"\0"),
                              ((200, {"reply": None, "step": 1}), None)):
            node, client = self.node(answer)
            self.assertEqual(client.send("w", body=1, wait="5s"), reply)
            self.assertRegex(node.asked[-1].query, r"^wait=(5000|49\d\d)ms$")

    def test_a_wait_is_continued_with_the_same_key_until_its_time_is_over(self):
        node, client = self.node((202, {"seq": "1"}), (202, {"seq": "1"}), (200, {"reply": 7, "step": 1}))
        self.assertEqual(client.send("w", body=1, wait=30), 7)
        self.assertEqual(len({asked.headers["Idempotency-Key"] for asked in node.asked}), 1)
        self.assertEqual(len(node.asked), 3)
        node, client = self.node((202, {"seq": "1"}))
        with self.assertRaises(sapling.NotYet) as caught:
            client.send("w", body=1, wait=0.05)
        self.assertIsInstance(caught.exception, TimeoutError)
        self.assertEqual(caught.exception.key, node.asked[0].headers["Idempotency-Key"])
        self.assertEqual(caught.exception.detail, {"seq": "1"})

    def test_a_handler_that_refused_is_an_error_with_its_words(self):
        _, client = self.node((422, {"code": "handler_failed", "message": "not enough money"}))
        with self.assertRaisesRegex(sapling.HandlerFailed, "not enough money"):
            client.send("w", body=1, wait="5s")

    # ---- reading ----

    def test_lists_and_states_are_read_page_by_page(self):
        def pages(asked):
            if asked.path.endswith("/state"):
                if "after=k2" in asked.query:
                    return 200, {"step": 5, "rows": [{"key": {"b64": "/w=="}, "value": 3}]}
                return 200, {"step": 5, "next": "k2", "rows": [{"key": "k1", "value": [1]},
                                                               {"key": "k2", "value": {"b64": "AA=="}, "encoding": "raw"}]}
            if "after=b" in asked.query:
                return 200, {"items": [{"world": "c"}]}
            return 200, {"items": [{"world": "a"}, {"world": "b"}], "next": "b"}
        node, client = self.node(pages)
        self.assertEqual([w["world"] for w in client.worlds(status="active")], ["a", "b", "c"])
        self.assertEqual([w["world"] for w in client.worlds(limit=2)], ["a", "b"])
        self.assertEqual(client.state("w"), {"k1": [1], "k2": b"\0", b"\xff": 3})
        self.assertIn("step=5", node.asked[-1].query)

    def test_the_journal_is_read_to_its_end(self):
        def entries(asked):
            query = dict(part.split("=") for part in asked.query.split("&"))
            after, limit = int(query.get("after", 0)), min(2, int(query["limit"]))
            return 200, {"step": 3, "entries": [{"step": s} for s in range(after + 1, 4)][:limit]}
        _, client = self.node(entries)
        self.assertEqual([e["step"] for e in client.journal("w")], [1, 2, 3])
        self.assertEqual([e["step"] for e in client.journal("w", after=1, limit=1)], [2])

    def test_a_result_is_waited_for(self):
        _, client = self.node((204, None), (200, {"failed": False, "result": [1], "step": 2}))
        self.assertEqual(client.result("w", wait="5s"), [1])
        _, client = self.node((204, None))
        with self.assertRaises(sapling.NotYet):
            client.result("w")
        _, client = self.node((200, {"failed": True, "result": "lost", "step": 2}))
        with self.assertRaisesRegex(sapling.HandlerFailed, "lost"):
            client.result("w")

    def test_every_call_asks_the_route_of_the_contract(self):
        node, client = self.node(lambda asked: (200, {"items": [], "entries": [], "reply": 1, "rows": [], "step": 0}))
        letters = [{"world": "w", "id": "1-2", "error": "x"}]
        calls = (
            (client.status, "GET /v1/status", None), (client.is_ready, "GET /readyz", None),
            (client.metrics, "GET /metrics", None),
            (lambda: client.put_module("hello", "exec:/h.py a", state="ask"), "PUT /v1/modules/hello",
             {"runner": "exec:/h.py a", "state": "ask"}),
            (client.modules, "GET /v1/modules", None), (lambda: client.module("m"), "GET /v1/modules/m", None),
            (lambda: client.create("w", "m", {"a": 1}), "POST /v1/worlds", {"world": "w", "module": "m", "body": {"a": 1}}),
            (lambda: list(client.worlds(tag="t", module="m", prefix="p")), "GET /v1/worlds", None),
            (lambda: client.world("w"), "GET /v1/worlds/w", None),
            (lambda: client.outstanding("w"), "GET /v1/worlds/w/outstanding", None),
            (lambda: client.query("w", "total", strong=True), "POST /v1/worlds/w/query", {"name": "total"}),
            (lambda: client.pause("w", "why"), "POST /v1/worlds/w/pause", {"reason": "why"}),
            (lambda: client.resume("w"), "POST /v1/worlds/w/resume", {}),
            (lambda: client.resume("w", skip=True), "POST /v1/worlds/w/resume", {"skip": True}),
            (lambda: client.cancel("w"), "POST /v1/worlds/w/cancel", {"reason": ""}),
            (lambda: client.pin("w", 3), "POST /v1/worlds/w/pin", {"version": 3}),
            (lambda: client.delete("w", "why"), "DELETE /v1/worlds/w", None),
            (lambda: list(client.dead_letters("w")), "GET /v1/dead-letters", None),
            (lambda: client.replay(letters, dry_run=True), "POST /v1/dead-letters/replay",
             {"letters": [{"world": "w", "id": "1-2"}], "dry_run": True}),
            (lambda: client.drop(world="w", everything=True), "POST /v1/dead-letters/drop", {"all": True, "world": "w"}),
            (lambda: list(client.effects(world="w", kind="k", state="pending")), "GET /v1/effects", None),
            (lambda: client.effect("h", "w"), "GET /v1/effects/h", None),
            (lambda: client.retry_effect("h", "w"), "POST /v1/effects/h/retry", {"world": "w"}),
            (lambda: client.cancel_effect("h", "w"), "POST /v1/effects/h/cancel", {"world": "w"}),
            (lambda: client.answer_effect("h", "w", "error", {"a": 1}, code="c"), "POST /v1/effects/h/receipt",
             {"world": "w", "status": "error", "code": "c", "body": {"a": 1}}),
            (lambda: list(client.timers(world="w")), "GET /v1/timers", None),
            (lambda: client.cancel_timer("h", "w"), "POST /v1/timers/h/cancel", {"world": "w"}),
            (lambda: list(client.leases()), "GET /v1/leases", None), (lambda: list(client.workers()), "GET /v1/workers", None),
            (lambda: list(client.assignments()), "GET /v1/assignments", None),
            (lambda: client.assign("w", "n", priority=2), "PUT /v1/assignments/w", {"worker": "n", "priority": 2, "reason": ""}),
            (lambda: client.unassign("w"), "DELETE /v1/assignments/w", None),
            (client.tokens, "GET /v1/tokens", None),
            (lambda: client.create_token(["read"], "me"), "POST /v1/tokens", {"scopes": ["read"], "name": "me"}),
            (lambda: client.revoke_token("t"), "DELETE /v1/tokens/t", None),
        )
        for call, route, body in calls:
            call()
            asked = node.asked[-1]
            self.assertEqual((f"{asked.method} {asked.path}", asked.body), (route, body))
            self.assertEqual("Idempotency-Key" in asked.headers, asked.method != "GET" and "query" not in route, route)
            self.assertEqual(asked.headers.get("Content-Type"), "application/json" if body is not None else None, route)
        for bad in (lambda: client.replay(), lambda: client.drop(letters, everything=True)):
            with self.assertRaisesRegex(ValueError, "everything=True"):
                bad()

    def test_programs_of_modules_are_named_by_their_whole_path(self):
        node, client = self.node((200, {}))
        for given, sent in (("exec:hello.py", "exec:" + os.path.abspath("hello.py")), ("exec:/a b/x", "exec:/a b/x"),
                            ("exec:./h.py 1 2", "exec:" + os.path.abspath("h.py") + " 1 2"), ("native:x", "native:x"),
                            ('exec:"/a b/h.py" 1', 'exec:"/a b/h.py" 1')):
            client.put_module("m", given)
            self.assertEqual(node.asked[-1].body["runner"], sent)

    # ---- connections ----

    def test_one_connection_serves_many_requests_and_each_thread_has_its_own(self):
        opened = []
        node, client = self.node((200, {"items": []}))
        connect = client._connect
        client._connect = lambda timeout: opened.append(len(client._idle)) or connect(timeout)
        for _ in range(5):
            client.status()
        self.assertEqual(opened, [0, 1, 1, 1, 1])
        threads = [threading.Thread(target=lambda: [client.status() for _ in range(50)]) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(node.asked), 405)
        self.assertLessEqual(len(client._idle), 8)

    def test_a_closed_client_says_so_and_a_forked_one_has_connections_of_its_own(self):
        _, client = self.node((200, {}))
        client.status()
        parents = client._idle[0]
        pid = os.fork()
        if pid == 0:
            fine = client.status() == {} and client._idle[0] is not parents
            os._exit(0 if fine else 1)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        client.status()
        client.close()
        with self.assertRaisesRegex(RuntimeError, "closed"):
            client.status()

    def test_the_client_is_loaded_only_where_it_is_used(self):
        code = "import sys, sapling; assert 'http.client' not in sys.modules; sapling.Client; assert 'http.client' in sys.modules"
        program = harness.Program(sys.executable, "-S", "-c", code)
        self.assertEqual(program.process.wait(60), 0, program.errors())
        program.close()


if __name__ == "__main__":
    unittest.main()
