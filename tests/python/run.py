#!/usr/bin/env python3
"""Run the tests of the Python package, of the example worlds and of the pages about them:
run.py [--jobs N] [TEST...]

A test that cannot run on this machine is reported, and counts as neither. The last line is
`python-test: N passed, N failed`.
"""
import argparse
import collections
import multiprocessing
import sys
import time
import unittest

import client_test
import examples_test
import node_test
import pages_test
import planted_test
import program_test
import protocol_test
import tutorial_test

MODULES = (planted_test, node_test, tutorial_test, program_test, client_test, examples_test, protocol_test, pages_test)
SLOW_SECONDS = 10


def find(names):
    return [test for module in MODULES for group in unittest.defaultTestLoader.loadTestsFromModule(module)
            for test in group if not names or any(name in test.id() for name in names)]


def run(test):
    """The name, the seconds, "ok", "skip" or "FAIL", and why."""
    result = unittest.TestResult()
    start = time.monotonic()
    test.run(result)
    wrong = [text for _, text in result.failures + result.errors]
    verdict = "FAIL" if wrong else "skip" if result.skipped else "ok"
    return test.id(), time.monotonic() - start, verdict, "\n".join(wrong or [why for _, why in result.skipped])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("tests", nargs="*")
    args = parser.parse_args()
    count = collections.Counter()
    with multiprocessing.get_context("fork").Pool(args.jobs) as pool:
        for name, seconds, verdict, why in pool.imap_unordered(run, find(args.tests)):
            count[verdict] += 1
            if why or seconds >= SLOW_SECONDS:
                print(f"{verdict:4} {seconds:9.2f} s  {name}")
            print("".join(f"      | {line}\n" for line in why.splitlines()), end="", flush=True)
    print(f"python-test: {count['ok']} passed, {count['FAIL']} failed")
    return 1 if count["FAIL"] or not count["ok"] else 0


if __name__ == "__main__":
    sys.exit(main())
