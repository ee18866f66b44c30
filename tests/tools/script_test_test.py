#!/usr/bin/env python3
"""Tests of script/test, in a tree of its own whose makefile only says what a step would."""
import os
import shutil
import subprocess
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "script", "test")

MAKEFILE = """\
test-build:
\t@echo built "$(QUICK)"
check asan cli-test tsan fuzz-smoke check-nothreads leak-check schema-check tools-test python-test amalgamation-check \
wasm-check check-examples check-clang:
\t@echo "$@: 3 passed, 0 failed"
%:
\t@echo "$@ has nothing to count"
"""


class ScriptTest(unittest.TestCase):
    def setUp(self):
        self.tree = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.tree)
        os.mkdir(os.path.join(self.tree, "script"))
        shutil.copy(SCRIPT, os.path.join(self.tree, "script", "test"))
        self.write("script/deps", "#!/bin/sh\n")
        os.chmod(os.path.join(self.tree, "script", "deps"), 0o755)
        self.write("Makefile", MAKEFILE)

    def write(self, name, text):
        with open(os.path.join(self.tree, name), "w", encoding="utf-8") as file:
            file.write(text)

    def run_script(self, *arguments):
        """The exit status, the lines printed, and the two numbers of the last one."""
        done = subprocess.run([os.path.join(self.tree, "script", "test"), *arguments],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=60, check=False,
                              env={k: v for k, v in os.environ.items()
                                   if not k.startswith("MAKE") and k not in ("MFLAGS", "QUICK", "JOBS")})
        lines = done.stdout.splitlines()
        words = lines[-1].replace(",", "").split()
        self.assertEqual((words[1], words[3]), ("passed", "failed"), done.stdout)
        return done.returncode, lines, (int(words[0]), int(words[2]))

    def test_every_step_is_run_once_and_counted(self):
        status, lines, (passed, failed) = self.run_script()
        steps = [line.split()[0] for line in lines[:-1]]
        self.assertEqual((status, failed), (0, 0), lines)
        self.assertEqual(len(steps), len(set(steps)))
        self.assertEqual(steps[0], "test-build")
        self.assertGreater(len(steps), 15)
        counted = sum("3 of 3" in line for line in lines)
        self.assertEqual(passed, 3 * counted + len(steps) - counted)

    def test_full_has_more_steps_and_nothing_is_quick(self):
        _, quick, _ = self.run_script()
        with open(os.path.join(self.tree, "build/logs/test-build.log"), encoding="utf-8") as log:
            self.assertEqual(log.read(), "built 1\n")
        _, full, _ = self.run_script("--full")
        with open(os.path.join(self.tree, "build/logs/test-build.log"), encoding="utf-8") as log:
            self.assertEqual(log.read(), "built \n")
        self.assertGreater(len(full), len(quick))

    def test_a_step_that_fails_is_shown_and_the_others_still_run(self):
        self.write("Makefile", MAKEFILE + "lint:\n\t@echo what is wrong; false\n")
        status, lines, (passed, failed) = self.run_script()
        self.assertEqual((status, failed), (1, 1), lines)
        self.assertGreater(passed, 20)
        self.assertIn("    what is wrong", lines)

    def test_a_step_that_counts_no_test_has_failed(self):
        self.write("Makefile", MAKEFILE.replace("check asan", "asan"))
        status, _, (_, failed) = self.run_script("check")
        self.assertEqual((status, failed), (1, 1))

    def test_steps_by_name_are_the_only_ones(self):
        status, lines, counts = self.run_script("tidy")
        self.assertEqual((status, counts, len(lines)), (0, (1, 0), 2))

    def test_a_run_without_its_packages_has_failed(self):
        self.write("script/deps", "#!/bin/sh\nexit 1\n")
        status, _, (passed, failed) = self.run_script()
        self.assertEqual((status, passed), (1, 0))
        self.assertGreater(failed, 15)

    def test_a_step_that_ends_the_script_s_own_process_is_not_forgotten(self):
        self.write("Makefile", MAKEFILE + "lint:\n\t@kill -9 $$(ps -o ppid= $$(ps -o ppid= $$(ps -o ppid= $$$$)))\n")
        status, _, (_, failed) = self.run_script()
        self.assertEqual(status, 1)
        self.assertGreaterEqual(failed, 1)


if __name__ == "__main__":
    import sys
    result = unittest.main(exit=False, verbosity=0).result
    wrong = len(result.failures) + len(result.errors)
    print(f"script-test: {result.testsRun - wrong} passed, {wrong} failed")
    sys.exit(1 if wrong or not result.testsRun else 0)
