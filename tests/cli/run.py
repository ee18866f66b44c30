#!/usr/bin/env python3
"""Run the built command as a user would: run.py [--name NAME] --migrating COMMAND COMMAND [TEST...]

The last line is `NAME: N passed, N failed`.
"""
import argparse
import os
import sys
import unittest

import command_test
import queue_test


class Count(unittest.TextTestResult):
    passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--name", default="cli-test")
    parser.add_argument("--migrating", required=True)
    parser.add_argument("command")
    parser.add_argument("tests", nargs="*")
    args = parser.parse_args()
    command_test.COMMAND = os.path.abspath(args.command)
    command_test.MIGRATING = os.path.abspath(args.migrating)
    loader = unittest.defaultTestLoader
    suite = unittest.TestSuite(test for module in (command_test, queue_test)
                               for group in loader.loadTestsFromModule(module) for test in group
                               if not args.tests or any(name in test.id() for name in args.tests))
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1, resultclass=Count).run(suite)
    failed = len(result.failures) + len(result.errors)
    print(f"{args.name}: {result.passed} passed, {failed} failed")
    return 1 if failed or result.passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
