#!/usr/bin/env python3
"""Check what a program can check of the house style. `tidy.py --list` names the rules.

Findings are printed as `path:line: [rule] message`; the exit status is 1 if there are any.
A finding that is meant is listed in tools/tidy-allow.txt as `rule path reason...`; an entry
that allows nothing is a finding too.
"""
import argparse
import io
import os
import re
import subprocess
import sys
import tokenize

import tidy_c

EVERYTHING = ("common", "json", "schema", "sapling", "store", "simulator", "runner", "wasi", "universe",
              "dispatch", "batch", "node", "cli")

# Which directories of src/ a directory may include headers of, besides its own.
MAY_USE = {
    "common": (),
    "json": ("common",),
    "schema": ("json", "common"),
    "sapling": ("common",),
    "store": ("sapling", "common"),
    "simulator": ("store", "common"),
    "runner": ("sapling", "common"),
    "wasi": ("runner", "sapling", "common"),
    "universe": ("store", "simulator", "sapling", "json", "common"),
    "dispatch": ("store", "json", "common"),
    "batch": ("store", "sapling", "json", "common"),
    "node": ("batch", "dispatch", "universe", "wasi", "runner", "simulator", "store", "sapling",
             "json", "common"),
    "cli": EVERYTHING,
}

# The same for C outside src/: generated codecs, their JSON in files of their own, and tools. What is
# generated for tests may use anything.
OUTSIDE_MAY_USE = {
    "generated": ("common",),
    "generated json": ("json", "common"),
    "tools": ("schema", "common"),
}

# Which directories of src/ may use generated headers, and those that need JSON.
GENERATED_USERS = ("store", "runner", "wasi", "universe", "dispatch", "batch", "node", "cli")
GENERATED_JSON_USERS = ("node", "cli")

# The layer each public header belongs to. error.h and version.h are of no layer: all use them.
PUBLIC_HEADERS = {
    "error.h": "common", "version.h": "common",
    "arena.h": "sapling", "bept.h": "sapling", "hamt.h": "sapling", "sapling.h": "sapling",
    "seq.h": "sapling", "short_names.h": "sapling", "text.h": "sapling", "txn.h": "sapling",
    "queue.h": "runner", "runner_v0.h": "runner",
    "store.h": "store", "universe.h": "universe", "dispatch.h": "dispatch", "batch.h": "batch",
}
LIBSAPLING_LAYERS = ("common", "sapling", "runner")
RUNTIME_LAYERS = ("store", "universe", "dispatch", "batch")

# What libsapling exports, and what libsapling-runtime exports besides: the public calls of these layers.
SYMBOL_LISTS = {
    "tools/exported-symbols.txt": LIBSAPLING_LAYERS,
    "tools/exported-symbols-runtime.txt": RUNTIME_LAYERS,
}
ALLOW_LIST = "tools/tidy-allow.txt"
SHORT_NAMES = "include/sapling/short_names.h"
SHORT_PREFIXES = ("sap_txn_", "sap_cursor_", "sap_db_", "sap_dbi_")
VERSION_HEADER = "include/sapling/version.h"
BYTES_HEADER = "src/common/bytes.h"

DUPLICATE_MIN_LINES = 6
FUNCTION_MAX_LINES = 150
FILE_MAX_LINES = 1000
README_MAX_LINES = 60
BLOB_MAX_BYTES = 512 * 1024

BANNED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
CONFLICT = re.compile(r"(<{7}|>{7}) ")
BUILD_PRODUCT = re.compile(r"(^build/|(^|/)__pycache__/|\.(o|a|d|pyc|gch|so(\.\d+)*)$)")


class Finding:
    def __init__(self, path, line, rule, message):
        self.path = path
        self.line = line
        self.rule = rule
        self.message = message

    def __str__(self):
        return f"{self.path}:{self.line}: [{self.rule}] {self.message}"


class Tree:
    """The files of a source tree, read once."""

    C_ROOTS = ("src", "include", "generated", "tests", "examples", "bench", "tools")

    def __init__(self, root):
        self.root = root
        self.files = sorted(self._walk())
        self.sources = {}
        for path in self.files:
            if path.endswith((".c", ".h")) and path.split("/")[0] in self.C_ROOTS:
                self.sources[path] = tidy_c.Source(path, self.read(path))

    def _walk(self):
        for directory, names, files in os.walk(self.root):
            names[:] = [n for n in names if n not in (".git", "build", "__pycache__", "node_modules")]
            for name in files:
                full = os.path.join(directory, name)
                if os.path.isfile(full):
                    yield os.path.relpath(full, self.root).replace(os.sep, "/")

    def read(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as file:
            return file.read()

    def exists(self, path):
        return os.path.exists(os.path.join(self.root, path))

    def under(self, *roots):
        return [s for p, s in self.sources.items() if p.split("/")[0] in roots]

    def public_declarations(self):
        """[(source, line, name)] of what public headers declare with SAP_API."""
        found = []
        for source in self.under("include"):
            for item in source.prototypes + source.variables:
                if re.search(r"\bSAP_API\b", item.head):
                    found.append((source, source.line(item.at), item.name))
        return found

    def git_files(self, *options):
        """Paths git knows of, or None where the tree is no repository."""
        if not self.exists(".git"):
            return None
        command = ["git", "-C", self.root, "ls-files", "-z", *options]
        result = subprocess.run(command, capture_output=True, check=False)
        if result.returncode != 0:
            return None
        return [p for p in result.stdout.decode("utf-8", "replace").split("\0") if p]


# --- rules ---------------------------------------------------------------------------------------
# Each yields findings; its docstring is its description, its name with dashes is the rule's.

def generated_kind(path):
    """The key of OUTSIDE_MAY_USE of a file in generated/; None for what serves tests."""
    stem = os.path.splitext(os.path.basename(path))[0]
    return None if stem.endswith("_samples") else \
        "generated json" if stem.endswith("_json") else "generated"


def layers_outside(tree):
    for source in tree.under("generated", "tools"):
        kind = "tools" if source.path.startswith("tools/") else generated_kind(source.path)
        if kind is None:
            continue
        for line, target, quoted in source.includes():
            first, slash, _ = target.partition("/")
            if not quoted:
                continue
            if slash and first not in OUTSIDE_MAY_USE[kind] or \
                    not slash and kind == "generated" and generated_kind(target) != "generated":
                yield Finding(source.path, line, "layers", f"{kind} may not use {target}")


def layers(tree):
    """a directory of src/ includes only headers of the layers it may use"""
    yield from layers_outside(tree)
    for source in tree.under("src", "include"):
        parts = source.path.split("/")
        public = parts[0] == "include"
        layer = PUBLIC_HEADERS.get(parts[-1]) if public else parts[1]
        if len(parts) < 3 or layer not in MAY_USE:
            what = "the header" if public else f"src/{parts[1]}"
            yield Finding(source.path, 1, "layers", f"{what} has no place in the table of layers")
            continue
        for line, target, quoted in source.includes():
            first, _, rest = target.partition("/")
            if quoted and tree.exists(f"generated/{target}"):
                users = {"generated": GENERATED_USERS, "generated json": GENERATED_JSON_USERS}
                if layer not in users.get(generated_kind(target), ()):
                    yield Finding(source.path, line, "layers", f"{layer} may not use {target}")
                continue
            if not rest or (not quoted and first not in MAY_USE):
                continue
            if first == "sapling" and (tree.exists(f"include/{target}") or public):
                used = PUBLIC_HEADERS.get(rest)
                if used is None:
                    yield Finding(source.path, line, "layers", f"{target} has no place in the table "
                                  "of layers" if tree.exists(f"include/{target}") else
                                  f"a public header includes {target}, which is not public")
                    continue
                if rest == "error.h":
                    continue
            elif public:
                yield Finding(source.path, line, "layers",
                              f"a public header includes {target}, which is not public")
                continue
            elif first not in MAY_USE:
                yield Finding(source.path, line, "layers", f"{target} is in no layer")
                continue
            else:
                used = first
            if used != layer and used not in MAY_USE[layer]:
                yield Finding(source.path, line, "layers", f"{layer} may not use {used} ({target})")


def duplicate_body(tree):
    """no two functions of six lines or more have the same body"""
    seen = {}
    for source in tree.under("src", "tools", "tests", "bench"):
        for function in sorted(source.functions, key=lambda f: f.line):
            body = source.body(function)
            if sum(1 for line in body.splitlines() if line.strip()) < DUPLICATE_MIN_LINES:
                continue
            key = " ".join(re.findall(r'"(?:\\.|[^"\\])*"|\w+|[^\w\s]', body))
            if key in seen:
                path, line, name = seen[key]
                yield Finding(source.path, function.line, "duplicate-body",
                              f"{function.name} has the body of {name} ({path}:{line})")
            else:
                seen[key] = (source.path, function.line, function.name)


SWAP_CALL = re.compile(r"\b(?:hton[ls]|ntoh[ls]|hto[bl]e\d+|[bl]e\d+toh|__builtin_bswap\d+"
                       r"|bswap_\d+)\s*\(")
SHIFT_LEFT = re.compile(r"<<\s*(8|16|24|32|40|48|56)[uUlL]*\b")
ONE_BIT = re.compile(r"(?:\b1[uUlL]*|\bUINT\d+_C\s*\(\s*1\s*\))\s*\)*\s*$")
ELEMENT = re.compile(r"(?:\]|\+\+|\*\s*\w+)\s*\)*\s*$")
SHIFT_MASK = re.compile(r">>\s*(?:8|16|24|32|40|48|56)[uUlL]*\s*\)*\s*&\s*(?:0[xX][fF]{2}|255)[uUlL]*\b")
SHIFT_CAST = re.compile(r"\(\s*(?:uint8_t|unsigned\s+char)\s*\)\s*\([^;{}]*?>>\s*"
                        r"(?:8|16|24|32|40|48|56)[uUlL]*\s*\)")


def shifts_that_assemble(source, code):
    """Lines with `x << 8 | y` and its like. Fields packed into a word (`ms << 16 | tag`), flags
    (`1u << 8 | 1u << 16`) and rotations are none: there must be a shift by 8, two shifts by
    multiples of 8, or an array element shifted."""
    for statement in re.finditer(r"[^;{}]+", code):
        start, text = statement.start(), statement.group()
        if not re.search(r"(?<!\|)\|(?!\|)", text):
            continue
        shifts = [m for m in SHIFT_LEFT.finditer(text) if not ONE_BIT.search(text[:m.start()])]
        back = {int(n) for n in re.findall(r">>\s*(\d+)", text)}
        shifts = [m for m in shifts if not back & {32 - int(m.group(1)), 64 - int(m.group(1))}]
        if len(shifts) > 1 or any(m.group(1) == "8" or ELEMENT.search(text[:m.start()])
                                  for m in shifts):
            yield source.line(start + shifts[0].start())


def byte_assembly(tree):
    """integers are put together from bytes and taken apart only in src/common/bytes.h"""
    for source in tree.under("src"):
        if source.path == BYTES_HEADER:
            continue
        code = source.bare
        hits = {}
        for pattern, what in ((SWAP_CALL, "byte order conversion"), (SHIFT_MASK, "byte extraction"),
                              (SHIFT_CAST, "byte extraction")):
            for match in pattern.finditer(code):
                hits.setdefault(source.line(match.start()), what)
        for line in shifts_that_assemble(source, code):
            hits.setdefault(line, "bytes assembled by shifts")
        for line, what in sorted(hits.items()):
            yield Finding(source.path, line, "byte-assembly", f"{what} outside {BYTES_HEADER}")


def include_target(tree, source, target):
    candidates = [f"include/{target}", f"src/{target}", f"tests/{target}", f"generated/{target}",
                  os.path.normpath(os.path.join(os.path.dirname(source.path), target))]
    return next((c for c in candidates if c in tree.sources), None)


def references(tree):
    """name -> {path: [offsets]} of uses: neither definitions nor prototypes."""
    uses = {}
    for source in tree.sources.values():
        declared = {f.name_at for f in source.functions} | {p.at for p in source.prototypes} | \
                   {v.at for v in source.variables}
        for name, offsets in source.positions().items():
            kept = [o for o in offsets if o not in declared]
            if kept:
                uses.setdefault(name, {})[source.path] = kept
    return uses


def used_elsewhere(uses, name, path, function=None):
    """Is `name`, defined in `path`, used outside its own definition? Without `function`: is it
    used in another file?"""
    for where, offsets in uses.get(name, {}).items():
        if where != path:
            return True
        if function and any(not function.start <= o <= function.body_end for o in offsets):
            return True
    return False


def unreferenced(tree):
    """every header is included, every file and every function of src/ is used"""
    included = set()
    for source in tree.sources.values():
        for _, target, _ in source.includes():
            found = include_target(tree, source, target)
            if found and found != source.path:
                included.add(found)
    uses = references(tree)
    public = {p.name for s in tree.under("include") for p in s.prototypes + s.variables}
    for source in tree.under("src", "include"):
        if source.path.endswith(".h") and source.path not in included:
            yield Finding(source.path, 1, "unreferenced", "no file includes this header")
    for source in tree.under("src"):
        header = source.path.endswith(".h")
        if not header and source.path not in included:
            names = [f.name for f in source.functions if not f.static] + \
                    [v.name for v in source.variables if not v.static]
            if not any(n == "main" or n in public or used_elsewhere(uses, n, source.path)
                       for n in names):
                yield Finding(source.path, 1, "unreferenced", "nothing in this file is used by another")
                continue
        for function in source.functions:
            if function.name == "main" or function.name in public:
                continue
            if function.static and not header:
                continue
            if not used_elsewhere(uses, function.name, source.path, function):
                yield Finding(source.path, function.line, "unreferenced",
                              f"{function.name} is used nowhere")


def blobs(tree):
    """no file above 512 KiB, and no build product in git"""
    present = tree.git_files("--cached", "--others", "--exclude-standard")
    for path in sorted(set(tree.files if present is None else present)):
        full = os.path.join(tree.root, path)
        if os.path.isfile(full) and os.path.getsize(full) > BLOB_MAX_BYTES:
            yield Finding(path, 1, "blobs", f"{os.path.getsize(full) // 1024} KiB, more than "
                          f"{BLOB_MAX_BYTES // 1024}")
    for path in tree.git_files("--cached") or []:
        full = os.path.join(tree.root, path)
        if not os.path.isfile(full):
            continue
        with open(full, "rb") as file:
            elf = file.read(4) == b"\x7fELF"
        if elf or BUILD_PRODUCT.search(path):
            yield Finding(path, 1, "blobs", "a build product is tracked")


def symbols(tree):
    """the lists of exported symbols are sorted and are what the public headers declare"""
    for path, layers in SYMBOL_LISTS.items():
        yield from compare_symbols(tree, path, layers)


def compare_symbols(tree, path, layers):
    declared = {}
    for source, line, name in tree.public_declarations():
        if PUBLIC_HEADERS.get(os.path.basename(source.path)) in layers:
            declared.setdefault(name, (source.path, line))
    listed = {}
    if tree.exists(path):
        previous = ""
        for number, name in enumerate(tree.read(path).splitlines(), 1):
            listed[name] = number
            if name <= previous:
                yield Finding(path, number, "symbols", f"{name} is out of order or twice")
            previous = name
            if not name.startswith("sap_"):
                yield Finding(path, number, "symbols", f"{name} does not begin with sap_")
            elif name not in declared:
                yield Finding(path, number, "symbols", f"{name} is in no public header")
    for name, (header, line) in declared.items():
        if name not in listed:
            yield Finding(header, line, "symbols", f"{name} is not in {path}")


def comments_of(tree, path):
    """[(line, text)] of the comments of a source in any of the tree's languages."""
    if path in tree.sources:
        source = tree.sources[path]
        for offset, text in source.comments:
            for number, line in enumerate(text.splitlines()):
                yield source.line(offset) + number, line
    elif path.endswith(".py"):
        try:
            for token in tokenize.generate_tokens(io.StringIO(tree.read(path)).readline):
                if token.type == tokenize.COMMENT:
                    yield token.start[0], token.string
        except (tokenize.TokenError, SyntaxError):
            return
    elif path.endswith((".sh", ".mk")) or path.startswith(("script/", ".ci/")) or path == "Makefile":
        for number, line in enumerate(tree.read(path).splitlines(), 1):
            match = re.search(r"(?:^|\s)#(.*)", line)
            if match:
                yield number, match.group(1)


def banned_words(tree):
    """comments leave no work for later: no TODO, FIXME, XXX, HACK"""
    for path in tree.files:
        for line, text in comments_of(tree, path):
            match = BANNED.search(text)
            if match:
                yield Finding(path, line, "banned-words", f"{match.group(1)} in a comment")


def conflicts(tree):
    """no text has the marks of an unfinished merge"""
    for path in tree.files:
        if path.endswith((".c", ".h", ".md", ".py", ".sh", ".mk", ".txt")):
            for number, line in enumerate(tree.read(path).splitlines(), 1):
                if CONFLICT.match(line):
                    yield Finding(path, number, "conflicts", "a mark of an unfinished merge")


def short_names(tree):
    """every transaction, cursor, database and table call has its short name"""
    defined = {}
    if tree.exists(SHORT_NAMES):
        defined = dict(re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:\([^)]*\))?[ \t]+(\w+)",
                                  tree.read(SHORT_NAMES), re.M))
    for source, line, name in tree.public_declarations():
        if name.startswith(SHORT_PREFIXES) and defined.get(name[len("sap_"):]) != name:
            yield Finding(source.path, line, "short-names",
                          f"{name} has no macro {name[len('sap_'):]} in {SHORT_NAMES}")


def version(tree):
    """the macros of version.h are what the file VERSION says"""
    if not tree.exists(VERSION_HEADER):
        return
    numbers = dict(re.findall(r"^#define SAPLING_VERSION_(MAJOR|MINOR|PATCH)[ \t]+(\d+)$",
                              tree.read(VERSION_HEADER), re.M))
    macros = ".".join(numbers.get(part, "?") for part in ("MAJOR", "MINOR", "PATCH"))
    text = tree.read("VERSION").strip() if tree.exists("VERSION") else ""
    if macros != text:
        yield Finding(VERSION_HEADER, 1, "version", f"the macros say {macros}, VERSION {text}")


def length(tree):
    """functions have at most 150 lines, files of src/ at most 1000"""
    for source in tree.under("src"):
        if source.line_count > FILE_MAX_LINES:
            yield Finding(source.path, FILE_MAX_LINES + 1, "length",
                          f"{source.line_count} lines, more than {FILE_MAX_LINES}")
        for function in source.functions:
            lines = function.last_line - source.line(function.start) + 1
            if lines > FUNCTION_MAX_LINES:
                yield Finding(source.path, function.line, "length",
                              f"{function.name} has {lines} lines, more than {FUNCTION_MAX_LINES}")


def readme(tree):
    """every directory of src/ has a README.md of at most 60 lines"""
    for directory in sorted({p.split("/")[1] for p in tree.files
                             if p.startswith("src/") and p.count("/") >= 2}):
        path = f"src/{directory}/README.md"
        if not tree.exists(path):
            yield Finding(path, 1, "readme", f"src/{directory} has no README.md")
        else:
            lines = len(tree.read(path).splitlines())
            if lines > README_MAX_LINES:
                yield Finding(path, README_MAX_LINES + 1, "readme",
                              f"{lines} lines, more than {README_MAX_LINES}")


def links(tree):
    """relative links in Markdown files point to files that exist"""
    inline = re.compile(r"\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+[\"'][^)]*)?\s*\)")
    reference = re.compile(r"^\s{0,3}\[[^\]]+\]:\s*<?(\S+?)>?(?:\s|$)")
    for path in tree.files:
        if not path.endswith(".md"):
            continue
        fence = None
        for number, line in enumerate(tree.read(path).splitlines(), 1):
            mark = re.match(r"\s*(```+|~~~+)", line)
            if mark and (fence is None or mark.group(1).startswith(fence)):
                fence = mark.group(1) if fence is None else None
                continue
            if fence is not None:
                continue
            line = re.sub(r"(`+)(?:(?!\1).)*\1", "", line)
            for target in inline.findall(line) + reference.findall(line):
                if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", target) or target.startswith("#"):
                    continue
                file = target.split("#")[0].split("?")[0]
                full = file[1:] if file.startswith("/") else \
                    os.path.normpath(os.path.join(os.path.dirname(path), file))
                if not tree.exists(full):
                    yield Finding(path, number, "links", f"{target} does not exist")


OPENING_CALL = re.compile(r"(\bfd_raise\s*\(\s*)?\b(open|openat|creat|socket|accept|accept4|eventfd|"
                          r"memfd_create|pidfd_open|epoll_create1?|timerfd_create|signalfd|dup|"
                          r"mkstemp|mkostemp)\s*\(")
OPENING_NEVER = re.compile(r"\b(opendir|fopen|freopen|tmpfile|popen|pipe|pipe2|socketpair)\s*\(")
FD_FILE = "src/common/fd.c"


def descriptors(tree):
    """descriptors are opened by the calls of src/common/fd.h, above the standard ones"""
    for source in tree.under("src"):
        own = {f.name for f in source.functions}
        if source.path == FD_FILE:
            continue
        calls = [(m, m.group(2)) for m in OPENING_CALL.finditer(source.bare) if m.group(1) is None]
        calls += [(m, m.group(1)) for m in OPENING_NEVER.finditer(source.bare)]
        for match, name in calls:
            if name not in own and source.bare[match.start() - 1] not in ".>":
                yield Finding(source.path, source.line(match.start()), "descriptors",
                              f"{name}() may give a standard descriptor: use src/common/fd.h")


RULES = (layers, duplicate_body, byte_assembly, unreferenced, blobs, symbols, banned_words,
         conflicts, short_names, length, readme, links, descriptors,
         version)


def rule_name(rule):
    return rule.__name__.replace("_", "-")


def allowed(tree):
    """{(rule, path): line} of the allow list."""
    entries = {}
    if tree.exists(ALLOW_LIST):
        for number, line in enumerate(tree.read(ALLOW_LIST).splitlines(), 1):
            words = line.split("#")[0].split()
            if words:
                entries[(words[0], words[1] if len(words) > 2 else "")] = number
    return entries


def check(root, only=None):
    """All findings of the tree at `root`, in order of path and line."""
    tree = Tree(root)
    rules = [r for r in RULES if only is None or rule_name(r) in only]
    findings = [f for rule in rules for f in rule(tree)]
    entries = allowed(tree)
    used = {(f.rule, f.path) for f in findings}
    kept = [f for f in findings if (f.rule, f.path) not in entries]
    if only is None:
        kept += [Finding(ALLOW_LIST, line, "allow-list", "allows nothing, or gives no reason")
                 for key, line in entries.items() if key not in used]
    return tree, sorted(kept, key=lambda f: (f.path, f.line, f.rule, f.message))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default=os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser.add_argument("--rule", action="append", help="only this rule (may be repeated)")
    parser.add_argument("--list", action="store_true", help="list the rules")
    args = parser.parse_args()
    if args.list:
        for rule in RULES:
            print(f"{rule_name(rule):16} {rule.__doc__}")
        return 0
    unknown = set(args.rule or []) - {rule_name(r) for r in RULES}
    if unknown:
        parser.error(f"no such rule: {', '.join(sorted(unknown))}")
    tree, findings = check(args.root, args.rule)
    for finding in findings:
        print(finding)
    functions = sum(len(s.functions) for s in tree.sources.values())
    print(f"{len(tree.files)} files, {functions} functions, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
