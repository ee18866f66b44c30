#!/usr/bin/env python3
"""Compile and run what the documents show, so that no example in them rots.

Every block marked ```c in docs/reference, docs/tutorial, docs/howto and README.md is one of
  a program    it has a main(): compiled, linked with build/libsapling-runtime.a and run in a scratch
               directory. It must exit 0 and, if the next block is ```text, print that.
  a unit       it begins with #include or /*: compiled as it stands.
  a sketch     it begins with #include and goes on with calls: compiled with these headers alone, the
               rest inside a function.
  a fragment   anything else: compiled inside a function in which db, txn, cur and other names of
               CONTEXT are declared. A signature is a fragment too: the compiler compares it with
               the header's.
A ```cpp block is a C++ unit, compiled where a C++ compiler is installed.

Further: each function of the public headers has its signature in docs/reference, each code its row
in docs/reference/errors.md, and a tutorial page whose program is examples/native/tutorial_NAME.c
consists of pieces of that file, leaves no line of it out, and shows only output that it prints.

The last line is `docs-examples-test: N passed, N failed`; a test is one block or one rule.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
PAGES = ("docs/reference", "docs/tutorial", "docs/howto")
LIBRARY = "build/libsapling-runtime.a"
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wno-unused"]
RUN_SECONDS = 60

CONTEXT = """#include <sapling/queue.h>
#include <sapling/sapling.h>
#include <sapling/store.h>
#include <sapling/universe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void must(int code);
extern void handle(const void *bytes, uint32_t len);

void fragment(DB *db, Txn *txn, Txn *child, Cursor *cur, SapMemArena *arena, SapStat stat, int rc,
              const void *key, uint32_t key_len, const void *val, uint32_t val_len, uint64_t n,
              uint64_t now_ms, SapUniverse *universe);
void fragment(DB *db, Txn *txn, Txn *child, Cursor *cur, SapMemArena *arena, SapStat stat, int rc,
              const void *key, uint32_t key_len, const void *val, uint32_t val_len, uint64_t n,
              uint64_t now_ms, SapUniverse *universe)
{
    (void)db, (void)txn, (void)child, (void)cur, (void)arena, (void)stat, (void)rc, (void)key;
    (void)key_len, (void)val, (void)val_len, (void)n, (void)now_ms, (void)universe;
    {
"""


class Block:
    """One fenced block of a page."""

    def __init__(self, page, line, language, text):
        self.page = page
        self.line = line
        self.language = language
        self.text = text
        self.output = None  # what the page says that the program prints

    @property
    def kind(self):
        if self.language == "cpp":
            return "unit"
        if re.search(r"^int main\(", self.text, re.M):
            return "program"
        if self.text.startswith("#include") and re.search(r"^\w+\(", self.text, re.M):
            return "sketch"
        return "unit" if self.text.startswith(("#include", "#define", "/*")) else "fragment"

    def source(self):
        here = f'#line {self.line + 1} "{self.page}"\n'
        if self.kind == "fragment":
            return f"{CONTEXT}{here}{self.text}    }}\n}}\n"
        if self.kind == "sketch":
            head, _, body = self.text.partition("\n\n")
            return f"{here}{head}\nvoid sketch(void);\nvoid sketch(void) {{\n{body}}}\n"
        return here + self.text


def blocks_of(page, text):
    """The fenced blocks of a page, in order. An unclosed fence is an error."""
    found = []
    current = None
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        fence = re.match(r"```(\w*)\s*$", line)
        if current is not None and line.rstrip() == "```":
            found.append(current)
            current = None
        elif current is not None:
            current.text += line
        elif fence:
            current = Block(page, number, fence.group(1), "")
    if current is not None:
        raise ValueError(f"{page}:{current.line}: the block does not end")
    for block, following in zip(found, found[1:]):
        if block.kind == "program" and following.language == "text":
            block.output = following.text
    return found


class Checks:
    """Counts what held, and says what did not."""

    def __init__(self, out=sys.stdout):
        self.passed = 0
        self.failed = 0
        self.out = out

    def check(self, ok, message):
        if ok:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAIL  {message}", file=self.out)
        return ok


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def pages():
    """(path, text) of the pages whose code is checked."""
    for directory in PAGES:
        for name in sorted(os.listdir(os.path.join(ROOT, directory))):
            if name.endswith(".md"):
                yield f"{directory}/{name}", read(f"{directory}/{name}")
    yield "README.md", read("README.md")


def compile_block(block, scratch):
    """(error text or None, path of the program or None)."""
    cpp = block.language == "cpp"
    source = os.path.join(scratch, "block.cpp" if cpp else "block.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(block.source())
    compiler = os.environ.get("CXX", "g++") if cpp else os.environ.get("CC", "gcc")
    command = shlex.split(compiler) + ["-std=c++11" if cpp else "-std=c11", *WARNINGS,
                                       "-I" + os.path.join(ROOT, "include"), source]
    program = None
    if block.kind == "program":
        program = os.path.join(scratch, "program")
        command += ["-g", "-o", program, os.path.join(ROOT, LIBRARY), "-lpq", "-lsodium", "-lxxhash", "-pthread"]
    else:
        command += ["-fsyntax-only"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return (None if result.returncode == 0 else result.stderr), program


def check_block(checks, block):
    where = f"{block.page}:{block.line}"
    if block.language == "cpp" and shutil.which(os.environ.get("CXX", "g++")) is None:
        return True
    with tempfile.TemporaryDirectory(prefix="sapling-docs-") as scratch:
        error, program = compile_block(block, scratch)
        if error is not None:
            return checks.check(False, f"{where}: does not compile\n{error}")
        if program is None:
            return checks.check(True, where)
        try:
            result = subprocess.run([program], cwd=scratch, stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                    timeout=RUN_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return checks.check(False, f"{where}: still runs after {RUN_SECONDS} s")
    if result.returncode != 0:
        return checks.check(False, f"{where}: exit status {result.returncode}\n{result.stdout}")
    same = block.output is None or block.output == result.stdout
    return checks.check(same, f"{where}: prints something else:\n{result.stdout}")


# ---- Rules for whole pages ----------------------------------------------------------------------

def public_functions():
    """Names of the functions that the public headers declare."""
    names = []
    for header in sorted(os.listdir(os.path.join(ROOT, "include/sapling"))):
        text = re.sub(r"/\*.*?\*/", "", read(f"include/sapling/{header}"), flags=re.S)
        names += re.findall(r"^SAP_API [^;(]*?\b(sap_\w+)\(", text, re.M)
    return names


def short_names():
    return {full: short for short, full in
            re.findall(r"^#define (\w+) +(sap_\w+)$", read("include/sapling/short_names.h"), re.M)}


def check_signatures(checks, blocks):
    code = "".join(b.text for b in blocks if b.language == "c" and b.kind == "fragment")
    short = short_names()
    for name in public_functions():
        shown = short.get(name, name)
        checks.check(re.search(rf"^[\w ]*[ *]{shown}\(", code, re.M) is not None,
                     f"docs/reference: no signature of {shown}()")


def check_codes(checks, page):
    table = re.findall(r'^ *X\((SAP_\w+), (\d+), "(.*?)"\)', read("include/sapling/error.h"), re.M)
    checks.check(len(table) > 0, "include/sapling/error.h: no codes found")
    for name, number, text in table:
        row = re.search(rf"^\| *{number} *\| *`{name}` *\|(.*)$", page, re.M)
        checks.check(row is not None and text in row.group(1),
                     f"docs/reference/errors.md: no row `{number} | {name} | {text}`")


def lines_covered(program, piece):
    """The range of lines at which the piece occurs in the program, or None."""
    lines = program.splitlines()
    wanted = piece.splitlines()
    for start in range(len(lines) - len(wanted) + 1):
        if lines[start:start + len(wanted)] == wanted:
            return range(start, start + len(wanted))
    return None


def check_tutorial(checks, page, blocks, program_path, expected):
    program = read(program_path)
    covered = set()
    for block in blocks:
        where = f"{block.page}:{block.line}"
        if block.language == "c":
            found = lines_covered(program, block.text)
            checks.check(found is not None, f"{where}: not a piece of {program_path}")
            covered.update(found or ())
        elif block.language == "text":
            checks.check(block.text in expected, f"{where}: {program_path} does not print this")
    start = program.index("*/") if program.startswith("/*") else 0  # the comment at its head
    for number, line in enumerate(program.splitlines()):
        head = number <= program.count("\n", 0, start)
        if line.strip() and not head and number not in covered:
            checks.check(False, f"{page}: does not show line {number + 1} of {program_path}")
            return
    checks.check(True, page)


def check_lists(checks):
    """Pages that list files leave none out."""
    for directory, ending, page in (("include/sapling", ".h", "docs/reference/naming.md"),
                                    ("examples/native", ".c", "docs/README.md")):
        text = read(page)
        for name in sorted(os.listdir(os.path.join(ROOT, directory))):
            if name.endswith(ending):
                checks.check(name in text, f"{page}: {directory}/{name} is missing")


# ---- The checker itself -------------------------------------------------------------------------

def check_checker(checks):
    """Plants mistakes, and sees that they are found."""
    def verdict(text):
        quiet = Checks(open(os.devnull, "w", encoding="utf-8"))
        with quiet.out:
            for block in blocks_of("planted.md", text):
                if block.language in ("c", "cpp"):
                    check_block(quiet, block)
        return quiet.passed, quiet.failed

    program = '#include <stdio.h>\nint main(void)\n{\n    puts("a");\n    return %d;\n}\n'
    cases = (
        ("a fragment", "```c\nrc = txn_put(txn, \"k\", 1, \"v\", 1);\n```\n", (1, 0)),
        ("a wrong call", "```c\nrc = txn_put(txn, \"k\");\n```\n", (0, 1)),
        ("a signature", "```c\nint db_close(DB *db);\n```\n", (1, 0)),
        ("a wrong signature", "```c\nvoid db_close(DB *db);\n```\n", (0, 1)),
        ("a sketch", "```c\n#include <sapling/sapling.h>\n\nDB *db = NULL;\ndb_close(db);\n```\n", (1, 0)),
        ("a sketch without its header", "```c\n#include <stddef.h>\n\ndb_close(NULL);\n```\n", (0, 1)),
        ("a program", f"```c\n{program % 0}```\n\n```text\na\n```\n", (1, 0)),
        ("a program that fails", f"```c\n{program % 1}```\n", (0, 1)),
        ("another output", f"```c\n{program % 0}```\n\n```text\nb\n```\n", (0, 1)),
        ("blocks in other languages", "```sh\nmake\n```\n\n    indented\n", (0, 0)),
    )
    for name, text, expected in cases:
        got = verdict(text)
        checks.check(got == expected, f"the checker itself: {name}: {got} instead of {expected}")
    try:
        blocks_of("planted.md", "```c\nint x;\n")
        checks.check(False, "the checker itself: a block without an end passes")
    except ValueError:
        checks.check(True, "")
    checks.check(lines_covered("a\nb\nc\n", "b\nc\n") == range(1, 3) and
                 lines_covered("a\nb\nc\n", "a\nc\n") is None,
                 "the checker itself: pieces are not told from others")


def main():
    checks = Checks()
    if not os.path.exists(os.path.join(ROOT, LIBRARY)):
        checks.check(False, f"{LIBRARY} is not built: run make")
    else:
        check_checker(checks)
        reference = []
        for page, text in pages():
            blocks = blocks_of(page, text)
            name = os.path.basename(page)[:-len(".md")]
            program = f"examples/native/tutorial_{name}.c"
            if page.startswith("docs/tutorial/") and os.path.exists(os.path.join(ROOT, program)):
                check_tutorial(checks, page, blocks, program, read(program[:-2] + ".expected"))
                continue
            if page.startswith("docs/reference/"):
                reference += blocks
            for block in blocks:
                if block.language in ("c", "cpp"):
                    check_block(checks, block)
        check_signatures(checks, reference)
        check_codes(checks, read("docs/reference/errors.md"))
        check_lists(checks)
    print(f"docs-examples-test: {checks.passed} passed, {checks.failed} failed")
    return 1 if checks.failed or checks.passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
