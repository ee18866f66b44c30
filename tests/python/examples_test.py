"""The example worlds, each over the protocol; the sentences at their heads are what is tested."""
import os
import shlex
import subprocess
import sys
import tempfile
import shutil
import unittest

import harness
from fake_node import FakeNode, once


def example(name):
    return os.path.join(harness.EXAMPLES, name)


class ExamplesTest(unittest.TestCase):
    def world(self, *command, **more):
        world = harness.World(*command, **more)
        self.addCleanup(world.close)
        return world

    def assert_counts_what_it_is_sent(self, *command):
        world = self.world(*command, python_path=None)
        self.assertEqual(world.event("create")["reply"], {"n": 0})
        self.assertEqual(world.message({"n": 1})["reply"], {"n": 1})
        self.assertEqual(world.message({"n": 41})["reply"], {"n": 42})
        self.assertEqual(world.state, {"n": 42})
        other = self.world(*command, name='of "another" name\n', state={"n": 1, "other": {"n": 7}}, python_path=None)
        self.assertEqual(other.message({"n": -1, "text": "\u2603\0"})["reply"], {"n": 0})
        self.assertEqual(world.close(), 0)
        self.assertEqual(other.close(), 0)

    def test_hello_in_python_counts_what_it_is_sent(self):
        self.assert_counts_what_it_is_sent(sys.executable, example("hello.py"))
        with open(example("hello.py"), encoding="utf-8") as file:
            self.assertLessEqual(len([line for line in file if line.strip()]), 10)

    def test_hello_in_c_counts_what_it_is_sent(self):
        scratch = tempfile.mkdtemp(prefix="sapling-hello-")
        self.addCleanup(shutil.rmtree, scratch)
        program = os.path.join(scratch, "hello")
        compiler = shlex.split(os.environ.get("CC") or "cc")
        done = subprocess.run([*compiler, "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-g", "-fsanitize=undefined",
                               "-fno-sanitize-recover", example("hello.c"), "-o", program, "-ljansson"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_counts_what_it_is_sent(program)
        world = self.world(program, state={"n": 2 ** 63 - 1})
        self.assertIn("64 bits", world.message({"n": 1})["fail"]["message"])
        world.write(b"{broken\n")
        self.assertEqual(world.process.wait(30), 1)
        self.assertIn("hello: ", world.errors())

    def test_counter_in_shell_counts_messages_whatever_is_in_them(self):
        world = self.world(example("counter.sh"))
        self.assertEqual(world.event("create"), {})
        bodies = (None, 7, '","state":{"n":99}}', {"state": {"n": 99}}, "a\\b\nc'$(id)`id`\"", [{"id": "x"}], "\u2603" * 1000)
        for count, body in enumerate(bodies, 1):
            self.assertEqual(world.message(body), {"put": {"n": count}, "reply": count})
        self.assertEqual(world.event("query", reply_to="q"), {"reply": len(bodies)})
        self.assertIs(world.event("timer", ref="t")["fail"]["retry"], False)
        self.assertIn("message number 1\n", world.errors())
        self.assertEqual(world.state, {"n": len(bodies)})

    def test_counter_in_shell_ends_rather_than_answer_a_line_that_it_cannot_read(self):
        world = self.world(example("counter.sh"), name='a "quoted" world')
        world.write(world.line_of("message"))
        self.assertEqual(world.read_line(), b"")
        self.assertEqual(world.process.wait(30), 1)
        self.assertIn("cannot read", world.errors())

    def order(self, *arguments):
        return self.world(example("order.py"), *arguments, name="order-1")

    def place(self, world, card="4111"):
        answer = world.message({"item": "lamp", "card": card}, name="place")
        self.assertEqual(answer["do"], [
            {"ask": "stock", "name": "reserve", "body": {"item": "lamp", "order": "order-1"}, "timeout": "30s",
             "ref": "reserve"}, {"timer": "give-up", "after": "15m"}])
        self.assertNotIn("reply", answer)

    def reserve(self, world):
        answer = world.event("receipt", ref="reserve", status="ok", body={"left": 1})
        (task,) = answer["do"]
        self.assertEqual((task["task"], task["args"]), ("charge", {"card": world.state["card"], "order": "order-1"}))
        return task

    def charge(self, world, task, **fields):
        return world.event("task", name=task["task"], ref=task["ref"], body=task["args"], key="0123456789abcdef", **fields)

    def settled(self, answer, outcome):
        self.assertEqual(answer["tags"], {"status": outcome})
        self.assertIn({"reply": "r-1", "body": {"status": outcome}}, answer["do"])

    def test_an_order_is_placed_reserved_charged_and_then_answered(self):
        world = self.order()
        self.place(world)
        task = self.reserve(world)
        done = self.charge(world, task)
        self.assertEqual((done, world.beats), ({"ok": {"receipt": "bank-01234567"}}, ["asking the bank"]))
        answer = world.event("receipt", ref="charge", status="ok", body=done["ok"])
        self.settled(answer, "paid")
        self.assertIn({"cancel": "give-up"}, answer["do"])
        self.assertEqual(world.event("query", name="status", reply_to="q")["reply"],
                         {"status": "paid", "item": "lamp", "receipt": "bank-01234567"})
        self.assertEqual(world.message({"item": "lamp", "card": "4"}, name="place")["fail"],
                         {"message": "the order is paid already", "retry": False})

    def test_an_order_whose_card_is_refused_gives_its_goods_back(self):
        world = self.order()
        self.place(world, card="5555")
        failed = self.charge(world, self.reserve(world))
        self.assertEqual(failed, {"error": {"code": "refused", "message": "the card is refused", "retry": False}})
        answer = world.event("receipt", ref="charge", status="error", code="refused", body=failed["error"])
        self.settled(answer, "not paid")
        self.assertEqual(answer["do"][0], {"send": "stock", "name": "release", "body": {"item": "lamp", "order": "order-1"}})
        self.assertIn("order-1: the card was not charged: refused", world.errors())

    def test_an_order_without_goods_or_time_ends(self):
        world = self.order()
        self.place(world)
        self.settled(world.event("receipt", ref="reserve", status="error", code="handler_failed"), "out of stock")
        world = self.order()
        self.place(world)
        answer = world.event("timer", ref="give-up")
        self.settled(answer, "given up")
        self.assertEqual(answer["do"][:2], [{"cancel": "reserve"}, {"cancel": "charge"}])

    def test_an_order_asks_a_bank_with_the_key_of_its_task(self):
        bank = FakeNode(once((500, "down"), (200, "receipt-7")))
        self.addCleanup(bank.close)
        world = self.order(f"http://{bank.address}/charge")
        self.place(world)
        task = self.reserve(world)
        failed = self.charge(world, task)["error"]
        self.assertIn("HTTP Error 500", failed["message"])
        self.assertIs(failed["retry"], True)
        self.assertEqual(self.charge(world, task, attempt=2), {"ok": {"receipt": "receipt-7"}})
        self.assertEqual({asked.headers["Idempotency-Key"] for asked in bank.asked}, {"0123456789abcdef"})

    def test_a_stock_reserves_what_it_has_and_takes_back_once(self):
        world = self.world(example("stock.py"), name="stock")
        self.assertEqual(world.message({"item": "lamp", "count": 1}, name="fill")["reply"], {"count": 1})
        wanted = {"item": "lamp", "order": "order-1"}
        self.assertEqual(world.message(wanted, name="reserve")["reply"], {"left": 0})
        self.assertEqual(world.message({**wanted, "order": "order-2"}, name="reserve")["fail"],
                         {"message": "no lamp is left", "retry": False})
        for _ in range(2):
            world.message(wanted, name="release")
        self.assertEqual(world.event("query", reply_to="q")["reply"], {"lamp": 1})
        self.assertEqual(world.state, {"count/lamp": 1})

    def test_the_list_of_examples_is_complete(self):
        with open(example("README.md"), encoding="utf-8") as file:
            text = file.read()
        for name in os.listdir(harness.EXAMPLES):
            self.assertTrue(name == "README.md" or f"[{name}]({name})" in text, name)
            self.assertEqual(os.access(example(name), os.X_OK), name.endswith((".py", ".sh")), name)


if __name__ == "__main__":
    unittest.main()
