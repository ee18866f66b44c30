#!/usr/bin/env python3
"""Tests of tools/run_tests.py: what it counts, and that no kind of failure passes for success."""
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

TOOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools")


class RunTestsTest(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="sapling-run-tests-")
        self.addCleanup(shutil.rmtree, self.root)

    def program(self, name, text):
        path = os.path.join(self.root, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + text + "\n")
        os.chmod(path, 0o755)
        return path

    def run_tests(self, *arguments):
        command = [sys.executable, os.path.join(TOOLS, "run_tests.py"), "--name", "it", *arguments]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        return result.returncode, result.stdout.splitlines()[-1], result.stdout

    def expect(self, status, last, *arguments):
        got_status, got_last, output = self.run_tests(*arguments)
        self.assertEqual((got_status, got_last), (status, last), output)
        return output

    def test_counts_add_up_over_suites_and_binaries(self):
        a = self.program("a", "echo '100%: Checks: 12, Failures: 0, Errors: 0'")
        b = self.program("b", "echo '100%: Checks: 3, Failures: 0, Errors: 0'\n"
                              "echo '100%: Checks: 4, Failures: 0, Errors: 0'")
        self.expect(0, "it: 19 passed, 0 failed", a, b)

    def test_failures_and_errors_count_and_show_the_output(self):
        a = self.program("a", "echo '50%: Checks: 4, Failures: 1, Errors: 1'\n"
                              "echo a.c:3:F:core:claim:0: it broke\nexit 1")
        self.assertIn("it broke", self.expect(1, "it: 2 passed, 2 failed", a))

    def test_crash_after_the_summary_is_a_failure(self):
        a = self.program("a", "echo '100%: Checks: 2, Failures: 0, Errors: 0'\nkill -SEGV $$")
        self.assertIn("SIGSEGV", self.expect(1, "it: 2 passed, 1 failed", a))

    def test_binary_without_tests_is_a_failure(self):
        self.expect(1, "it: 0 passed, 1 failed", self.program("a", "exit 0"))
        self.expect(1, "it: 0 passed, 1 failed",
                    self.program("b", "echo '100%: Checks: 0, Failures: 0, Errors: 0'"))

    def test_nothing_to_run_is_a_failure(self):
        self.expect(1, "it: 0 passed, 1 failed")

    def test_timeout_ends_the_binary_and_its_children(self):
        mark = os.path.join(self.root, "mark")
        a = self.program("a", f"(sleep 3; touch {mark}) & sleep 60")
        started = time.monotonic()
        self.expect(1, "it: 0 passed, 1 failed", "--timeout", "1", a)
        self.assertLess(time.monotonic() - started, 20)
        time.sleep(3)
        self.assertFalse(os.path.exists(mark))

    def test_wrapper_goes_before_the_binary(self):
        a = self.program("a", "echo \"$MARK%: Checks: 1, Failures: 0, Errors: 0\"")
        self.expect(0, "it: 1 passed, 0 failed", "--wrapper", "env MARK=100", a)

    def test_examples_are_compared_with_what_is_expected(self):
        a = self.program("a", "echo hello")
        self.expect(0, "it: 1 passed, 0 failed", "--examples", self.root, a)
        expected = os.path.join(self.root, "a.expected")
        with open(expected, "w", encoding="utf-8") as file:
            file.write("hello\n")
        self.expect(0, "it: 1 passed, 0 failed", "--examples", self.root, a)
        with open(expected, "w", encoding="utf-8") as file:
            file.write("good bye\n")
        self.assertIn("-good bye", self.expect(1, "it: 0 passed, 1 failed", "--examples", self.root, a))

    def test_example_that_fails_is_a_failure(self):
        self.expect(1, "it: 0 passed, 1 failed", "--examples", self.root, self.program("a", "exit 3"))


def main():
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(suite)
    failed = len(result.failures) + len(result.errors)
    print(f"run-tests-test: {result.testsRun - failed} passed, {failed} failed")
    return 1 if failed or result.testsRun == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
