#!/usr/bin/env python3
"""Tests of tools/schema_diff: `schema_diff_test.py TOOL`.

Each directory of tests/schemas/diff is one kind of change: the schemas old(.wit) and new(.wit), and
all that the tool must print of them in expect.txt. The last line is
`schema-diff-test: N passed, N failed`.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
CASES = os.path.join(ROOT, "tests", "schemas", "diff")
LINE = re.compile(r"^(?P<file>[^:]+):(?P<line>\d+):(?P<column>\d+): (?P<what>[a-z]+ [a-z0-9-]+)"
                  r"(?:, (?P<part>field|case|flag) (?P<name>[a-z0-9-]+))?: (?P<text>.*) "
                  r"\(breaks (?P<whom>[a-z, ]+)\)$")


def run(tool, *arguments, cwd=ROOT):
    return subprocess.run([tool, *arguments], capture_output=True, text=True, check=False, timeout=60,
                          cwd=cwd)


def sides(case):
    plain = os.path.isdir(os.path.join(case, "old"))
    return ("old", "new") if plain else ("old.wit", "new.wit")


def prints_what_is_expected(tool, case):
    with open(os.path.join(case, "expect.txt"), encoding="utf-8") as file:
        expected = file.read()
    result = run(tool, *sides(case), cwd=case)
    status = 0 if expected == "compatible\n" else 1
    if result.stdout != expected or result.returncode != status or result.stderr or not expected:
        return [f"expected {status}:\n{expected}", f"found {result.returncode}:\n{result.stdout}{result.stderr}"]
    return []


def json_says_the_same(tool, case):
    lines = run(tool, *sides(case), cwd=case).stdout.splitlines()
    found = json.loads(run(tool, "--json", *sides(case), cwd=case).stdout)
    if lines == ["compatible"]:
        return [] if found == {"compatible": True, "breaks": []} else [str(found)]
    again = []
    for line in lines:
        match = LINE.match(line)
        if not match:
            return [f"not a line of the documented form: {line}"]
        again.append((match["file"], int(match["line"]), int(match["column"]), match["what"],
                      match["name"], match["text"], set(match["whom"].split(", "))))
    told = [(b["file"], b["line"], b["column"], b["what"],
             b.get("field", b.get("case", b.get("flag"))), b["text"],
             {w for w in ("old reader", "new reader", "stored rows") if b[w.replace(" ", "_")]})
            for b in found["breaks"]]
    return [] if told == again and not found["compatible"] else [f"{told}", f"{again}"]


def every_kind_has_a_case(tool, cases):
    """The kinds that the source names are those that the cases bring."""
    source = ""
    for name in ("diff.c",):
        with open(os.path.join(ROOT, "tools", "schema_diff", name), encoding="utf-8") as file:
            source += file.read()
    named = set(re.findall(r'"((?:[a-z]+-(?:changed|removed|added|grew|appended|tightened|loosened|'
                           r'renumbered|replaced|back))|removed|inserted|moved|renamed)"', source))
    seen = set()
    for case in cases:
        found = json.loads(run(tool, "--json", *sides(case), cwd=case).stdout)
        seen |= {b["kind"] for b in found["breaks"]}
    return [] if named == seen and len(seen) > 15 else [f"only in the source: {sorted(named - seen)}",
                                                        f"only in cases: {sorted(seen - named)}"]


def wrong_use_is_status_two(tool, _):
    problems = []
    with tempfile.TemporaryDirectory() as empty:
        bad = os.path.join("tests", "schemas", "bad", "cycle.wit")
        good = os.path.join("schemas", "wit", "runtime-schema.wit")
        for arguments in ((), (good,), (good, good, good), ("--no-such", good, good),
                          (good, bad), (bad, good), (good, "no-such.wit"), (good, empty)):
            result = run(tool, *arguments)
            if result.returncode != 2 or not result.stderr or result.stdout:
                problems.append(f"{arguments}: {result.returncode} {result.stdout}{result.stderr}")
    return problems


def what_is_there_is_compatible_with_itself(tool, _):
    return [path for path in ("schemas/wit", "tests/schemas/constructs.wit")
            if run(tool, path, path).stdout != "compatible\n"]


def main():
    tool = os.path.abspath(sys.argv[1])
    cases = sorted(entry.path for entry in os.scandir(CASES) if entry.is_dir())
    tests = [(test, case) for case in cases for test in (prints_what_is_expected, json_says_the_same)]
    tests += [(every_kind_has_a_case, cases), (wrong_use_is_status_two, None),
              (what_is_there_is_compatible_with_itself, None)]
    failed = 0
    for test, case in tests:
        problems = test(tool, case)
        failed += bool(problems)
        for problem in problems:
            where = os.path.basename(case) if isinstance(case, str) else ""
            print(f"{where}: {test.__name__}: {problem}")
    print(f"schema-diff-test: {len(tests) - failed} passed, {failed} failed")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
