"""docs/tutorial/first-world.md, word for word: its programs are saved under the names that it says, its commands are
run in one shell, and print what it shows. `...` stands for anything. What a node does meanwhile takes its time: a
command that only looks is repeated until it shows what the page does."""
import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest

import harness

PAGE = "docs/tutorial/first-world.md"
ADDRESS = "127.0.0.1:7227"
COMMAND_SECONDS = 60
LOOKS = re.compile(r"(cat|grep|sapling (\w+ (list|show|state|log|result)|status))\b")
END = "the-command-has-ended"


class Shell:
    """A bash that runs one command after another."""

    def __init__(self, directory, environment):
        self.process = subprocess.Popen(["bash", "--norc"], cwd=directory, env=environment, text=True, bufsize=1,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run(self, command):
        """What the command prints, on both streams."""
        self.process.stdin.write(f"{{ {command}\n}} < /dev/null\necho; echo {END}\n")
        lines = []
        for line in self.process.stdout:
            if line.rstrip("\n") == END:
                return "".join(lines)[:-1]
            lines.append(line)
        raise EOFError("".join(lines))

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(COMMAND_SECONDS)


def is_shown(shown, printed):
    pattern = ".*".join(re.escape(part) for part in shown.rstrip("\n").split("..."))
    return re.search(rf"(?s)\A{pattern}\Z", printed.rstrip("\n")) is not None


def steps_of(page):
    """("program", its text, the words before it) and ("command", its text, what it prints), in order."""
    blocks = re.compile(r"^```(python|console)\n(.*?)^```$", re.S | re.M)
    before = 0
    for block in blocks.finditer(page):
        words = page[before:block.start()]
        before = block.end()
        if block.group(1) == "python":
            yield "program", block.group(2), words
            continue
        for command, shown in re.findall(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", block.group(2), re.M):
            yield "command", command, shown


class TutorialTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="sapling-tutorial-")
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.address = harness.free_address()  # the page's own may be in use
        self.addCleanup(harness.forget_node, self.address)
        environment = {"PATH": os.path.dirname(harness.COMMAND) + ":" + os.environ["PATH"], "HOME": self.directory,
                       "SAPLING_NODE": self.address, "SAPLING_NODE_LISTEN": self.address, **harness.command_options(),
                       "XDG_STATE_HOME": os.path.join(self.directory, "state"), "LANG": "C.UTF-8"}
        self.shell = Shell(self.directory, environment)
        self.addCleanup(self.shell.close)
        self.addCleanup(self.shell.run, "kill -9 $(cat sapling-data/node.pid) 2>/dev/null")

    def save(self, text, words):
        """A whole program is saved under the last name in the words before it; a piece takes the place that they say."""
        name = re.findall(r"`(\w+\.py)`", words)[-1]
        path = os.path.join(self.directory, name)
        if not text.startswith("#!"):
            self.assertIn("replace the two lines with `if` and `e.fail`", " ".join(words.split()))
            with open(path, encoding="utf-8") as file:
                text, count = re.subn(r"    if not .*\n.*e\.fail.*\n", text, file.read())
            self.assertEqual(count, 1)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def run_command(self, command, shown):
        printed = self.shell.run(command).replace(self.address, ADDRESS)
        until = time.monotonic() + COMMAND_SECONDS
        while not is_shown(shown, printed) and LOOKS.match(command) and time.monotonic() < until:
            time.sleep(0.1)
            printed = self.shell.run(command).replace(self.address, ADDRESS)
        self.assertTrue(is_shown(shown, printed), f"$ {command}\nprinted:\n{printed}\nand not:\n{shown}\n"
                                                  f"node.log:\n{self.shell.run('tail -n 40 sapling-data/node.log')}")

    def test_the_page_is_what_happens(self):
        with open(os.path.join(harness.ROOT, PAGE), encoding="utf-8") as file:
            steps = list(steps_of(file.read()))
        counts = {"program": 0, "command": 0}
        for kind, text, more in steps:
            counts[kind] += 1
            if kind == "program":
                self.save(text, more)
            else:
                self.run_command(text, more)
        self.assertEqual(counts["program"], 4)
        self.assertGreaterEqual(counts["command"], 28)

    def test_the_first_program_is_the_example(self):
        with open(os.path.join(harness.ROOT, PAGE), encoding="utf-8") as file:
            programs = [text for kind, text, _ in steps_of(file.read()) if kind == "program"]
        with open(os.path.join(harness.EXAMPLES, "hello.py"), encoding="utf-8") as file:
            self.assertEqual(programs[0], file.read())


if __name__ == "__main__":
    unittest.main()
