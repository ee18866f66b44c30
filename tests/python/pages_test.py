"""The pages about Python: what they show runs, and they leave nothing of the package out."""
import inspect
import os
import re
import sys
import textwrap
import unittest

import harness
from fake_node import FakeNode

sys.path.insert(0, harness.PACKAGE)

import sapling  # noqa: E402

REFERENCE = "docs/reference/python.md"


def read(path):
    with open(os.path.join(harness.ROOT, path), encoding="utf-8") as file:
        return file.read()


def programs_of(path):
    return re.findall(r"^```python\n(.*?)^```$", read(path), re.S | re.M)


class PagesTest(unittest.TestCase):
    def start(self, text):
        world = harness.World(sys.executable, "-S", "-c", text)
        self.addCleanup(world.close)
        return world

    def test_every_program_that_a_page_shows_compiles(self):
        count = 0
        for directory in ("docs/reference", "docs/tutorial", "docs/howto", "docs/explanation"):
            for name in sorted(os.listdir(os.path.join(harness.ROOT, directory))):
                for text in programs_of(f"{directory}/{name}"):
                    compile(textwrap.dedent(text), f"{directory}/{name}", "exec")
                    count += 1
        self.assertGreaterEqual(count, 4)

    def test_the_worlds_of_the_reference_do_what_it_says(self):
        counter, shop, _ = programs_of(REFERENCE)
        world = self.start(counter)
        self.assertEqual(world.event("create"), {})
        self.assertEqual([world.message()["reply"] for _ in range(3)], [1, 2, 3])
        world = self.start(shop)
        self.assertEqual(world.message({"amount": 5}, name="buy")["do"],
                         [{"task": "charge", "args": {"amount": 5}, "ref": "charge", "retry": {"attempts": 5}}])
        self.assertEqual(world.event("task", name="charge", key="0123456789")["ok"], {"receipt": "bank-01234567"})
        world.event("receipt", ref="charge", status="ok", body={"receipt": "r"})
        self.assertEqual(world.state, {"paid": "r"})

    def test_the_account_of_the_readme_refuses_to_be_overdrawn(self):
        (account,) = programs_of("README.md")
        world = self.start(account)
        self.assertEqual(world.message({"change": 30})["reply"], {"balance": 30})
        self.assertEqual(world.message({"change": -31})["fail"], {"message": "not enough money", "retry": False})
        self.assertEqual(world.state, {"balance": 30})

    def test_the_client_of_the_reference_runs(self):
        def answers(asked):
            if asked.path == "/v1/worlds" and asked.method == "GET":
                return 200, {"items": [{"world": "w", "reason": "it failed"}]}
            return 200, {"reply": 5}
        node = FakeNode(answers)
        self.addCleanup(node.close)
        running = harness.Program(sys.executable, "-S", "-c", "import os; os.environ['SAPLING_NODE'] = '%s'\n%s"
                                  % (node.address, programs_of(REFERENCE)[2]))
        self.addCleanup(running.close)
        self.assertEqual((running.read_line(), running.read_line()), (b"5\n", b"w it failed\n"))
        self.assertEqual(running.process.wait(60), 0, running.errors())

    def test_the_reference_has_every_name_of_the_package(self):
        page = read(REFERENCE)
        for name in sapling.__all__:
            if name not in ("Program", "Event", "Task", "State"):
                self.assertRegex(page, rf"\b{name}\b")
        for kind, prefix in ((sapling.Event, "e."), (sapling.Task, "t."), (sapling.Client, "")):
            for name, _ in inspect.getmembers(kind, callable):
                if not name.startswith("_") and name not in ("answer", "close"):
                    self.assertRegex(page, rf"`[^`]*{re.escape(prefix)}{name}\b", kind)
        line = {"v": 1, "id": "i", "type": "message"}
        for event, prefix in ((sapling.Event(line), "e."), (sapling.Task(line, None), "t.")):
            for name in vars(event):
                if not name.startswith("_") and (prefix, name) not in (("e.", "failed"), ("t.", "id"), ("t.", "type"),
                                                                         ("t.", "world"), ("t.", "name"), ("t.", "ref"),
                                                                         ("t.", "raw")):
                    self.assertIn(f"`{prefix}{name}", page)

    def test_the_words_are_one_list(self):
        words = re.findall(r"^\| \*\*(.+?)\*\*", read("docs/explanation/words.md"), re.M)
        self.assertGreater(len(words), 15)
        self.assertEqual(len(words), len(set(words)))


if __name__ == "__main__":
    unittest.main()
