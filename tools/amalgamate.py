#!/usr/bin/env python3
"""Put engine and runner into two files, sapling.h and sapling.c, that need nothing but a C11 compiler.

Usage: amalgamate.py --out DIR [--root DIR] [--vendor xxhash.h=PATH]... SOURCE...

SOURCE is a C file, or a directory of them. sapling.h is every public header that they include; sapling.c is the
internal headers, each once and before what needs it, and then the sources. What one file per
concept kept apart meets in one translation unit, hence:

  * A file-level name of a source (static function or variable, tag, typedef, enumerator) that
    another source has too, or a header it does not include, gets its file's name as a prefix.
  * Macros of a source are undefined at its end.
  * Functions that no public header declares become static: the public ones alone are exported.
    They may go unused, since the sources serve more than the engine.
  * System headers come first, outside any of our macros; one included under a condition stays
    where it is. A vendored header (--vendor) is copied to where it was included.

Only the shape of C is understood, as in tidy_c.py; what that misses, the compiler reports. The
output depends on the input files alone.
"""
import argparse
import os
import re
import sys

import tidy_c
from tidy_c import IDENTIFIER

DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w+)((?:\\\n|[^\n])*)\n?", re.M)
DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.M)
TAG = re.compile(r"\b(?:struct|union|enum)\s+(\w+)\s*(?=[{;])")
ALIASED_TAG = re.compile(r"\btypedef\s+(?:struct|union|enum)\s+(\w+)\s+\w+\s*;")
ENUM = re.compile(r"\benum\b\s*\w*\s*\{([^{}]*)\}")
RECORD = re.compile(r"\b(?:struct|union)\b\s*\w*\s*\{")
EMPTY_CONDITION = re.compile(r"^[ \t]*#[ \t]*if[^\n]*\n\s*#[ \t]*endif[^\n]*\n", re.M)
API_BLOCK = re.compile(r"^#[ \t]*if[^\n]*\n(?:[ \t]*#[ \t]*(?!if|endif)[^\n]*\n)*?"
                       r"[ \t]*#[ \t]*define[ \t]+SAP_API\b(?:[^\n]*\n)*?#[ \t]*endif[^\n]*\n", re.M)

PRIVATE = "SAP_PRIVATE"

# What xxHash's own build does not ask for, and users of the amalgamation may.
VENDOR_WARNINGS = ("-Wcast-align", "-Wcast-qual", "-Wconversion", "-Wpedantic", "-Wshadow",
                   "-Wsign-conversion", "-Wundef", "-Wunused-function")

NOTICE = """\
/* {title}
 *
 * Generated from Sapling {version} by tools/amalgamate.py: change the sources, not this file.
 *
 * {usage}
 *
{license}
 */
"""
HEADER_USAGE = """Every public header of engine and runner in one. See sapling.c for how to build it."""
SOURCE_USAGE = """Engine and runner in one file:
 *
 *     cc app.c sapling.c -lpthread
 *
 * -DSAPLING_THREADED=0 leaves threads out, and -lpthread with them. Only names that begin with
 * sap_ are exported; -DSAP_API=... replaces how (`static`, to include this file in another)."""

SOURCE_TOP = """
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

"""

SOURCE_PRIVATE = f"""
/* The sources use the short names, whatever the program does. */
#undef SAPLING_NO_SHORT_NAMES
#include "sapling.h"

#if defined(__GNUC__)
#define {PRIVATE} static __attribute__((unused))
#else
#define {PRIVATE} static
#endif
"""


class AmalgamationError(Exception):
    pass


class Include:
    """`conditions` are the lines of the #if... around it, the include guard left out."""

    def __init__(self, start, end, target, quoted, conditions):
        self.start = start
        self.end = end
        self.target = target
        self.quoted = quoted
        self.conditions = conditions


class File:
    def __init__(self, path, text):
        self.path = path
        self.source = tidy_c.Source(path, text)
        self.includes = self._includes()
        self.macros = set(DEFINE.findall(self.source.plain))
        self.names = self._names()

    @property
    def stem(self):
        return re.sub(r"\W", "_", os.path.splitext(os.path.basename(self.path))[0])

    def _includes(self):
        found, stack = [], []
        plain = self.source.plain
        for match in DIRECTIVE.finditer(plain):
            word = match.group(1)
            line = match.group().strip()
            if word in ("if", "ifdef", "ifndef"):
                guard = word == "ifndef" and not stack and not found and \
                    re.match(r"\s*#\s*define\s+" + re.escape(match.group(2).strip()) + r"\s*\n",
                             plain[match.end():])
                stack.append(None if guard else line)
            elif word in ("else", "elif") and stack:
                stack[-1] = f"{stack[-1]} ... {line}"
            elif word == "endif" and stack:
                stack.pop()
            elif word == "include":
                target = tidy_c.INCLUDE.match(match.group())
                if not target:
                    raise AmalgamationError(f"{self.path}: cannot follow {line}")
                found.append(Include(match.start(), match.end(), target.group(1) or target.group(2),
                                     target.group(1) is not None, [c for c in stack if c]))
        return found

    def _names(self):
        """File-level names with a meaning of their own in this file."""
        source = self.source
        names = {f.name for f in source.functions} | {p.name for p in source.prototypes} | \
                {v.name for v in source.variables}
        code = source.code()
        for function in source.functions:
            code = code[:function.body_start] + \
                tidy_c.blank(code[function.body_start:function.body_end]) + code[function.body_end:]
        names |= set(TAG.findall(code)) | set(ALIASED_TAG.findall(code))
        for match in ENUM.finditer(code):
            names |= set(re.findall(r"(?:^|,)\s*([A-Za-z_]\w*)\s*(?==|,|$)", match.group(1).strip()))
        flat = code
        while re.search(r"\{[^{}]*\}", flat):
            flat = re.sub(r"\{[^{}]*\}", lambda m: tidy_c.blank(m.group()), flat)
        for match in re.finditer(r"\btypedef\b([^;]*);", flat):
            name = re.search(r"\(\s*\*\s*(\w+)\s*\)", match.group(1)) or \
                re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*$", match.group(1))
            if name:
                names.add(name.group(1))
        return names

    def declaration_start(self, name_at):
        """Where the file-level declaration of the name at this offset begins."""
        code = self.source.code()
        start = max(code.rfind(char, 0, name_at) for char in ";{}") + 1
        return start + len(code[start:]) - len(code[start:].lstrip())


class Amalgamation:
    def __init__(self, root, source_paths, vendored):
        self.root = root
        self.vendored = vendored
        self.files = {}
        self.sources = []
        for given in source_paths:
            if given.endswith(".c"):
                self.sources.append(self.load(given))
                continue
            names = sorted(n for n in os.listdir(os.path.join(root, given)) if n.endswith(".c"))
            self.sources += [self.load(f"{given}/{name}") for name in names]
        if not self.sources:
            raise AmalgamationError("no sources in " + " ".join(source_paths))
        self.headers = []       # internal ones, each after those it includes
        self.public = []        # the same
        self.trailing = []      # public ones that another ends with: [(conditions, file)]
        for source in self.sources:
            self._visit(source, set())
        self.public += [f for _, f in self.trailing]
        self.api = self._api()
        self.identifiers = set()
        for file in self.files.values():
            self.identifiers |= set(file.source.positions())

    def read(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            return file.read()

    def load(self, path):
        if path not in self.files:
            self.files[path] = File(path, self.read(path))
        return self.files[path]

    def resolve(self, file, include):
        """The project file meant, or None for a system header."""
        for directory in ("include", "src", "generated"):
            path = f"{directory}/{include.target}"
            if os.path.isfile(os.path.join(self.root, path)):
                return self.load(path)
        if include.quoted:
            raise AmalgamationError(f"{file.path}: {include.target} not found")
        return None

    @staticmethod
    def is_public(file):
        return file.path.startswith("include/")

    def _visit(self, file, seen):
        for include in file.includes:
            target = self.resolve(file, include)
            if target is None or target in seen or target in self.headers or target in self.public:
                continue
            if self.is_public(file) and include.conditions:
                if not any(target is f for _, f in self.trailing):
                    if any("..." in c for c in include.conditions):
                        raise AmalgamationError(f"{file.path}: {include.target} is included under "
                                                "a condition with alternatives")
                    self.trailing.append((include.conditions, target))
                continue
            if any(target is f for _, f in self.trailing):
                continue
            self._visit(target, seen | {file})
            if target not in self.headers and target not in self.public:
                (self.public if self.is_public(target) else self.headers).append(target)

    def reachable(self, file, seen=None):
        """The project headers a file includes, directly or not."""
        seen = set() if seen is None else seen
        for include in file.includes:
            target = self.resolve(file, include)
            if target is not None and target not in seen:
                seen.add(target)
                self.reachable(target, seen)
        return seen

    def _api(self):
        """Names of the public functions and variables; all must be defined here."""
        api = set()
        for header in self.public:
            declared = header.source.prototypes + header.source.variables
            api |= {d.name for d in declared if re.search(r"\bSAP_API\b", d.head)}
        defined = {f.name for s in self.sources for f in s.source.functions} | \
                  {v.name for s in self.sources for v in s.source.variables}
        if api - defined:
            raise AmalgamationError("declared in a public header and defined nowhere: " +
                                    " ".join(sorted(api - defined)))
        return api

    # --- names -----------------------------------------------------------------------------------

    def renames(self, file):
        """{name: new name} for what a source shares with files it knows nothing of."""
        known = self.reachable(file)
        shared_with_known = set().union(*(k.names | k.macros for k in known))
        foreign = set()
        for other in self.sources:
            if other is not file:
                foreign |= other.names
        for header in self.headers + self.public:
            if header not in known:
                foreign |= header.names | header.macros
        linked = {f.name for f in file.source.functions if not f.static} | \
                 {v.name for v in file.source.variables if not v.static}
        result = {}
        for name in sorted((file.names & foreign) - shared_with_known - linked):
            new = f"{file.stem}_{name}"
            while new in self.identifiers:
                new += "_"
            result[name] = new
        self.identifiers |= set(result.values())
        return result

    @staticmethod
    def rename_edits(file, renames):
        """Members keep their names, whose struct may come from a header."""
        bare = file.source.bare
        records = []
        for match in RECORD.finditer(bare):
            depth, at = 1, match.end()
            while depth and at < len(bare):
                depth += {"{": 1, "}": -1}.get(bare[at], 0)
                at += 1
            records.append((match.end(), at))
        edits = []
        for match in IDENTIFIER.finditer(bare):
            new = renames.get(match.group())
            before = bare[:match.start()].rstrip()
            if new is None or before.endswith((".", "->")):
                continue
            member = any(start <= match.start() < end for start, end in records) and \
                not re.search(r"\b(struct|union|enum)$", before) and \
                re.match(r"\s*[;,:\[)]", bare[match.end():])
            if not member:
                edits.append((match.start(), match.end(), new))
        return edits

    def private_edits(self, file):
        """Internal linkage for what is not public."""
        source, edits = file.source, []
        for function in source.functions:
            if function.static and function.inline:
                word = re.compile(r"\bstatic\b").search(source.code(), function.start)
                edits.append((word.start(), word.end(), PRIVATE))
            elif not function.static and function.name not in self.api:
                edits.append((function.start, function.start, PRIVATE + " "))
        for declared in source.prototypes + source.variables:
            if declared.static or declared.name in self.api:
                continue
            start = file.declaration_start(declared.at)
            word = re.match(r"extern\s+", source.code()[start:])
            edits.append((start, start + (word.end() if word else 0), PRIVATE + " "))
        return edits

    # --- text ------------------------------------------------------------------------------------

    def include_edits(self, file, hoisted):
        for include in file.includes:
            text = file.source.text[include.start:include.end]
            if self.resolve(file, include) is not None:
                yield include.start, include.end, ""
            elif include.target in self.vendored:
                yield include.start, include.end, self.vendored_text(include.target)
            elif not include.conditions and hoisted is not None:
                hoisted.add(re.sub(r"\s+", " ", text.split(">")[0]).strip() + ">")
                yield include.start, include.end, ""

    def vendored_text(self, name):
        with open(self.vendored[name], encoding="utf-8") as file:
            text = file.read()
        quiet = "".join(f'#pragma GCC diagnostic ignored "{w}"\n' for w in VENDOR_WARNINGS)
        return (f"/* ---- {name}, with its license " + "-" * (60 - len(name)) + " */\n"
                f"#if defined(__GNUC__)\n#pragma GCC diagnostic push\n{quiet}#endif\n"
                f"{text.rstrip()}\n"
                "#if defined(__GNUC__)\n#pragma GCC diagnostic pop\n#endif\n"
                f"/* ---- end of {name} " + "-" * (71 - len(name)) + " */\n")

    @staticmethod
    def apply(text, edits):
        """Edits that touch (rename of a word, insertion before it) are applied in order."""
        out, at = [], 0
        for start, end, new in sorted(edits, key=lambda e: (e[0], e[1])):
            if start < at:
                raise AmalgamationError("two edits of one place: " + text[start:end])
            out += [text[at:start], new]
            at = end
        return "".join(out) + text[at:]

    @staticmethod
    def section(path, text):
        text = re.sub(r"\n{3,}", "\n\n", text).strip("\n")
        return f"\n/* ==== {path} " + "=" * max(4, 84 - len(path)) + f" */\n\n{text}\n"

    def header_text(self):
        parts = [NOTICE.format(title="sapling.h - the public interface of Sapling.",
                               version=self.version(), usage=HEADER_USAGE, license=self.license())]
        conditions = {f.path: c for c, f in self.trailing}
        found_api = False
        for header in self.public:
            text = self.apply(header.source.text, self.include_edits(header, None))
            if re.search(r"^[ \t]*#[ \t]*define[ \t]+SAP_API\b", text, re.M):
                text, count = API_BLOCK.subn(
                    lambda m: f"#ifndef SAP_API\n{m.group()}#endif\n", text)
                found_api = found_api or count == 1
            text = EMPTY_CONDITION.sub("", text)
            around = conditions.get(header.path, [])
            text = "".join(c + "\n" for c in around) + text.rstrip("\n") + "\n" + \
                "#endif\n" * len(around)
            parts.append(self.section(header.path.split("/", 1)[1], text))
        if not found_api:
            raise AmalgamationError("no public header defines SAP_API within one #if ... #endif")
        return "".join(parts)

    def source_text(self):
        hoisted, sections = set(), []
        for file in self.headers + self.sources:
            edits = list(self.include_edits(file, hoisted)) + self.private_edits(file)
            undefine = ""
            if file in self.sources:
                edits += self.rename_edits(file, self.renames(file))
                undefine = "".join(f"#undef {name}\n" for name in sorted(file.macros))
            text = self.apply(file.source.text, edits).rstrip("\n") + "\n"
            sections.append(self.section(file.path, text + ("\n" + undefine if undefine else "")))
        notice = NOTICE.format(title="sapling.c - an embedded storage engine.",
                               version=self.version(), usage=SOURCE_USAGE, license=self.license())
        return notice + SOURCE_TOP + "".join(f"{line}\n" for line in sorted(hoisted)) + \
            SOURCE_PRIVATE + "".join(sections)

    def version(self):
        return self.read("VERSION").strip()

    def license(self):
        return "\n".join(f" * {line}".rstrip() for line in self.read("LICENSE").strip().splitlines())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--out", required=True)
    parser.add_argument("--root", default=".")
    parser.add_argument("--vendor", action="append", default=[], metavar="NAME=PATH")
    parser.add_argument("sources", nargs="+")
    options = parser.parse_args()
    vendored = dict(entry.split("=", 1) for entry in options.vendor)
    try:
        whole = Amalgamation(options.root, options.sources, vendored)
        texts = {"sapling.h": whole.header_text(), "sapling.c": whole.source_text()}
    except (AmalgamationError, OSError) as error:
        print(f"amalgamate.py: {error}", file=sys.stderr)
        return 1
    os.makedirs(options.out, exist_ok=True)
    for name, text in texts.items():
        with open(os.path.join(options.out, name), "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
