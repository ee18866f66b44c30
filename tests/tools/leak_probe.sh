#!/bin/sh
# Usage: leak_probe.sh WRAPPER BINARY
# Shows that WRAPPER BINARY passes without a leak and fails with one, in the process itself and
# in the child process a Check test runs in.
wrapper=$1
binary=$2
passed=0
failed=0

expect() { # WANTED MODE
    # The wrapper is a command with its arguments, or nothing.
    # shellcheck disable=SC2086
    output=$($wrapper "$binary" "$2" 2>&1)
    status=$?
    if { [ "$1" = success ] && [ "$status" -eq 0 ]; } ||
        { [ "$1" = failure ] && [ "$status" -ne 0 ]; }; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$binary $2: expected $1, got exit status $status"
        echo "$output"
    fi
}

expect success clean
expect failure leak
expect failure forked
echo "leak-probe: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
