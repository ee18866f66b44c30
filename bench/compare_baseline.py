#!/usr/bin/env python3
"""Compares a benchmark run with the checked-in baseline, or rewrites the baseline from it.

What is compared is never a rate but Sapling's ratio to each other engine of the same run, per
workload: that depends little on the machine. The baseline is

    {"rows": N, "ratios": {WORKLOAD: {ENGINE: RATIO, ...}, ...}}

A large ratio is noisy, since one side of it takes only microseconds. So ratios count up to CAP
only, and a workload that is compared with another one ("against" in the run) is not in the
baseline at all: there its bar must be met.

Exit status: 0 no regression, 1 a ratio fell by more than the tolerance or is missing, or such a
bar is missed, 2 the files do not fit each other.
"""
import argparse
import json
import sys

SUBJECT = "sapling"
CAP = 30


def ratios_of(run):
    """{workload: {engine: Sapling's rate / the engine's rate}} of a run's JSON."""
    ratios = {}
    for workload in run["workloads"]:
        rates = {r["engine"]: r["ops_per_s"] for r in workload["results"]}
        own = rates.pop(SUBJECT, None)
        if own and rates:
            ratios[workload["name"]] = {name: round(min(own / rate, CAP), 3)
                                        for name, rate in rates.items()}
    return ratios


def compare(now, then, tolerance):
    """Prints a line per ratio; returns the regressions as texts."""
    regressions = []
    print(f"{'workload':<20} {'against':<16} {'baseline':>9} {'now':>9} {'change':>8}")
    for workload, peers in then.items():
        for engine, old in peers.items():
            new = now.get(workload, {}).get(engine)
            if new is None:
                regressions.append(f"{workload} against {engine}: not measured")
                continue
            change = (new / old - 1) * 100
            bad = change < -tolerance
            print(f"{workload:<20} {engine:<16} {old:>7.2f} x {new:>7.2f} x {change:>+7.0f}%"
                  + ("  REGRESSION" if bad else ""))
            if bad:
                regressions.append(f"{workload} against {engine}: {new:.2f} x, was {old:.2f} x")
    for workload, peers in now.items():
        for engine, new in peers.items():
            if engine not in then.get(workload, {}):
                print(f"{workload:<20} {engine:<16} {'none':>9} {new:>7.2f} x")
    return regressions


def check_bars(run):
    """Prints a line per bar that stands for a ratio; returns those missed as texts."""
    judged = {w["name"] for w in run["workloads"] if "against" in w}
    missed = []
    for bar in run["bars"]:
        if bar["workload"] not in judged:
            continue
        print(f"{bar['workload']:<20} {bar['bar']}: {bar['ratio']:.0f} x"
              + ("" if bar["met"] else "  MISSED"))
        if not bar["met"]:
            missed.append(f"{bar['workload']}: {bar['ratio']:.0f} x, must be {bar['bar']}")
    for name in judged - {bar["workload"] for bar in run["bars"]}:
        missed.append(f"{name}: no bar was judged")
    return missed


def main():
    parser = argparse.ArgumentParser(description="Compare a benchmark run with the baseline.")
    parser.add_argument("--write", action="store_true", help="rewrite the baseline from the run")
    parser.add_argument("--tolerance", type=float, default=25, metavar="PERCENT")
    parser.add_argument("run")
    parser.add_argument("baseline")
    args = parser.parse_args()

    with open(args.run, encoding="utf-8") as f:
        run = json.load(f)
    now = ratios_of(run)
    if not now:
        print(f"{args.run}: no workload with {SUBJECT} and another engine", file=sys.stderr)
        return 2
    if args.write:
        with open(args.baseline, "w", encoding="utf-8") as f:
            json.dump({"rows": run["rows"], "ratios": now}, f, indent=2)
            f.write("\n")
        return 0

    try:
        with open(args.baseline, encoding="utf-8") as f:
            then = json.load(f)
    except FileNotFoundError:
        print(f"{args.baseline}: missing; make bench-baseline writes it", file=sys.stderr)
        return 2
    if then["rows"] != run["rows"]:
        print(f"{args.baseline} is of {then['rows']} rows, the run of {run['rows']}",
              file=sys.stderr)
        return 2
    regressions = compare(now, then["ratios"], args.tolerance) + check_bars(run)
    for text in regressions:
        print(f"regression: {text}", file=sys.stderr)
    return 1 if regressions else 0


if __name__ == "__main__":
    sys.exit(main())
