#!/usr/bin/env python3
"""Compare docs/reference/universe-metrics.md with what the universe counts and logs.

Each metric of src/universe/meters.h has one row with its name, its type and its meaning, and each event
that src/universe logs has one with its levels and its fields, in order. The page has no others.

The last line is `universe-metrics-test: N passed, N failed`; a test is one metric, one event or one
mistake that was planted.
"""
import glob
import os
import re
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
PAGE = "docs/reference/universe-metrics.md"
PREFIX = "sapling_universe_"
TYPES = {"COUNTERS": "counter", "GAUGES": "gauge", "HISTOGRAMS": "histogram"}


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def metrics_of_source(header):
    """{name: type} of the tables in meters.h."""
    found = {}
    for group, kind in TYPES.items():
        table = re.search(rf"#define UNIVERSE_{group}\(X\)((?:.*\\\n)*.*\n)", header)
        for name in re.findall(r'X\(\w+,\s*"(\w+)"', table.group(1)):
            found[PREFIX + name] = kind
    return found


def calls_of(source, macro):
    """The argument lists of the macro's uses, by their brackets."""
    for match in re.finditer(rf"\b{macro}\(", source):
        depth = 1
        end = match.end()
        while depth > 0:
            depth += {"(": 1, ")": -1}.get(source[end], 0)
            end += 1
        yield source[match.end():end - 1]


def events_of_source(sources):
    """{name: (levels, fields)}; one call may log one of two events, or on one of two levels."""
    found = {}
    for source in sources:
        for call in calls_of(source, "LOG_EVENT"):
            levels = sorted(set(re.findall(r"\bLOG_LEVEL_(\w+)", call)))
            fields = re.findall(r'\bLOG_(?:I64|U64|BOOL|STR|TEXT|HEX)\("(\w+)"', call)
            for name in re.findall(r'"(universe\.\w+)"', call):
                found[name] = (sorted(level.lower() for level in levels), fields)
    return found


def rows_of(page, pattern):
    """[cells] of the rows of the page's tables whose first cell is `pattern` in backquotes."""
    rows = re.findall(rf"^\| `({pattern})` \|(.*)\|$", page, re.M)
    return [[name, *(cell.strip() for cell in rest.split(" | "))] for name, rest in rows]


def metrics_of_page(page):
    return [(cells[0], cells[1] if len(cells) == 4 and cells[2] else "no type and meaning")
            for cells in rows_of(page, PREFIX + r"\w+")]


def events_of_page(page):
    found = []
    for cells in rows_of(page, r"universe\.\w+"):
        complete = len(cells) == 4 and cells[3] != ""
        levels = sorted(cells[1].split(", ")) if complete else []
        found.append((cells[0], (levels, re.findall(r"`(\w+)`", cells[2]) if complete else [])))
    return found


def differences(expected, found):
    """Texts about what is missing, wrong, twice or too much; nothing where the two agree."""
    names = [name for name, _ in found]
    for name, what in expected.items():
        if names.count(name) != 1:
            yield f"{name}: {names.count(name)} rows instead of one"
        elif dict(found)[name] != what:
            yield f"{name}: the page says {dict(found)[name]}, the source {what}"
    for name in sorted(set(names) - set(expected)):
        yield f"{name}: the source does not have it"


def all_differences(header, sources, page):
    return [*differences(metrics_of_source(header), metrics_of_page(page)),
            *differences(events_of_source(sources), events_of_page(page))]


def planted(header, sources, page):
    """(what, header, sources, page): each must differ."""
    event = 'LOG_EVENT(log, LOG_LEVEL_INFO, "universe.planted", LOG_STR("world", x(1)));'
    yield "a new counter", header.replace("UNIVERSE_COUNTERS(X)   ", 'UNIVERSE_COUNTERS(X) X(a, "planted_total", "b")', 1), sources, page
    yield "a new event", header, [*sources, event], page
    yield "another type", header, sources, page.replace("| gauge |", "| counter |", 1)
    yield "a metric that is gone", header, sources, page + f"| `{PREFIX}gone` | gauge | what was | |\n"
    yield "a row that is missing", header, sources, re.sub(r"(?m)^\| `sapling_universe_steps_total`.*\n", "", page)
    yield "a row twice", header, sources, page + "".join(re.findall(r"(?m)^\| `universe\.stuck`.*\n", page))
    yield "another level", header, sources, page.replace("| warn, error |", "| error |", 1)
    yield "another field", header, sources, page.replace("`epoch`, `height`, `correlation_id`", "`epoch`, `correlation_id`", 1)
    yield "no meaning", header, sources, re.sub(r"(?m)^(\| `sapling_universe_worlds_hot` \| gauge \|)[^|]*", r"\1  ", page)


def main():
    header = read("src/universe/meters.h")
    sources = [read(os.path.relpath(path, ROOT)) for path in
               sorted(glob.glob(os.path.join(ROOT, "src/universe/*.c")))]
    page = read(PAGE)
    total = len(metrics_of_source(header)) + len(events_of_source(sources))
    failures = [f"{PAGE}: {text}" for text in all_differences(header, sources, page)]
    total += len(failures)
    for what, *case in planted(header, sources, page):
        total += 1
        if case == [header, sources, page] or not all_differences(*case):
            failures.append(f"{what} is not found")
    for text in failures:
        print(f"FAIL  {text}")
    print(f"universe-metrics-test: {total - len(failures)} passed, {len(failures)} failed")
    return 1 if failures or total < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
