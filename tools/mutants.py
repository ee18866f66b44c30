#!/usr/bin/env python3
"""Plant known bugs, one at a time, and see that the tests catch each.

mutants.py --table DIR           the mutants as the table of DIR/README.md
mutants.py --check DIR           each still fits the sources (its text occurs exactly once)
mutants.py --run DIR --tree T    build each in T, made a copy of the sources, and run its tests

A mutant is a file NAME.mutant:

    what: one line: the bug
    file: src/...
    test: the test binary that catches it, by the end of its name; or a file of tests/cli, with .py
    ---
    text as it is in the file
    ---
    text as the bug has it

With --run a mutant whose tests pass has survived: the exit status is 1.
"""
import argparse
import os
import re
import signal
import subprocess
import sys
import time

SEPARATOR = "---\n"
TREE_TIMEOUT_S = 1800
BUILD_TIMEOUT_S = 600
TEST_TIMEOUT_S = 600
# What the simulator of worlds must find, it must find within so many seeds.
SIMULATIONS = r"universe_(effects_)?simulation_test"
SEEDS = {"SAP_TEST_SEEDS": "1000"}


class Mutant:
    def __init__(self, path):
        self.name = os.path.basename(path)[: -len(".mutant")]
        with open(path, encoding="utf-8") as f:
            parts = f.read().split(SEPARATOR)
        if len(parts) != 3:
            raise ValueError(f"{path}: needs two lines '---'")
        fields = dict(line.split(": ", 1) for line in parts[0].splitlines() if line)
        if sorted(fields) != ["file", "test", "what"]:
            raise ValueError(f"{path}: the head is 'what', 'file' and 'test'")
        self.what, self.file, self.test = fields["what"], fields["file"], fields["test"]
        self.old, self.new = parts[1], parts[2]

    def complaint(self, root):
        """Why it does not fit the sources below root, or None."""
        path = os.path.join(root, self.file)
        if not os.path.exists(path):
            return f"there is no {self.file}"
        with open(path, encoding="utf-8") as f:
            count = f.read().count(self.old)
        if count != 1:
            return f"its text occurs {count} times in {self.file}, not once"
        if self.old == self.new:
            return "it changes nothing"
        if not self.test_sources(root):
            return f"there is no test {self.test}"
        return None

    def test_sources(self, root):
        found = []
        for base, _, names in os.walk(os.path.join(root, "tests")):
            found += [os.path.join(base, n) for n in names if n in (self.test + ".c", self.test)]
        return [os.path.relpath(f, root) for f in found]

    def apply(self, root):
        path = os.path.join(root, self.file)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        with open(path, "w", encoding="utf-8") as f:
            f.write(text.replace(self.old, self.new))
        return text

    def restore(self, root, text):
        with open(os.path.join(root, self.file), "w", encoding="utf-8") as f:
            f.write(text)


def sources(root):
    """What there is below root but for builds and hidden directories, as relative paths."""
    found = set()
    for base, dirs, names in os.walk(root):
        dirs[:] = [d for d in dirs if d != "build" and not d.startswith(".")]
        found |= {os.path.relpath(os.path.join(base, n), root) for n in names}
    return found


def read_bytes(path):
    with open(path, "rb") as f:
        return f.read()


def update_tree(root, tree):
    """Makes the tree a copy; what is the same stays untouched, so that little is built anew."""
    os.makedirs(tree, exist_ok=True)
    wanted = sources(root)
    for name in sources(tree) - wanted:
        os.remove(os.path.join(tree, name))
    for name in wanted:
        source, target = os.path.join(root, name), os.path.join(tree, name)
        if os.path.exists(target) and read_bytes(source) == read_bytes(target):
            continue
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as f:
            f.write(read_bytes(source))
        os.chmod(target, os.stat(source).st_mode)


def read_all(directory):
    names = sorted(n for n in os.listdir(directory) if n.endswith(".mutant"))
    return [Mutant(os.path.join(directory, n)) for n in names]


def descendants(pid):
    """All that the process has started and that is still there; tests run in sessions of their own."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as stat:
                    parent = int(stat.read().rpartition(")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(entry))
    found = children.get(pid, [])
    for child in found:
        found.extend(children.get(child, []))
    return found


def make(tree, target, timeout, jobs, **settings):
    """Of a run that does not end, everything it has started is ended too."""
    argv = ["make", "-C", tree, f"-j{jobs}", *target]
    with subprocess.Popen(argv, env=dict(os.environ, **settings), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as run:
        try:
            output, _ = run.communicate(timeout=timeout)
        except BaseException:
            for pid in [run.pid, *descendants(run.pid)]:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            raise
        return subprocess.CompletedProcess(argv, run.returncode, output)


def run_one(mutant, tree, jobs, timeout):
    """'caught', 'SURVIVED' or 'BROKEN', and what to say about it."""
    source = mutant.test_sources(tree)[0]
    target, check = f"build/test/{source.replace('.c', '')}", ["check", f"T={mutant.test}.c"]
    if source.endswith(".py"):
        target, check = "build/sapling", ["cli-check", f"T={os.path.basename(source)[:-len('.py')]}"]
    text = mutant.apply(tree)
    try:
        built = make(tree, [target], BUILD_TIMEOUT_S, jobs)
        if built.returncode != 0:
            return "BROKEN", "does not compile:\n" + built.stdout[-2000:]
        begin = time.monotonic()
        try:
            ran = make(tree, check, timeout, jobs,
                       **(SEEDS if re.fullmatch(SIMULATIONS, mutant.test) else {}))
        except subprocess.TimeoutExpired:
            return "caught", f"{mutant.test} does not end"
        seconds = time.monotonic() - begin
        if ran.returncode == 0:
            return "SURVIVED", mutant.test
        return "caught", f"{mutant.test} ({seconds:.0f} s)"
    finally:
        mutant.restore(tree, text)


def main():
    parser = argparse.ArgumentParser(description="plants bugs and looks for tests that catch them")
    parser.add_argument("--table", metavar="DIR")
    parser.add_argument("--check", metavar="DIR")
    parser.add_argument("--run", metavar="DIR")
    parser.add_argument("--tree", help="a copy of the sources, with a build of its own")
    parser.add_argument("--root", default=".", help="the sources")
    parser.add_argument("--only", default="", help="mutants whose name contains this")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=int, default=TEST_TIMEOUT_S, metavar="SECONDS",
                        help="after which a test that has not ended has caught its mutant")
    args = parser.parse_args()
    mutants = [m for m in read_all(args.table or args.check or args.run) if args.only in m.name]
    if args.table:
        print("| planted bug | in | caught by |\n| --- | --- | --- |")
        for m in mutants:
            print(f"| {m.what} | `{m.file}` | `{m.test}` |")
        return 0
    complaints = [(m, m.complaint(args.root)) for m in mutants]
    complaints = [(m, c) for m, c in complaints if c]
    for m, complaint in complaints:
        print(f"{m.name}: {complaint}")
    if args.check or complaints:
        return 1 if complaints or not mutants else 0
    update_tree(args.root, args.tree)
    built = make(args.tree, ["tests"], TREE_TIMEOUT_S, args.jobs)
    if built.returncode != 0:
        print("the sources without a bug do not build:\n" + built.stdout[-2000:])
        return 1
    bad = 0
    for m in mutants:
        verdict, detail = run_one(m, args.tree, args.jobs, args.timeout)
        bad += verdict != "caught"
        print(f"{verdict:9} {m.name:32} {detail}", flush=True)
    print(f"mutants: {len(mutants) - bad} passed, {bad} failed")
    return 1 if bad or not mutants else 0


if __name__ == "__main__":
    sys.exit(main())
