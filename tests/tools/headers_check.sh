#!/bin/sh
# Usage: headers_check.sh DIRECTORY
# Compiles the public headers in DIRECTORY/sapling as programs would: each alone, each pair in both
# orders, in C and C++, with and without SAPLING_NO_SHORT_NAMES. Short names must come with
# sapling.h, txn.h and short_names.h, and with no other header.
set -eu

: "${CC:=gcc}" "${CXX:=g++}"
include=$1
work=$(mktemp -d "${TMPDIR:-/tmp}/sapling-headers-XXXXXX")
trap 'rm -rf "$work"' EXIT
headers=$(cd "$include/sapling" && echo *.h)
compiled=0

# Every short name as the program's own, which no macro may replace: functions and constants as
# functions, the typedefs as structs.
sed -n 's/^#define \([A-Za-z_]*\) *sap_.*/static int \1(void);\nstatic int \1(void) { return 1; }/p
        s/^#define \([A-Z_]*\) *SAP_.*/static int \1(void);\nstatic int \1(void) { return 1; }/p
        s/^typedef .* \([A-Za-z_]*\);/struct \1 { int member; };\ntypedef struct \1 \1;/p' \
    "$include/sapling/short_names.h" >"$work/own_names.c"
names=$(sed -n 's/^static int \([A-Za-z_]*\)(void);/\1/p' "$work/own_names.c")
{
    for name in $names; do
        printf 'int use_%s(void);\nint use_%s(void) { return %s(); }\n' "$name" "$name" "$name"
    done
} >>"$work/own_names.c"
[ "$(echo "$names" | wc -w)" -gt 60 ] || {
    echo "only $(echo "$names" | wc -w) short names were found in short_names.h"
    exit 1
}

cat >"$work/short_names.c" <<'END'
int use_short_names(DB *db, Txn *parent);
int use_short_names(DB *db, Txn *parent)
{
    Txn *txn = txn_begin(db, parent, TXN_WAIT);
    Cursor *cursor = cursor_open_dbi(txn, (DBI)0);
    cursor_close(cursor);
    txn_abort(txn);
    return db_close(db);
}
END

compile() { # NAMES OPTION... : NAMES is own_names or short_names; program.c includes the headers
    cat "$work/program.c" "$work/$1.c" >"$work/whole.c"
    shift
    cp "$work/whole.c" "$work/whole.cc"
    for compiler in "$CC -std=c99" "$CC -std=c11" "$CXX -std=c++11"; do
        file=$work/whole.c
        case $compiler in
        *c++*) file=$work/whole.cc ;;
        esac
        compiled=$((compiled + 1))
        # Compilers may be given with options, hence unquoted.
        # shellcheck disable=SC2086
        $compiler -Wall -Wextra -Wpedantic -Werror "$@" "-I$include" -fsyntax-only "$file" \
            >"$work/log" 2>&1 || {
            echo "$compiler $*: $headers_tried does not compile with $(wc -l <"$work/whole.c") lines:"
            head -n 20 "$work/log"
            exit 1
        }
    done
}

brings_short_names() { # HEADER...
    for header in "$@"; do
        case $header in
        sapling.h | txn.h | short_names.h) return 0 ;;
        esac
    done
    return 1
}

try() { # HEADER...
    headers_tried="$*"
    for header in "$@"; do
        printf '#include <sapling/%s>\n' "$header"
    done >"$work/program.c"
    if brings_short_names "$@"; then
        compile short_names
    else
        compile own_names
    fi
    case " $* " in
    *" short_names.h "*) ;; # the program asks for them
    *) compile own_names -DSAPLING_NO_SHORT_NAMES ;;
    esac
}

for first in $headers; do
    try "$first"
    for second in $headers; do
        try "$first" "$second"
    done
done
echo "headers-check: $compiled programs compiled"
