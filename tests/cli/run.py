#!/usr/bin/env python3
"""Run the built command as a user would:
run.py [--name NAME] [--jobs N] --migrating COMMAND COMMAND [TEST...]

Each test has a directory of its own, so several run at once. One that cannot run on this machine
is told, and counts as neither. The last line is `NAME: N passed, N failed`.
"""
import argparse
import collections
import multiprocessing
import os
import sys
import time
import unittest

import command_test
import habits_test
import node_test
import queue_test
import simulate_test
import store_test
import up_test

SLOW_SECONDS = 5


def find(names):
    loader = unittest.defaultTestLoader
    return [test for module in (command_test, habits_test, node_test, queue_test, simulate_test, store_test,
                           up_test)
            for group in loader.loadTestsFromModule(module) for test in group
            if not names or any(name in test.id() for name in names)]


def run(test):
    """The name, the seconds, "ok", "skip" or "FAIL", and why."""
    result = unittest.TestResult()
    start = time.monotonic()
    test.run(result)
    wrong = [text for _, text in result.failures + result.errors]
    why = wrong or [reason for _, reason in result.skipped]
    verdict = "FAIL" if wrong else "skip" if why else "ok"
    return test.id(), time.monotonic() - start, verdict, "\n".join(why)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--name", default="cli-test")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--migrating", required=True)
    parser.add_argument("command")
    parser.add_argument("tests", nargs="*")
    args = parser.parse_args()
    command_test.COMMAND = os.path.abspath(args.command)
    command_test.MIGRATING = os.path.abspath(args.migrating)
    count = collections.Counter()
    with multiprocessing.get_context("fork").Pool(args.jobs) as pool:
        for name, seconds, verdict, why in pool.imap_unordered(run, find(args.tests)):
            count[verdict] += 1
            if why or seconds >= SLOW_SECONDS:
                print(f"{verdict:4} {seconds:9.2f} s  {name}")
            print("".join(f"      | {line}\n" for line in why.splitlines()), end="", flush=True)
    print(f"{args.name}: {count['ok']} passed, {count['FAIL']} failed")
    return 1 if count["FAIL"] or not count["ok"] else 0


if __name__ == "__main__":
    sys.exit(main())
