#!/usr/bin/env python3
"""Tests of tools/wit_codegen: `wit_codegen_test.py TOOL`.

Each tests/schemas/bad/*.wit has mistakes of one kind and begins with the messages it must get, as
`// expect LINE:COLUMN: TEXT`: these, all of these and nothing else. The last line is
`wit-schema-test: N passed, N failed`.
"""
import csv
import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
EXPECT = "// expect "


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def bad_schema_gets_its_messages(tool, path):
    with open(path, encoding="utf-8") as file:
        expected = [line[len(EXPECT):].rstrip("\n") for line in file if line.startswith(EXPECT)]
    result = run(tool, "check", path)
    found = [line[len(path) + 1:] for line in result.stderr.splitlines()]
    if not expected or result.returncode != 1 or found != expected:
        return [f"expected {expected}", f"found    {found} (status {result.returncode})"]
    return []


def cut_schema_is_refused_and_survived(tool, path):
    """Every start of a schema, and the schema with one character gone, ends in an answer."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    problems = []
    with tempfile.TemporaryDirectory() as directory:
        name = os.path.join(directory, "cut.wit")
        for at in range(0, len(text), 97):
            for cut in (text[:at], text[:at] + text[at + 1:]):
                with open(name, "w", encoding="utf-8") as file:
                    file.write(cut)
                status = run(tool, "check", name).returncode
                if status not in (0, 1):
                    problems.append(f"cut at {at}: status {status}")
    return problems


def output_is_the_same_twice(tool, path):
    with tempfile.TemporaryDirectory() as directory:
        texts = []
        for name in ("one", "two"):
            target = os.path.join(directory, name)
            os.mkdir(target)
            if run(tool, "generate", "--out", target, path).returncode != 0:
                return ["does not generate"]
            texts.append({f: open(os.path.join(target, f), "rb").read() for f in os.listdir(target)})
    return [] if texts[0] == texts[1] and texts[0] else ["two runs differ, or wrote nothing"]


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def table_schema(package, dbi, name, status):
    return (f"/// @dbi-base({dbi})\npackage test:{package}@1.0.0;\ninterface x {{\n"
            f"/// @status({status})\nrecord dbi{dbi}-{name}-key {{ k: u8 }}\n"
            f"record dbi{dbi}-{name}-value {{ v: u8 }}\n}}\n")


def status_must_be_what_the_code_does(tool, _):
    problems = []
    for status, code, good in (("planned", "", True), ("active", "WIT_DBI_ROWS", True),
                               ("active", "", False), ("planned", "open(WIT_DBI_ROWS);", False),
                               ("active", "WIT_DBI_ROWS_OLD + MY_WIT_DBI_ROWS", False)):
        with tempfile.TemporaryDirectory() as directory:
            schema = os.path.join(directory, "a.wit")
            write(schema, table_schema("a", 0, "rows", status))
            write(os.path.join(directory, "src/deep/code.c"), code)
            result = run(tool, "check", "--src", os.path.join(directory, "src"), schema)
            if (result.returncode == 0) != good or (not good and "WIT_DBI_ROWS" not in result.stderr):
                problems.append(f"{status} with '{code}': {result.returncode} {result.stderr}")
    return problems


def files_share_numbers_and_names(tool, _):
    first = table_schema("a", 0, "rows", "planned")
    problems = []
    for second, message in ((table_schema("b", 1, "more", "planned"), None),
                            (table_schema("b", 0, "more", "planned"), "overlap"),
                            (table_schema("b", 1, "rows", "planned"), "there is a table 'rows'"),
                            (table_schema("a", 1, "more", "planned"), "package 'a' is also in"),
                            (table_schema("a-json", 1, "more", "planned"), "wit_a_json.h in C, as package a"),
                            ("package test:a-dbi0@1.0.0;\ninterface x { record rows-key { k: u8 } }\n",
                             "b.wit:2:22: record rows-key would be called WitADbi0RowsKey in C, as record "
                             "dbi0-rows-key is"),
                            ("package test:schema@1.0.0;\ninterface x { record dbi { k: u8 } }\n",
                             "WitSchemaDbi in C"),
                            ("package test:dbi@1.0.0;\ninterface x { enum a { b } }\n", None)):
        with tempfile.TemporaryDirectory() as directory:
            paths = [os.path.join(directory, name) for name in ("a.wit", "b.wit")]
            write(paths[0], first)
            write(paths[1], second)
            result = run(tool, "check", *paths)
            if (result.returncode == 0) != (message is None) or (message or "") not in result.stderr:
                problems.append(f"{message}: {result.returncode} {result.stderr}")
    return problems


def tables_are_sorted_by_number_and_package(tool, _):
    """Whatever the order of the files."""
    problems = []
    with tempfile.TemporaryDirectory() as directory:
        paths = [os.path.join(directory, name) for name in ("a.wit", "b.wit", "c.wit")]
        for path, text in zip(paths, (table_schema("a", 2, "last", "planned"),
                                      table_schema("b", 0, "first", "planned"),
                                      table_schema("c", 1, "middle", "planned"))):
            write(path, text)
        manifest = os.path.join(directory, "m.csv")
        page = os.path.join(directory, "p.md")
        run(tool, "generate", "--out", directory, "--manifest", manifest, "--page", page, *paths)
        for path, pattern in ((manifest, r"^(\d),"), (page, r"^\| (\d) \| `(?:first|middle|last)"),
                              (os.path.join(directory, "wit_schema_dbis.c"), r"^    {(\d),")):
            with open(path, encoding="utf-8") as file:
                found = re.findall(pattern, file.read(), re.M)
            if found != ["0", "1", "2"]:
                problems.append(f"{os.path.basename(path)}: {found}")
        with open(os.path.join(directory, "wit_schema_dbis.h"), encoding="utf-8") as file:
            header = file.read()
        problems += [f"no {line}" for line in ("WIT_A_DBI_BASE = 2,", "WIT_B_DBI_BASE = 0,",
                                               "WIT_C_DBI_COUNT = 1,") if line not in header]
    return problems


HOSTILE = """/// A package */ of /* texts, and of ??/ and \\
/// @dbi-base(0)
/// @owner(the "shop" team, Berlin | ??/)
package test:shop@1.0.0;
interface x {
    /// Paths such as /var/jobs/*.log and /*/
    record r {
        /// All of */*/**/
        a: u8,
    }
    /// @frozen
    /// @magic("??=\\"	")
    record dbi0-rows-key { k: u8 }
    record dbi0-rows-value { v: u8 }
}
"""


def compiled(directory):
    """What the compiler says of the generated files, with the warnings of the build."""
    files = sorted(os.path.join(directory, f) for f in os.listdir(directory) if f.endswith(".c"))
    flags = ("-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Werror -std=c11 -fsyntax-only "
             "-D_GNU_SOURCE -Isrc -Iinclude -Igenerated -Itests").split()
    compiler = shlex.split(os.environ.get("CC", "cc"))
    return [line for name in files
            for line in run(*compiler, *flags, f"-I{directory}", name).stderr.splitlines()[:4]]


def text_of_a_schema_is_only_text(tool, _):
    with tempfile.TemporaryDirectory() as directory:
        schema = os.path.join(directory, "a.wit")
        manifest = os.path.join(directory, "m.csv")
        write(schema, HOSTILE)
        result = run(tool, "generate", "--out", directory, "--manifest", manifest, schema)
        if result.returncode != 0:
            return [result.stderr]
        with open(manifest, encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        problems = compiled(directory)
    if [len(row) for row in rows] != [7, 7] or rows[1][4] != 'the "shop" team, Berlin | ??/':
        problems.append(str(rows))
    return problems


ALWAYS = """package test:always@1.0.0;
interface x {
    enum state { open, paid }
    /// @refine(state >= open)
    /// @refine(state == state || !(open <= state))
    /// @refine(a == a && b != !a)
    /// @refine(!a == b)
    /// @refine(d == d || d < d)
    /// @refine(1 < 2)
    /// @refine(1.0 < 2.0)
    /// @refine(true == true && -1.0 / 3.0 < - -1.0)
    /// @refine((n > 1) == b || has(o) == a)
    /// @refine(has(o) == has(o) && n / n == 1)
    record r { state: state, a: bool, b: bool, d: f64, n: u8, o: option<u8> }
}
"""


def refinements_that_always_hold_compile(tool, _):
    with tempfile.TemporaryDirectory() as directory:
        schema = os.path.join(directory, "a.wit")
        write(schema, ALWAYS)
        result = run(tool, "generate", "--out", directory, schema)
        return compiled(directory) if result.returncode == 0 else [result.stderr]


def a_manifest_needs_a_table(tool, _):
    with tempfile.TemporaryDirectory() as directory:
        schema = os.path.join(directory, "a.wit")
        write(schema, ALWAYS)
        result = run(tool, "generate", "--out", directory, "--manifest", os.path.join(directory, "m.csv"), schema)
        ok = result.returncode == 2 and "needs a schema with tables" in result.stderr
        return [] if ok and os.listdir(directory) == ["a.wit"] else [f"{result} {os.listdir(directory)}"]


def schemas_beyond_all_bounds_get_an_answer(tool, _):
    def declared(*lines):
        return "package test:large@1.0.0;\ninterface x {\n" + "\n".join(lines) + "\n}\n"
    problems = []
    tuples = ["type t0 = tuple<u8, u8>;"] + [f"type t{i} = tuple<t{i - 1}, t{i - 1}>;" for i in range(1, 40)]
    records = ["record r0 { a: u8 }"] + [f"record r{i} {{ a: r{i - 1}, b: r{i - 1} }}" for i in range(1, 64)]
    for text, message in (
            (declared("/// @refine(" + "a + " * 200000 + "a > 0)", "record r { a: u8 }"),
             "3:525: more than 128 terms in one expression"),
            (declared(*tuples, "record r { a: t39 }"),
             "10:11: a value of this type has more than 256 parts: make records of it"),
            (declared(*records, "record last { a: list<tuple<r63, r63>> }"),
             "19:8: a value of this type has more than 131072 parts"),
            (declared(*(f"record r{i} {{ a: r{i + 1} }}" for i in range(50000)), "record r50000 { a: u8 }"),
             "10003:8: more than 10000 types in one file")):
        with tempfile.TemporaryDirectory() as directory:
            schema = os.path.join(directory, "a.wit")
            write(schema, text)
            result = run(tool, "generate", "--out", directory, schema)
            if result.returncode != 1 or result.stderr != f"{schema}:{message}\n":
                problems.append(f"{message}: {result.returncode} {result.stderr[-200:]}")
    return problems


def main():
    tool = os.path.abspath(sys.argv[1])
    os.chdir(ROOT)
    cases = [(bad_schema_gets_its_messages, p) for p in sorted(glob.glob("tests/schemas/bad/*.wit"))]
    constructs = "tests/schemas/constructs.wit"
    cases += [(cut_schema_is_refused_and_survived, constructs), (output_is_the_same_twice, constructs),
              (status_must_be_what_the_code_does, "--src"), (files_share_numbers_and_names, "files"),
              (tables_are_sorted_by_number_and_package, "tables"), (text_of_a_schema_is_only_text, "text"),
              (refinements_that_always_hold_compile, "always"), (a_manifest_needs_a_table, "manifest"),
              (schemas_beyond_all_bounds_get_an_answer, "bounds")]
    failed = 0
    for test, path in cases:
        problems = test(tool, path)
        failed += bool(problems)
        for problem in problems:
            print(f"{path}: {test.__name__}: {problem}")
    print(f"wit-schema-test: {len(cases) - failed} passed, {failed} failed")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
