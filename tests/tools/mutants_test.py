#!/usr/bin/env python3
"""Tests of tools/mutants.py, and that the planted bugs of tests/mutants still fit the sources."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
TOOL = os.path.join(ROOT, "tools", "mutants.py")

# Stands for the project's makefile: the "test" passes if the source says "right".
MAKEFILE = """tests: build/test/tests/unit/one_test
build/test/tests/unit/one_test: src/a.c
\t@! grep -q 'no C' src/a.c
\t@mkdir -p $(@D) && cp src/a.c $@
check: build/test/tests/unit/one_test
\t@if grep -q endless $<; then setsid -w sh -c 'echo $$$$ > ../pid; exec sleep 600'; fi
\t@grep -q right $<
build/sapling: src/a.c
\t@mkdir -p $(@D) && cp src/a.c $@
cli-check: build/sapling
\t@[ $(T) = two_test ] && grep -q right $<
"""


class MutantsTest(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="sapling-mutants-")
        self.addCleanup(shutil.rmtree, self.root)
        self.write("Makefile", MAKEFILE)
        self.write("src/a.c", "right\nother\n")
        self.write("tests/unit/one_test.c", "")

    def write(self, name, text):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def plant(self, name, old, new, test="one_test", file="src/a.c"):
        self.write(f"mutants/{name}.mutant",
                   f"what: it is wrong\nfile: {file}\ntest: {test}\n---\n{old}---\n{new}")

    def tool(self, *arguments):
        result = subprocess.run([sys.executable, TOOL, *arguments], cwd=self.root,
                                capture_output=True, text=True, check=False)
        return result.returncode, result.stdout + result.stderr

    def run_all(self):
        return self.tool("--run", "mutants", "--tree", "tree", "--jobs", "1")

    def test_bug_that_a_test_notices_is_caught(self):
        self.plant("bug", "right\n", "wrong\n")
        status, output = self.run_all()
        self.assertEqual(status, 0, output)
        self.assertIn("caught    bug", output)
        self.assertIn("mutants: 1 passed, 0 failed", output)

    def test_bug_that_no_test_notices_fails_the_run(self):
        self.plant("bug", "right\n", "wrong\n")
        self.plant("change", "other\n", "another\n")
        status, output = self.run_all()
        self.assertEqual(status, 1, output)
        self.assertIn("SURVIVED  change", output)
        self.assertIn("mutants: 1 passed, 1 failed", output)

    def test_test_that_does_not_end_has_caught_its_bug_and_leaves_nothing_running(self):
        self.plant("bug", "right\n", "endless\n")
        status, output = self.tool("--run", "mutants", "--tree", "tree", "--jobs", "1",
                                   "--timeout", "2")
        self.assertEqual(status, 0, output)
        self.assertIn("one_test does not end", output)
        with open(os.path.join(self.root, "pid"), encoding="utf-8") as file:
            pid = int(file.read())
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
                self.assertEqual(stat.read().rpartition(")")[2].split()[0], "Z")
        except FileNotFoundError:
            pass

    def test_bug_of_the_command_is_caught_by_its_tests(self):
        self.write("tests/cli/two_test.py", "")
        self.plant("bug", "right\n", "wrong\n", test="two_test.py")
        self.plant("change", "other\n", "another\n", test="two_test.py")
        status, output = self.run_all()
        self.assertEqual(status, 1, output)
        self.assertIn("caught    bug", output)
        self.assertIn("SURVIVED  change", output)

    def test_bug_that_does_not_compile_is_not_caught(self):
        self.plant("syntax", "right\n", "right, no C\n")
        status, output = self.run_all()
        self.assertEqual(status, 1, output)
        self.assertIn("BROKEN    syntax", output)

    def test_sources_that_fail_by_themselves_are_no_proof(self):
        self.write("src/a.c", "right, no C\n")
        self.plant("bug", "right, no C\n", "wrong\n")
        status, output = self.run_all()
        self.assertEqual(status, 1, output)
        self.assertIn("without a bug do not build", output)

    def test_copy_follows_the_sources(self):
        self.plant("bug", "right\n", "wrong\n")
        self.run_all()
        self.write("src/a.c", "right\nother\nmore\n")
        self.plant("bug", "more\n", "no C\n")
        status, output = self.run_all()
        self.assertEqual(status, 1, output)
        self.assertIn("BROKEN", output)

    def test_mutant_that_no_longer_fits_is_named(self):
        self.plant("gone", "nothing like it\n", "wrong\n")
        self.plant("untested", "right\n", "wrong\n", test="two_test")
        self.plant("elsewhere", "right\n", "wrong\n", file="src/b.c")
        status, output = self.tool("--check", "mutants")
        self.assertEqual(status, 1, output)
        for name in ("gone: ", "untested: ", "elsewhere: "):
            self.assertIn(name, output)

    def test_page_of_planted_bugs_has_each(self):
        directory = os.path.join(ROOT, "tests/mutants")
        result = subprocess.run([sys.executable, TOOL, "--table", directory], capture_output=True,
                                text=True, check=True)
        with open(os.path.join(directory, "README.md"), encoding="utf-8") as file:
            self.assertIn(result.stdout, file.read(),
                          "bring it up to date: tools/mutants.py --table tests/mutants")

    def test_planted_bugs_of_the_project_fit(self):
        result = subprocess.run([sys.executable, TOOL, "--check", os.path.join(ROOT, "tests/mutants"),
                                 "--root", ROOT], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


if __name__ == "__main__":
    program = unittest.main(exit=False, verbosity=0)
    run = program.result.testsRun
    failed = len(program.result.failures) + len(program.result.errors)
    print(f"mutants-test: {run - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
