#!/bin/sh
# Usage: repro_check.sh FILE...
# Builds FILEs again in a copy of the tree under another path, and compares them byte by byte.
set -eu

copy=$(mktemp -d "${TMPDIR:-/tmp}/sapling-reproducible-build-XXXXXX")
trap 'rm -rf "$copy"' EXIT
mkdir "$copy/elsewhere"
cp -RL Makefile VERSION mk src generated include tools "$copy/elsewhere/"

# A fresh make, not a part of the one that called this: none of its options apply.
unset MAKEFLAGS MFLAGS MAKELEVEL PWD
SOURCE_DATE_EPOCH=1 TZ=Asia/Tokyo "${MAKE:-make}" -C "$copy/elsewhere" -j "${JOBS:-2}" "$@" >"$copy/log" 2>&1 || {
    cat "$copy/log"
    exit 1
}

status=0
for file in "$@"; do
    if cmp "$file" "$copy/elsewhere/$file"; then
        echo "$file: same bytes"
    else
        status=1
    fi
done
exit $status
