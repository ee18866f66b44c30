#!/usr/bin/env python3
"""Run test binaries side by side, each with a time limit, and add up what they report.

A binary is a Check program: its summary lines (`100%: Checks: 12, Failures: 0, Errors: 0`)
are counted. With --examples DIR a binary is an example: it must exit 0, and print what
DIR/NAME.expected holds if that file exists; each counts as one test.

The last line is `NAME: N passed, N failed`. The exit status is 0 only if something ran and
nothing failed: a binary that reports no test, dies, or exits non-zero without a reported
failure counts as one failure.
"""
import argparse
import concurrent.futures
import difflib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time

CHECK_LINE = re.compile(r"^\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)", re.M)
PRINT_LOCK = threading.Lock()


class Outcome:
    """What one binary did."""

    def __init__(self, passed, failed, output, reason=""):
        self.passed = passed
        self.failed = failed
        self.output = output
        self.reason = reason


def processes_of_session(sid):
    """Process ids that belong to session `sid`. Check puts every test in a process group of its
    own, so the group of the binary is not enough to find what it left behind."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as stat:
                fields = stat.read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == sid:
            found.append(int(entry))
    return found


def end_session(sid):
    for pid in processes_of_session(sid):
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass


def run(command, timeout, cwd=None, env=None):
    """Run `command` in a session of its own. Returns (exit status or None on timeout, output)."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, cwd=cwd, env=env,
                          start_new_session=True) as process:
        try:
            raw, _ = process.communicate(timeout=timeout)
            status = process.returncode
        except subprocess.TimeoutExpired:
            end_session(process.pid)
            raw, _ = process.communicate()
            status = None
        else:
            end_session(process.pid)
    return status, raw.decode("utf-8", errors="replace")


def describe(status):
    if status < 0:
        try:
            return f"killed by {signal.Signals(-status).name}"
        except ValueError:
            return f"killed by signal {-status}"
    return f"exit status {status}"


def check_outcome(status, output, timeout):
    totals = [tuple(map(int, m.groups())) for m in CHECK_LINE.finditer(output)]
    checks = sum(t[0] for t in totals)
    failed = sum(t[1] + t[2] for t in totals)
    passed = checks - failed
    if status is None:
        return Outcome(passed, failed + 1, output, f"timed out after {timeout} s")
    if failed:
        return Outcome(passed, failed, output, f"{failed} of {checks} failed")
    if status != 0:
        return Outcome(passed, 1, output, describe(status))
    if checks == 0:
        return Outcome(0, 1, output, "reported no tests")
    return Outcome(passed, 0, output)


def example_outcome(binary, status, output, timeout, directory):
    if status is None:
        return Outcome(0, 1, output, f"timed out after {timeout} s")
    if status != 0:
        return Outcome(0, 1, output, describe(status))
    expected_path = os.path.join(directory, os.path.basename(binary) + ".expected")
    if os.path.exists(expected_path):
        with open(expected_path, encoding="utf-8") as file:
            expected = file.read()
        if expected != output:
            diff = "".join(difflib.unified_diff(expected.splitlines(True), output.splitlines(True),
                                                expected_path, "output"))
            return Outcome(0, 1, diff, "output differs")
    return Outcome(1, 0, output)


def run_one(binary, args):
    started = time.monotonic()
    command = shlex.split(args.wrapper) + [os.path.abspath(binary)]
    if args.examples:
        scratch = os.path.abspath(binary) + ".run"
        shutil.rmtree(scratch, ignore_errors=True)
        os.makedirs(scratch)
        status, output = run(command, args.timeout, cwd=scratch)
        outcome = example_outcome(binary, status, output, args.timeout, args.examples)
        shutil.rmtree(scratch, ignore_errors=True)
    else:
        env = dict(os.environ, CK_VERBOSITY=os.environ.get("CK_VERBOSITY", "normal"))
        status, output = run(command, args.timeout, env=env)
        outcome = check_outcome(status, output, args.timeout)
    took = time.monotonic() - started
    with PRINT_LOCK:
        mark = "FAIL" if outcome.failed else "ok"
        note = f" ({outcome.reason})" if outcome.reason else ""
        print(f"{mark:4}  {took:7.2f} s  {outcome.passed:5} passed  {binary}{note}")
        if outcome.failed or args.verbose:
            print("".join(f"      | {line}\n" for line in outcome.output.splitlines()), end="")
        sys.stdout.flush()
    return outcome


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--name", default="tests")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--wrapper", default="", help="command put before each binary")
    parser.add_argument("--examples", help="directory of the examples' sources")
    parser.add_argument("--verbose", action="store_true", help="show the output of what passed too")
    parser.add_argument("binaries", nargs="*")
    args = parser.parse_args()

    if not args.binaries:
        print(f"{args.name}: nothing to run", file=sys.stderr)
        print(f"{args.name}: 0 passed, 1 failed")
        return 1
    with concurrent.futures.ThreadPoolExecutor(max_workers=max(1, args.jobs)) as pool:
        outcomes = list(pool.map(lambda binary: run_one(binary, args), args.binaries))
    passed = sum(o.passed for o in outcomes)
    failed = sum(o.failed for o in outcomes)
    print(f"{args.name}: {passed} passed, {failed} failed")
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
