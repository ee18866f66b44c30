#!/bin/sh
# Usage: amalgamation_check.sh DIRECTORY GENERATOR...
# Compiles DIRECTORY/sapling.c and .h as a program would that has nothing else of Sapling, runs
# programs with them, and looks at what they export. GENERATOR... is the command that made them:
# it must give the same bytes again.
set -u

: "${CC:=gcc}" "${CLANG:=clang}" "${CXX:=g++}" "${NM:=nm}"
given=$1
shift
passed=0
failed=0
strict='-std=c11 -Wall -Wextra -Werror'

work=$(mktemp -d "${TMPDIR:-/tmp}/sapling-amalgamation-XXXXXX")
trap 'rm -rf "$work"' EXIT

check() { # CLAIM COMMAND...
    claim=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        passed=$((passed + 1))
        echo "ok   $claim"
    else
        failed=$((failed + 1))
        echo "FAIL $claim"
        head -n 40 "$work/log" | sed 's/^/     /'
    fi
}

generates_the_same() {
    PYTHONHASHSEED=1 "$@" --out "$work/again" || return 1
    cmp "$given/sapling.h" "$work/again/sapling.h" && cmp "$given/sapling.c" "$work/again/sapling.c"
}

check 'a second generation gives the same bytes' generates_the_same "$@"

# From here on in a directory that has the two files and a program.
mkdir -p "$work/app/sapling"
cp "$given/sapling.h" "$given/sapling.c" "$work/app/"
cp "$given/sapling.h" "$work/app/sapling/"
cp tests/wasm/smoke.c examples/native/store_example.expected "$work/app/"
cp examples/native/store_example.c "$work/app/app.c"
exported=$PWD/tools/exported-symbols.txt
cd "$work/app" || exit 1

includes_nothing_foreign() {
    # System headers are in the compiler's directories; the two files are all of our own.
    $CC -M sapling.c | tr -d '\134' | tr ' ' '\n' | grep -v '^$' >files || return 1
    ! grep -E '(xxhash|xxh3|/common/|/sapling/)' files && grep -qx sapling.h files
}

prints_what_it_should() { # PROGRAM
    "./$1" >"$1.out" && diff store_example.expected "$1.out"
}

exports_the_interface() { # OBJECT
    "$NM" -g --defined-only --format=posix "$1" | cut -d ' ' -f 1 | sort >"$1.names"
    [ -s "$1.names" ] || return 1
    # Nothing beside sap_, nothing that the library does not export, all that the header declares.
    ! grep -v '^sap_' "$1.names" || return 1
    ! grep -vxFf "$exported" "$1.names" || return 1
    grep -o '^SAP_API [^(]*(' sapling.h | grep -o 'sap_[a-z0-9_]*' | sort >declared
    diff declared "$1.names"
}

# pthread_atfork() is about processes: the C library has it without threads too.
needs_no_threads() { # OBJECT
    ! "$NM" -u "$1" | grep -v 'pthread_atfork$' | grep -i pthread
}

check 'it includes system headers only' includes_nothing_foreign

# Compilers may be given with options, hence unquoted.
for name in cc clang; do
    compiler=$CC
    [ "$name" = cc ] || compiler=$CLANG
    # shellcheck disable=SC2086
    check "$name: it compiles without a warning" $compiler $strict -O2 -c -o "$name.o" sapling.c
    check "$name: it exports the public interface only" exports_the_interface "$name.o"
    # shellcheck disable=SC2086
    check "$name: a program with it compiles" $compiler -I. -o "$name-app" app.c sapling.c -lpthread
    check "$name: and prints what is expected" prints_what_it_should "$name-app"
    # shellcheck disable=SC2086
    check "$name: it compiles without threads" \
        $compiler $strict -O2 -DSAPLING_THREADED=0 -c -o "$name-single.o" sapling.c
    check "$name: which then are not asked for" needs_no_threads "$name-single.o"
    # shellcheck disable=SC2086
    check "$name: a program without threads links" \
        $compiler $strict -I. -DSAPLING_THREADED=0 -o "$name-single" app.c "$name-single.o"
    check "$name: and prints what is expected" prints_what_it_should "$name-single"
done

# shellcheck disable=SC2086
check 'the engine of one file links with its smoke test' \
    $CC $strict -I. -o smoke smoke.c cc.o -lpthread
mkdir "$work/data"
check 'and passes it' ./smoke "$work/data"
check 'and once more with the files that it left' ./smoke "$work/data" again

cat >inside.c <<'END'
#define SAP_API static __attribute__((unused))
#include "sapling.c"
#include "app.c"
END
# shellcheck disable=SC2086
check 'it can be included in another file, exporting nothing' \
    $CC $strict -I. -c -o inside.o inside.c
exports_main_only() {
    [ "$("$NM" -g --defined-only --format=posix inside.o | cut -d ' ' -f 1)" = main ]
}
check 'main alone is visible then' exports_main_only

cat >long_names.c <<'END'
#define SAPLING_NO_SHORT_NAMES
#include "sapling.h"
#if defined(db_open) || defined(TXN_RDONLY)
#error "a short name in spite of SAPLING_NO_SHORT_NAMES"
#endif
typedef int DB;
int main(void)
{
    DB open = sap_db_open(0, 0, 0, 0) != 0;
    return !open;
}
END
# shellcheck disable=SC2086
check 'short names can be switched off' $CC $strict -o long_names long_names.c cc.o -lpthread
check 'and the program runs' ./long_names

if command -v "${CXX%% *}" >/dev/null; then
    cat >header.cc <<'END'
#include "sapling.h"
#include "sapling.h"
int main()
{
    DB *db = db_open(nullptr, 0, nullptr, nullptr);
    return db == nullptr || db_close(db) != SAP_OK;
}
END
    # shellcheck disable=SC2086
    check 'C++ takes the header' \
        $CXX -std=c++11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only header.cc
else
    echo "     no $CXX: the header was not tried with C++"
fi

echo "amalgamation-check: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
