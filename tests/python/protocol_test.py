"""What docs/reference/world-protocol.md shows is the protocol: each example keeps its rules, programs are run."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import harness

PAGE = "docs/reference/world-protocol.md"


def read_page():
    with open(os.path.join(harness.ROOT, PAGE), encoding="utf-8") as file:
        return file.read()


def blocks_of(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.S | re.M)


def values_of(block):
    """The JSON values of a block, one after another."""
    decoder = json.JSONDecoder()
    at = 0
    while block[at:].strip():
        at += len(block[at:]) - len(block[at:].lstrip())
        value, at = decoder.raw_decode(block, at)
        yield value


def check_value(value):
    """Which of the lines it is."""
    if "type" in value:
        harness.check_event(value)
        return "event"
    if "got" in value:
        harness.expect(set(value) == {"id", "got"}, "fields of got")
        for key, row in value["got"].items():
            harness.check_payload(row, key)
        return "got"
    kind = "task" if set(value) & {"ok", "error", "beat"} else "message"
    harness.check_answer(value, kind)
    return "question" if set(value) & {"get", "scan"} else f"answer of a {kind}"


def rows_of(text, head):
    """What the first column of the table with this head has between marks."""
    table = text.split(f"\n{head}", 1)[1].split("\n\n", 1)[0]
    return {name for line in table.splitlines()[2:] for name in re.findall(r"`([^`]+)`", line.split("|")[1])}


class ProtocolTest(unittest.TestCase):
    def setUp(self):
        self.page = read_page()

    def test_every_line_that_the_page_shows_keeps_the_rules_and_each_kind_is_shown(self):
        kinds = []
        for block in blocks_of(self.page, "json"):
            for value in values_of(block):
                with self.subTest(value=value):
                    kinds.append(check_value(value))
        self.assertGreater(len(kinds), 12)
        self.assertEqual(set(kinds), {"event", "got", "question", "answer of a message", "answer of a task"})

    def test_the_tables_list_the_fields_that_there_are(self):
        self.assertEqual(rows_of(self.page, "| field | in |"), set(harness.EVENT_FIELDS))
        self.assertEqual(rows_of(self.page, "| type | when |"), set(harness.EVENT_TYPES) - {"task"})
        self.assertEqual(rows_of(self.page, "| field | |"), set(harness.ANSWER_FIELDS))
        self.assertEqual(rows_of(self.page, "| field of `fail` |"), {"message", "retry"})
        self.assertEqual(rows_of(self.page, "| field | asks for |"), set(harness.INTENTS))
        self.assertEqual(rows_of(self.page, "| field of the answer |"), {"ok", "error", "beat"})
        for intent, fields in harness.INTENTS.items():
            row = re.search(rf"^\| `{intent}` \|.*$", self.page.split("### do", 1)[1], re.M).group(0)
            for field in fields:
                if field not in ("ref", "create") or intent not in ("send", "ask"):
                    self.assertIn(f"`{field}`", row, intent)

    def test_the_program_of_the_page_answers_as_the_page_says(self):
        (program,) = blocks_of(self.page, "python")
        event, answer = [next(values_of(block)) for block in blocks_of(self.page, "json")[:2]]
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(program)
            file.flush()
            running = harness.Program(sys.executable, "-S", file.name, python_path=None)
            self.addCleanup(running.close)
            running.write(event)
            self.assertEqual(running.read(), answer)

    def test_the_answer_that_shows_all_requests_is_what_the_package_writes(self):
        shown = next(value for block in blocks_of(self.page, "json") for value in values_of(block) if "do" in value)
        program = """
from sapling import *
@task
def charge(t): pass
@handler
def h(e):
    e.state["status"] = "open"
    e.task("charge", {"amount": 95}, ref="charge", retry={"attempts": 3, "first": "2s"})
    e.effect("http.request", {"url": "https://shop.example/stock"}, ref="stock")
    e.timer("give-up", after="15m", body={"why": "late"})
    e.timer("remind", at=1767229200000)
    e.cancel("reserve")
    e.send("mail-1", "welcome", {"to": "ada@example.org"}, id="welcome-1")
    e.ask("stock-1", "reserve", {"item": "lamp"}, ref="lamp", timeout="10s")
    e.reply({"status": "paid"}, to="r-5c")
run()
"""
        world = harness.World(sys.executable, "-S", "-c", program)
        self.addCleanup(world.close)
        answer = world.message()
        self.assertEqual({"id": shown["id"], **answer}, shown)

    def test_the_command_for_trying_a_program_shows_its_answer(self):
        (block,) = blocks_of(self.page, "console")
        command, shown = re.fullmatch(r"\$ ([^\n]*)\n(.*)", block, re.S).groups()
        environment = {"PATH": os.path.dirname(harness.COMMAND) + ":" + os.environ["PATH"], **harness.command_options()}
        done = subprocess.run(["sh", "-c", command], cwd=harness.EXAMPLES, env=environment, capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, shown), done.stderr)

    def test_the_line_for_trying_a_program_by_hand_works(self):
        (command,) = blocks_of(self.page, "sh")
        line = re.search(r"'(\{.*\})'", command).group(1)
        self.assertEqual(json.loads(line)["type"], "message")
        running = harness.Program(sys.executable, "-S", os.path.join(harness.EXAMPLES, "hello.py"), python_path=None)
        self.addCleanup(running.close)
        running.write(line.encode() + b"\n")
        self.assertEqual(running.read(), {"id": "1", "put": {"n": 1}, "reply": {"n": 1}})


if __name__ == "__main__":
    unittest.main()
