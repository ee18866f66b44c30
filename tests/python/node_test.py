"""The example worlds and the client with a real node: what the page of the protocol says, and that nothing is lost or
done twice when the node is killed."""
import os
import re
import shlex
import subprocess
import sys
import threading
import time
import unittest

import harness

sys.path.insert(0, harness.PACKAGE)

import sapling  # noqa: E402

PATIENCE_SECONDS = 60
KILLS = 5


def example(name):
    return "exec:" + os.path.join(harness.EXAMPLES, name)


class NodeTest(unittest.TestCase):
    def setUp(self):
        self.node = harness.Node()
        self.addCleanup(self.node.close)
        self.client = sapling.Client(socket=os.path.join(self.node.data, "node.sock"), retry_for=PATIENCE_SECONDS)
        self.addCleanup(self.client.close)

    def write(self, name, text, mode=0o755):
        """A program; the runner that names it."""
        path = os.path.join(self.node.scratch, name)
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path + ".new", mode)
        os.rename(path + ".new", path)
        return "exec:" + path

    def put(self, world, runner, **options):
        self.client.put_module(world, runner, **options)
        self.client.create(world, world)

    def until(self, holds, what):
        end = time.monotonic() + PATIENCE_SECONDS
        while not holds():
            self.assertLess(time.monotonic(), end, f"{what}: {self.node.logged()[-3000:]}")
            time.sleep(0.05)

    # ---- the examples ----

    def test_the_examples_run_in_a_node(self):
        scratch = self.node.scratch
        compiler = shlex.split(os.environ.get("CC") or "cc")
        compiled = subprocess.run([*compiler, os.path.join(harness.EXAMPLES, "hello.c"), "-ljansson", "-o",
                                           os.path.join(scratch, "hello")], check=False)
        self.assertEqual(compiled.returncode, 0)
        for name, runner in (("python", example("hello.py")), ("c", f"exec:{scratch}/hello")):
            self.put(name, runner)
            self.assertEqual(self.client.send(name, {"n": 1}, wait="30s"), {"n": 1})
            self.assertEqual(self.client.send(name, {"n": 41}, wait="30s"), {"n": 42})
            self.assertEqual(self.client.state(name), {"n": 42})
        self.put("shell", example("counter.sh"))
        for count, body in enumerate((None, '","state":{"n":99}}', {"state": {"n": 99}}, "\u2603'$(id)\n"), 1):
            self.assertEqual(self.client.send("shell", body=body, wait="30s"), count)
        self.assertEqual(self.client.query("shell"), 4)
        self.assertIn("message number 4", self.node.logged())
        self.put("stock", example("stock.py"))
        self.assertEqual(self.client.send("stock", "fill", {"item": "lamp", "count": 1}, wait="30s"), {"count": 1})
        wanted = {"item": "lamp", "order": "order-1"}
        self.assertEqual(self.client.send("stock", "reserve", wanted, wait="30s"), {"left": 0})
        with self.assertRaisesRegex(sapling.HandlerFailed, "no lamp is left"):
            self.client.send("stock", "reserve", {**wanted, "order": "order-2"}, wait="30s")
        self.assertEqual(self.client.query("stock"), {"lamp": 0})

    def test_orders_ask_the_stock_and_answer_in_a_later_step(self):
        self.put("stock", example("stock.py"))
        self.client.put_module("order", example("order.py"))
        self.client.send("stock", "fill", {"item": "lamp", "count": 1}, wait="30s")
        for world, status in (("order-1", "paid"), ("order-2", "out of stock")):
            placed = self.client.send(world, "place", {"item": "lamp", "card": "4111"}, module="order", wait="30s")
            self.assertEqual(placed, {"status": status})
        self.client.send("stock", "fill", {"item": "lamp", "count": 1}, wait="30s")
        refused = self.client.send("order-3", "place", {"item": "lamp", "card": "5"}, module="order", wait="30s")
        self.assertEqual(refused, {"status": "not paid"})
        self.until(lambda: self.client.query("stock") == {"lamp": 1}, "what was not paid is given back")
        asked = [intent for entry in self.client.journal("order-1") for intent in entry["intents"] if intent["kind"] == "ask"]
        self.assertEqual([(a["to"], a["name"], a["body"]) for a in asked],
                         [("stock", "reserve", {"item": "lamp", "order": "order-1"})])

    def test_what_a_send_can_say_reaches_the_node(self):
        self.put("sender", self.write("sender.py", "#!/usr/bin/env python3\n" \
            "from sapling import handler, run\n" \
            "@handler('go')\n" \
            "def go(e):\n" \
            "    e.send('made', 'hi', 1, 'hi-1', ref='sent', create='sink', after='10ms', headers={'a': 'b'}, retry={'attempts': 2})\n" \
            "@handler('sent', type='receipt')\n" \
            "def sent(e):\n" \
            "    e.state['sent'] = e.status\n" \
            "run()\n"))
        self.client.put_module("sink", example("hello.py"))
        self.client.send("sender", "go")
        self.until(lambda: self.client.state("sender") == {"sent": "ok"}, "the receipt of a delivery")
        self.assertEqual(self.client.world("made")["module"], "sink")

    def test_a_program_finds_the_node_by_itself(self):
        """By the file that the node has written, and again after a restart."""
        self.put("count", example("hello.py"))
        for expected in (1, 2):
            done = subprocess.run([sys.executable, "-S", "-c", "import sapling; node = sapling.Client(); print(node.where(), "
                                   "node.send('count', {'n': 1}, wait='30s'))"], capture_output=True, text=True, check=False,
                                  env={**self.node.environment, "PYTHONPATH": harness.PACKAGE})
            self.assertEqual(done.stdout, f"{self.node.data}/node.sock {{'n': {expected}}}\n", done.stderr)
            self.node.stop()
            self.node.start()

    # ---- what goes wrong ----

    def test_the_messages_of_the_page_are_those_of_the_node(self):
        """Each row of the table: a program that does it, and the message that the page shows."""
        with open(os.path.join(harness.ROOT, "docs/reference/world-protocol.md"), encoding="utf-8") as file:
            page = file.read().split("## What goes wrong", 1)[1]
        head = "#!/usr/bin/env python3\nimport json, os, sys\nfor line in sys.stdin:\n    e = json.loads(line)\n" \
               "    if e['type'] == 'create':\n        print(json.dumps({'id': e['id']}), flush=True)\n        continue\n"
        programs = (
            ("print('got here', flush=True)", "hello.py wrote \"got here\", not JSON: print to standard error"),
            ("sys.stdin.read()", "hello.py: no answer in 10 s; flush each line"),
            ("{}['n']", "hello.py exited with status 1: KeyError: 'n'"),
            ("bytearray(2 << 30)", "hello.py ran out of memory, of which it may have 1024 MiB: MemoryError"),
            ("os.kill(os.getpid(), 11)", "hello.py was killed by signal 11 (Segmentation fault)"),
            ("print('{\"id\":\"x\"}', flush=True)", "hello.py answered another id, \"...\" in place of \"...\": "
                                                     "write one line for each event"),
            ("print('{}', flush=True)", "hello.py answered without \"id\": repeat the id of the event, \"...\""),
            ("print('{\"id\":', flush=True)", "hello.py answered with what is not JSON, at byte ... of the line: ..."),
            ("print(json.dumps({'id': e['id'], 'puts': 1}), flush=True)",
             "hello.py: the answer has the unknown field \"puts\"; known are: id, put, ..."),
            ("print(json.dumps({'id': e['id'], 'put': {'k': 'x' * 69998}}), flush=True)",
             "hello.py: put \"k\": the value has 70000 bytes, more than 65536: divide it among several keys"),
            ("print('x' * (9 << 20), flush=True)", "hello.py wrote more than 8 MiB in one line"),
        )
        for number, (code, message) in enumerate(programs):
            with self.subTest(message=message):
                words = message.replace("byte ...", "byte 17")
                self.assertIn(f"`{words}`", page)
                world = f"w{number}"
                os.makedirs(os.path.join(self.node.scratch, world))
                runner = self.write(f"{world}/hello.py", head + "    " + code + "\n")
                self.put(world, runner, max_attempts=1, on_failure="skip")
                with self.assertRaises(sapling.HandlerFailed) as caught:
                    self.client.send(world, body=1, wait="60s")
                pattern = ".*".join(re.escape(part) for part in message.split("..."))
                self.assertRegex(caught.exception.message, f"(?s)^{pattern}$")
        with self.assertRaisesRegex(sapling.HandlerFailed, "a query, which may only reply or fail, has the unknown field"):
            self.client.query(self.put("q", example("hello.py")) or "q")

    def test_a_world_whose_program_is_gone_waits_and_goes_on(self):
        program = "#!/usr/bin/env python3\nfrom sapling import *\n@handler\ndef h(e): return {}\nrun()\n"
        runner = self.write("gone.py", program.format(1))
        self.put("gone", runner)
        self.assertEqual(self.client.send("gone", wait="30s"), 1)
        self.write("gone.py", program.format(2), 0o644)
        with self.assertRaises(sapling.NotYet) as caught:
            self.client.send("gone", wait=0.1)
        self.until(lambda: "is not executable: chmod +x gone.py" in self.client.world("gone")["reason"], "it waits")
        os.chmod(runner[len("exec:"):], 0o755)
        self.assertEqual(self.client.send("gone", wait="60s", key=caught.exception.key), 2)

    # ---- all calls of the client ----

    def test_the_calls_of_the_client_do_what_they_say(self):
        runner = self.write("all.py", """#!/usr/bin/env python3
from sapling import *
@handler("put")
def put(e):
    e.state.update(e.body)
    e.tag("kind", "test")
    return b"\\0ff"
@handler("ask")
def ask(e):
    e.task(slow, {"n": 1}, ref="slow")
    e.timer("late", after="1h", body=[1])
@handler("refuse")
def refuse(e): e.fail("no")
@handler("finish")
def finish(e): e.done({"n": len(e.state)})
@handler("slow", type="receipt")
def receipt(e): e.state["receipt"] = [e.status, e.code, e.body]
@handler("late", type="timer")
def late(e): e.state["late"] = True
@handler(type="cancel")
def cancelled(e): e.state["cancelled"] = e.body
@handler(type="query")
def query(e): return [e.name, e.body, e.state.get("k")]
@task
def slow(t):
    import time
    for i in range(600):
        t.beat(i)
        time.sleep(0.1)
run()
""")
        client = self.client
        self.assertTrue(client.is_ready())
        self.assertEqual(client.put_module("all", runner, max_attempts=2)["version"], 1)
        self.assertFalse(client.put_module("all", runner, max_attempts=2)["changed"])
        self.assertEqual([m["name"] for m in client.modules()], ["all"])
        self.assertEqual(client.module("all")["runner"], runner)
        client.create("a", "all", {"x": 1}, key="create-a")
        client.create("a", "all", {"x": 1}, key="create-a")
        with self.assertRaises(sapling.Conflict) as caught:
            client.create("a", "all")
        self.assertEqual(caught.exception.code, "world_exists")
        with self.assertRaises(sapling.NotFound) as caught:
            client.send("nobody", body=1)
        self.assertEqual(caught.exception.code, "unknown_world")
        rows = {"k": "v", "b": b"\0", "c": sapling.Cbor(b"\xa1aa\x01"), **{f"r{i:04}": i for i in range(1500)}}
        self.assertEqual(client.send("a", "put", rows, wait="30s"), b"\0ff")
        self.assertEqual(client.state("a"), rows)
        self.assertEqual(client.state("a", prefix="r00"), {f"r{i:04}": i for i in range(100)})
        self.assertEqual(client.state("a", step=1), {})
        self.assertEqual(client.query("a", "total", {"q": 1}), ["total", {"q": 1}, "v"])
        self.assertEqual(client.query("a", strong=True), ["", None, "v"])
        self.assertEqual(client.world("a")["tags"], {"kind": "test"})
        self.assertEqual([w["world"] for w in client.worlds(tag="kind=test", module="all")], ["a"])
        client.send("a", "ask")
        self.until(lambda: [t["ref"] for t in client.timers(world="a")] == ["late"], "the timer is armed")
        self.until(lambda: [e["state"] for e in client.effects(world="a")] == ["inflight"], "the task runs")
        (effect,) = client.effects(world="a", kind="task")
        self.assertEqual(client.effect(effect["hash"], "a")["ref"], "slow")
        self.assertEqual(sorted(o["ref"] for o in client.outstanding("a")), ["late", "slow"])
        client.answer_effect(effect["hash"], "a", "error", {"by": "hand"}, code="given_up")
        self.until(lambda: client.state("a").get("receipt") == ["error", "given_up", {"by": "hand"}], "the receipt")
        (timer,) = client.timers(world="a")
        client.cancel_timer(timer["hash"], "a")
        self.assertEqual(list(client.timers(world="a")), [])
        with self.assertRaisesRegex(sapling.HandlerFailed, "^no$"):
            client.send("a", "refuse", {"r": 1}, wait="30s")
        (letter,) = client.dead_letters()
        self.assertEqual((letter["world"], letter["error"], letter["body"]), ("a", "no", {"r": 1}))
        self.assertEqual(client.replay([letter], dry_run=True)["count"], 1)
        self.assertEqual(client.replay(world="a", everything=True)["count"], 1)
        self.until(lambda: len(list(client.dead_letters("a"))) == 1, "it is refused again")
        self.assertEqual(client.drop(list(client.dead_letters("a")))["count"], 1)
        self.assertEqual(list(client.dead_letters()), [])
        client.pause("a", "for a test")
        self.assertEqual((client.world("a")["status"], client.world("a")["reason"]), ("paused", "for a test"))
        with self.assertRaises(sapling.NotYet) as caught:
            client.send("a", "put", {"n": 1}, wait=0.2)
        client.resume("a")
        self.assertEqual(client.send("a", "put", {"n": 1}, wait="30s", key=caught.exception.key), b"\0ff")
        client.cancel("a", "enough")
        self.until(lambda: client.state("a").get("cancelled") == "enough", "the cancel event")
        client.pin("a", 1)
        client.pin("a", 0)
        (worker,) = client.workers()
        client.assign("a", worker["worker"], reason="test")
        self.assertEqual([one["world"] for one in client.assignments()], ["a"])
        client.unassign("a")
        client.send("a", "put", {"n": 2}, wait="30s")
        self.until(lambda: [one["holder"] for one in client.leases()] == [worker["worker"]], "it is held")
        with self.assertRaises(sapling.NotYet):
            client.result("a")
        client.send("a", "finish")
        self.assertEqual(client.result("a", wait="30s"), {"n": len(client.state("a"))})
        steps = [entry["step"] for entry in client.journal("a")]
        self.assertEqual(steps, list(range(1, len(steps) + 1)))
        self.assertEqual(client.status()["worlds"]["total"], 1)
        self.assertIn("sapling_", client.metrics())
        client.delete("a")
        self.assertEqual(client.world("a")["status"], "deleted")

    def test_a_token_opens_the_node_over_tcp_as_far_as_its_scopes_go(self):
        made = self.client.create_token(["read"], "reader")
        path = os.path.join(self.node.scratch, "reader")
        with open(path, "w", encoding="utf-8") as file:
            file.write(made["token"])
        with sapling.Client(self.node.address, token_file=path) as reader:
            self.assertEqual(reader.status()["listen"], self.node.address)
            with self.assertRaises(sapling.NotAllowed) as caught:
                reader.put_module("m", example("hello.py"))
            self.assertIn(caught.exception.code, ("needs_scope", "module_not_allowed"))
            self.assertEqual([t["id"] for t in self.client.tokens() if "reader" in t.values()], [made["id"]])
            self.client.revoke_token(made["id"])
            with self.assertRaises(sapling.NotAllowed):
                reader.status()

    # ---- kills ----

    def test_what_a_client_sends_while_the_node_is_killed_happens_once(self):
        self.put("count", example("hello.py"))
        replies, stop = [], threading.Event()

        def send():
            while not stop.is_set():
                replies.append(self.client.send("count", {"n": 1}, wait="60s")["n"])
        threads = [threading.Thread(target=send) for _ in range(4)]
        for thread in threads:
            thread.start()
        for kill in range(KILLS):
            begun = len(replies)
            self.until(lambda: len(replies) > begun + 10, f"replies before kill {kill}")
            self.node.kill()
            self.node.start()
        stop.set()
        for thread in threads:
            thread.join(PATIENCE_SECONDS)
        self.assertEqual(sorted(replies), list(range(1, len(replies) + 1)))
        self.assertEqual(self.client.state("count"), {"n": len(replies)})
        print(f"{len(replies)} messages, {KILLS} kills")

    def test_a_node_that_is_stopped_leaves_no_program_behind(self):
        self.put("count", example("hello.py"))
        self.client.send("count", {"n": 1}, wait="30s")
        self.assertEqual(self.node.stop(), 0)
        for name in os.listdir("/proc"):
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    self.assertNotIn(self.node.scratch.encode(), file.read())
            except OSError:
                continue


if __name__ == "__main__":
    unittest.main()
