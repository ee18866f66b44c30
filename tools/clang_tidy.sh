#!/bin/sh
# Usage: clang_tidy.sh CLANG_TIDY FLAGS FILE
# One file; its findings in one piece, without the count of suppressed warnings that clang-tidy
# prints on standard error even when it has found nothing.
tidy=$1
flags=$2
file=$3
# shellcheck disable=SC2086 # flags are words meant to be split
output=$("$tidy" --quiet "$file" -- $flags 2>&1)
status=$?
[ $status -eq 0 ] || printf '%s\n' "$output"
exit $status
