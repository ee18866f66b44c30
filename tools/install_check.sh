#!/bin/sh
# Installs into a scratch directory, then builds and runs a program against what is there, found
# by pkg-config alone: with the shared library, fully static, and without the short names.
set -eu

: "${CC:=gcc}" "${MAKE:=make}" "${PKG_CONFIG:=pkg-config}"
root=$(mktemp -d "${TMPDIR:-/tmp}/sapling-install-XXXXXX")
trap 'rm -rf "$root"' EXIT
prefix=/opt/sapling

"$MAKE" --no-print-directory install DESTDIR="$root" PREFIX="$prefix" >"$root/log" 2>&1 || {
    cat "$root/log"
    exit 1
}

export PKG_CONFIG_PATH="$root$prefix/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$root"
cp tests/tools/install_check.c "$root/program.c"
cp tests/tools/install_check_runtime.c "$root/runtime.c"
sh tests/tools/headers_check.sh "$root$prefix/include"
tree=$(pwd)
cd "$root"

version=$("$PKG_CONFIG" --modversion sapling)
# pkg-config prints words meant to be split, and a compiler may be given with options.
# shellcheck disable=SC2046,SC2086
$CC -std=c11 -Wall -Wextra -Werror $("$PKG_CONFIG" --cflags sapling) program.c \
    $("$PKG_CONFIG" --libs sapling) -o program-shared
# shellcheck disable=SC2046,SC2086
$CC -std=c11 -Wall -Wextra -Werror -static $("$PKG_CONFIG" --cflags sapling) program.c \
    $("$PKG_CONFIG" --static --libs sapling) -o program-static

# shellcheck disable=SC2046,SC2086
$CC -std=c11 -Wall -Wextra -Werror -DSAPLING_NO_SHORT_NAMES $("$PKG_CONFIG" --cflags sapling) \
    program.c $("$PKG_CONFIG" --libs sapling) -o program-own-names

# The runtime's library has everything of the other one too.
for source in program.c runtime.c; do
    # shellcheck disable=SC2046,SC2086
    $CC -std=c11 -Wall -Wextra -Werror $("$PKG_CONFIG" --cflags sapling-runtime) "$source" \
        $("$PKG_CONFIG" --libs sapling-runtime) -o "${source%.c}-runtime-shared"
    # From the archive; libpq stays shared, since the libraries it needs have no archives.
    # shellcheck disable=SC2046,SC2086
    $CC -std=c11 -Wall -Wextra -Werror $("$PKG_CONFIG" --cflags sapling-runtime) "$source" \
        $("$PKG_CONFIG" --static --libs sapling-runtime |
            sed 's/-lsapling-runtime/-l:libsapling-runtime.a/') -o "${source%.c}-runtime-static"
    for kind in shared static; do
        said=$(LD_LIBRARY_PATH="$root$prefix/lib" "./${source%.c}-runtime-$kind")
        if [ "$said" != success ]; then
            echo "$source with the $kind sapling-runtime prints '$said'"
            exit 1
        fi
    done
done

shared=$(LD_LIBRARY_PATH="$root$prefix/lib" ./program-shared)
static=$(./program-static)
own_names=$(LD_LIBRARY_PATH="$root$prefix/lib" ./program-own-names)
if [ "$shared" != success ] || [ "$static" != success ] || [ "$own_names" != success ]; then
    echo "the programs print '$shared' (shared), '$static' (static) and '$own_names' (own names)"
    exit 1
fi
command=$("$root$prefix/bin/sapling" --version)
if [ "$command" != "sapling $version" ] || [ ! -s "$root$prefix/share/man/man1/sapling.1" ]; then
    echo "the command says '$command', or its man page is missing"
    exit 1
fi
if ! "$root$prefix/bin/schema_diff" "$tree/schemas/wit" "$tree/schemas/wit" >/dev/null ||
    [ ! -s "$root$prefix/share/man/man1/schema_diff.1" ]; then
    echo "schema_diff does not run, or its man page is missing"
    exit 1
fi
answer=$(echo '{"v":1,"id":"1","world":"stock","type":"message","name":"fill","body":{"item":"a","count":2},"state":{}}' |
    PYTHONPATH="$root$prefix/share/sapling/python" python3 "$tree/examples/worlds/stock.py")
if [ "$answer" != '{"id":"1","put":{"count/a":2},"reply":{"count":2}}' ]; then
    echo "a world with the installed Python package answers '$answer'"
    exit 1
fi
echo "sapling $version: shared and static programs of both libraries, with and without short names, and a world in Python run"
