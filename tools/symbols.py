#!/usr/bin/env python3
"""Compare the symbols that a library exports with a checked-in list, or rewrite the list.

Usage: symbols.py check|update LIST[+OTHER] LIBRARY.so LIBRARY.a
       symbols.py clash PROGRAM

Both libraries must define exactly the names of LIST and OTHER: the shared one as dynamic symbols, the
static one as global symbols. Only LIST is rewritten, with the names that are not in OTHER.

A PROGRAM must not have a function with the name of one of its shared libraries' functions: its other parts
would call that in place of the library's.
"""
import os
import re
import subprocess
import sys


def names_in(path, *options):
    command = [os.environ.get("NM", "nm"), *options, "--defined-only", "--format=posix", path]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {line.split()[0] for line in text.splitlines() if len(line.split()) >= 2}


def dynamic(library):
    return names_in(library, "-D")


def defined(path):
    return dynamic(path) if path.endswith(".so") else names_in(path, "-g")


def read_list(path):
    try:
        with open(path, encoding="utf-8") as file:
            return set(file.read().split())
    except FileNotFoundError:
        return set()


def libraries_of(program):
    text = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    return [path for path in re.findall(r"=> (/\S+)", text) if not re.search(r"/(libc|libm|ld-\S+)\.so", path)]


def clash(program):
    own = names_in(program)
    bad = False
    libraries = libraries_of(program)
    for library in libraries:
        for name in sorted(own & {name.partition("@")[0] for name in dynamic(library)} - {"_init", "_fini"}):
            print(f"{program}: {name} is a function of {library} too")
            bad = True
    if not bad:
        print(f"{program}: no name of its {len(libraries)} libraries")
    return 1 if bad else 0


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "clash":
        return clash(sys.argv[2])
    if len(sys.argv) != 5 or sys.argv[1] not in ("check", "update"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    mode, libraries = sys.argv[1], sys.argv[3:]
    path, _, other = sys.argv[2].partition("+")
    besides = read_list(other) if other else set()
    found = {library: defined(library) for library in libraries}
    bad = False
    for library, names in found.items():
        for name in sorted(names):
            if not name.startswith("sap_"):
                print(f"{library}: exports {name}, which does not begin with sap_")
                bad = True
    if mode == "update":
        names = sorted(set.union(*found.values()) - besides)
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(name + "\n" for name in names)
        print(f"{path}: {len(names)} symbols")
    expected = read_list(path)
    if not expected:
        print(f"{path}: empty or missing")
        bad = True
    expected |= besides
    for library, names in found.items():
        for name in sorted(expected ^ names):
            sign, what = ("+", "exported but not in the list") if name in names else (
                "-", "in the list but not exported")
            print(f"{library}: {sign} {name} ({what})")
            bad = True
    if bad:
        print("If the change is meant, run `make symbols-update` and review the list.")
        return 1
    print(f"{len(expected)} exported symbols, as listed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
