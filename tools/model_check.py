#!/usr/bin/env python3
"""Search all states of the models in tools/model with Spin, as they are and with each bug planted.

A model as it is passes if the search was complete, found nothing and reached every statement. A bug
passes if the search finds it, by the invariant that it breaks. The steps that lead to a finding are
left in DIR/CONFIGURATION/steps.txt. The last line is `model-check: N passed, N failed`.
"""
import argparse
import concurrent.futures
import dataclasses
import os
import re
import shutil
import sys
import time

from run_tests import describe, run

MEMORY_MB = 4096
BUILD_TIMEOUT_S = 300

# What Spin prints of the assertion of an invariant, or of a cycle. The names of parameters are
# replaced by what was passed for them.
EPOCH_FALLS = r"violated \(\w+>=epoch\)"
EPOCH_OF_TWO = r"violated \(\(\w+==0\)\|\|\(.*>epoch\)\)"
NOT_THE_HOLDER = r"violated \(\(holder==\w+\)&&\(epoch==\w+\)\)"
CONSUMED_TWICE = r"violated \(\(done&\w+\)==0\)"
NOT_COMMITTED = r"violated \(\(items==0\)\|\|\(won&"
NO_HINT = r"violated \(\(paused\|\|\(inbox==0\)\)\|\|\(hints!=0\)\)"
INBOX_LEFT = r"violated \(\(inbox==0\)\|\| !"
NO_END = r"non-progress cycle"
WORKS_WHEN_EXPIRED = r"violated \(\( !\(\(deadline\["
EXPIRED_EARLY = r"violated \(\(\(nonce\[\w\]==0\)\|\|\(age\["
CAME_BACK = r"violated \( !\(\(replaced&"


@dataclasses.dataclass(frozen=True)
class Configuration:
    name: str
    model: str
    options: str        # given to Spin
    finding: str = ""   # of a bug: what must be found


# Cycles are looked for where the model has a part that must come to an end (its header says so).
MODELS_WITH_AN_END = ("lease",)

QUICK_TIMEOUT_S = 300
QUICK = (
    Configuration("lease, a name starts again", "lease",
                  "-DPROCESSES=2 -DITEMS=2 -DEPOCHS=3 -DCRASHES=1"),
    Configuration("lease, a name in two processes", "lease",
                  "-DPROCESSES=3 -DITEMS=1 -DEPOCHS=3 -DCRASHES=1"),
    Configuration("session", "session", "-DWORKERS=3 -DUNIT=1"),
    Configuration("session, finer ticks", "session", "-DWORKERS=2 -DUNIT=2"),
)
DEEP_TIMEOUT_S = 7200
DEEP = (
    Configuration("lease, a name starts again", "lease",
                  "-DPROCESSES=2 -DITEMS=2 -DEPOCHS=4 -DCRASHES=2"),
    Configuration("lease, a name in two processes", "lease",
                  "-DPROCESSES=3 -DITEMS=1 -DEPOCHS=4 -DCRASHES=2"),
    Configuration("session", "session", "-DWORKERS=3 -DUNIT=1"),
    Configuration("session, finer ticks", "session", "-DWORKERS=2 -DUNIT=3"),
)
BUGS = (
    Configuration("EPOCH_KEPT", "lease", "-DEPOCH_KEPT", EPOCH_OF_TWO),
    Configuration("RELEASE_RESETS", "lease", "-DRELEASE_RESETS", EPOCH_FALLS),
    Configuration("NO_FENCE", "lease", "-DNO_FENCE", NOT_THE_HOLDER),
    Configuration("EPOCH_ONLY", "lease", "-DEPOCH_ONLY", NOT_THE_HOLDER),
    Configuration("NO_GUARD", "lease", "-DNO_GUARD", NOT_THE_HOLDER),
    Configuration("BLIND_RETRY", "lease", "-DBLIND_RETRY", CONSUMED_TWICE),
    Configuration("UNKNOWN_IS_YES", "lease", "-DUNKNOWN_IS_YES", NOT_COMMITTED),
    Configuration("HINT_LOST", "lease", "-DHINT_LOST", NO_HINT),
    Configuration("HINTS_LATE", "lease", "-DHINTS_LATE", NO_HINT),
    Configuration("HINT_ALWAYS", "lease", "-DHINT_ALWAYS", NO_END),
    Configuration("DEAD_HOLD", "lease", "-DDEAD_HOLD", INBOX_LEFT),
    Configuration("FROM_ANSWER", "session", "-DFROM_ANSWER", WORKS_WHEN_EXPIRED),
    Configuration("NO_WAIT", "session", "-DNO_WAIT", EXPIRED_EARLY),
    Configuration("ANY_NONCE", "session", "-DANY_NONCE", CAME_BACK),
)


class Search:
    """What a run of the verifier reported."""

    def __init__(self, output):
        self.output = output
        self.errors = self._number(r"errors: (\d+)")
        self.states = self._number(r"(\d+) states, stored")
        self.depth = self._number(r"depth reached (\d+)")
        found = re.search(r"^pan:1: (.*)$", output, re.MULTILINE)
        self.finding = found.group(1) if found else ""
        self.complete = "Full statespace search" in output and not re.search(
            "Search not completed|max search depth too small|Bit statespace", output)
        statements = re.findall(r"^\t\S*\.pml:\d+, .*$", output, re.MULTILINE)
        self.unreached = [line.strip() for line in statements if '"-end-"' not in line]

    def _number(self, pattern):
        """-1 if there is none. Large ones are printed as 1.2e+08."""
        match = re.search(pattern.replace(r"\d+", r"\d[\d.e+]*"), self.output)
        return int(float(match.group(1))) if match else -1

    def complaint(self, finding):
        """Why the configuration has failed, or None. `finding`: what must be found."""
        if self.errors < 0 or self.states < 1:
            return "reported no search"
        if finding:
            return None if re.search(finding, self.finding) else \
                f"must find {finding}, found {self.finding or 'nothing'}"
        if self.errors > 0 or self.finding:
            return self.finding or "found an error"
        if not self.complete:
            return "the search was not complete"
        return f"never reached: {self.unreached[0]}" if self.unreached else None


def build(configuration, model, directory, compiler, deep):
    """What went wrong, or None. A deep search compresses its states, which takes longer."""
    with_end = configuration.model in MODELS_WITH_AN_END
    commands = (
        ["spin", "-a", *configuration.options.split(), model],
        [*compiler.split(), "-w", "-O1", "-DNP" if with_end else "-DSAFETY", "-DNOFAIR",
         *(["-DCOLLAPSE"] if deep else []), f"-DMEMLIM={MEMORY_MB}", "-o", "pan", "pan.c"],
    )
    for command in commands:
        status, output = run(command, BUILD_TIMEOUT_S, cwd=directory)
        if status != 0:
            reason = describe(status) if status is not None else "did not end"
            return f"{command[0]}: {reason}\n{output}"
    return None


def write_steps(configuration, model, directory):
    trail = os.path.abspath(os.path.join(directory, configuration.model + ".pml.trail"))
    command = ["spin", "-t", "-k", trail, "-p", "-g", "-l", *configuration.options.split(), model]
    with open(os.path.join(directory, "steps.txt"), "w", encoding="utf-8") as f:
        f.write(run(command, BUILD_TIMEOUT_S, cwd=directory)[1])


def check_one(configuration, args):
    model = os.path.abspath(os.path.join(args.models, configuration.model + ".pml"))
    directory = os.path.join(args.directory, re.sub(r"\W+", "_", configuration.name))
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    begin = time.monotonic()
    complaint = build(configuration, model, directory, args.compiler, args.deep)
    search = None
    if complaint is None:
        # -E: a process that waits at the end of a run is no error; the models say what one is.
        command = [os.path.abspath(os.path.join(directory, "pan")), "-E", "-m1000000", "-w24"]
        command += ["-l"] if configuration.model in MODELS_WITH_AN_END else []
        status, output = run(command, args.timeout, cwd=directory)
        search = Search(output) if status is not None else None
        complaint = search.complaint(configuration.finding) if search else "did not end in time"
    if search is not None and search.finding:
        write_steps(configuration, model, directory)
    report(configuration, search, complaint, time.monotonic() - begin, directory)
    return complaint is None


def report(configuration, search, complaint, seconds, directory):
    verdict = "FAIL" if complaint else "caught" if configuration.finding else "ok"
    size = f"{search.states:9} states, depth {search.depth:5}, " if search is not None else ""
    bounds = configuration.options if not configuration.finding else ""
    text = f"{verdict:6} {configuration.name:30} {size}{seconds:6.1f} s  {bounds}".rstrip()
    if complaint:
        text += f"\n       {complaint}"
        text += f"\n       steps: {directory}/steps.txt" if search and search.finding else ""
    print(text, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default="tools/model")
    parser.add_argument("--directory", default="build/model", help="where the verifiers are built")
    parser.add_argument("--compiler", default="cc")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--deep", action="store_true", help="larger bounds, but for the bugs")
    args = parser.parse_args()
    args.timeout = DEEP_TIMEOUT_S if args.deep else QUICK_TIMEOUT_S
    configurations = (DEEP if args.deep else QUICK) + BUGS
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        results = list(pool.map(lambda c: check_one(c, args), configurations))
    failed = results.count(False)
    print(f"model-check: {len(results) - failed} passed, {failed} failed")
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
