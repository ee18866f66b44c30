#!/usr/bin/env python3
"""Run libFuzzer binaries side by side for a bounded time.

Inputs found on the way are kept in build/fuzz/corpus/NAME_fuzz, and tests/fuzz/corpus/NAME_fuzz
or tests/fuzz/corpus/NAME, when it exists, is read as well but never written. An input that makes a target fail is left in
build/fuzz/findings. A binary *_record_fuzz is a target for each record that it lists (tests/fuzz/
wit_record_fuzz.c), and each gets --record-seconds. The last line is `NAME: N passed, N failed`, one
per target.
"""
import argparse
import concurrent.futures
import os
import re
import sys
import time

from run_tests import describe, run

EXECUTED = re.compile(r"stat::number_of_executed_units:\s*(\d+)")


def targets_of(binary):
    """(binary, record): one for each record of a binary that has some."""
    if not binary.endswith("_record_fuzz"):
        return [(binary, "")]
    status, output = run([os.path.abspath(binary)], 60, env={**os.environ, "SAP_FUZZ_RECORD": "list"})
    records = output.split() if status == 0 else []
    return [(binary, record) for record in records] or [(binary, "none")]


def fuzz_one(target, args):
    binary, record = target
    name = os.path.basename(binary) + (f"/{record}" if record else "")
    seconds = args.record_seconds if record else args.seconds
    corpus = os.path.join("build/fuzz/corpus", name)
    findings = os.path.join("build/fuzz/findings", name)
    seeds = os.path.join("tests/fuzz/corpus", name)
    if not os.path.isdir(seeds):
        seeds = seeds[:-len("_fuzz")] if seeds.endswith("_fuzz") else seeds
    os.makedirs(corpus, exist_ok=True)
    os.makedirs(findings, exist_ok=True)
    command = [os.path.abspath(binary), f"-max_total_time={seconds}", "-timeout=25",
               "-rss_limit_mb=2048", "-print_final_stats=1", "-print_funcs=0", f"-artifact_prefix={findings}/"]
    if args.runs:
        command.append(f"-runs={args.runs}")
    command.append(corpus)
    if os.path.isdir(seeds):
        command.append(seeds)
    started = time.monotonic()
    status, output = run(command, seconds + 120, env={**os.environ, "SAP_FUZZ_RECORD": record})
    took = time.monotonic() - started
    match = EXECUTED.search(output)
    executed = int(match.group(1)) if match else 0
    if status is None:
        reason = "did not stop in time"
    elif status != 0:
        reason = describe(status)
    elif executed == 0:
        reason = "executed no input"
    else:
        reason = ""
    note = f" ({reason}; inputs in {findings})" if reason else ""
    print(f"{'FAIL' if reason else 'ok':4}  {took:7.2f} s  {executed:9} inputs  {binary} {record}{note}")
    if reason:
        print("".join(f"      | {line}\n" for line in output.splitlines()[-80:]), end="")
    sys.stdout.flush()
    return not reason


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--name", default="fuzz")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--record-seconds", type=int, default=2)
    parser.add_argument("--runs", type=int, default=0, help="most inputs per target; 0: no limit")
    parser.add_argument("binaries", nargs="*")
    args = parser.parse_args()
    if not args.binaries:
        print(f"{args.name}: no fuzz targets", file=sys.stderr)
        print(f"{args.name}: 0 passed, 1 failed")
        return 1
    with concurrent.futures.ThreadPoolExecutor(max_workers=max(1, args.jobs)) as pool:
        targets = [target for binary in args.binaries for target in targets_of(binary)]
        good = list(pool.map(lambda target: fuzz_one(target, args), targets))
    print(f"{args.name}: {good.count(True)} passed, {good.count(False)} failed")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
