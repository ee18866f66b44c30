#!/usr/bin/env bash
# tools/soak_universe.sh SECONDS SEED KILL_TEST PROCESSES_TEST SIMULATION_TEST
# Runs the three tests of worlds in turn, each time with other seeds, until SECONDS have passed; what has
# begun then is finished. The last line counts what was done. The status is not 0 if a test has failed, or
# if one of the three could not run here.
set -euo pipefail

seconds=$1 first=$2 kill_test=$3 processes_test=$4 simulation_test=$5
kills=300 faults=3 seeds=500 # of one run of each
declare -A sum=()
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# add WHAT...: adds up the numbers that stand before these words in the log.
add() {
    local what
    for what in "$@"; do
        sum[$what]=$((${sum[$what]:-0} + $({ grep -Eo "[0-9]+ $what\b" "$log" || true; } |
            awk '{ n += $1 } END { print n + 0 }')))
    done
}

finish() {
    echo "soak-universe: ${sum[kills]:-0} kills, ${sum[faults]:-0} faults on PostgreSQL" \
        "(${sum[cut off]:-0} cut off), ${sum[seeds]:-0} seeds of the simulator," \
        "${sum[acknowledged]:-0} messages acknowledged, ${sum[rounds]:-0} rounds from seed $first," \
        "$SECONDS s: $1"
}

# run TEST VARIABLE=VALUE...
run() {
    local binary=$1
    shift
    if ! env "$@" "$binary" >"$log" 2>&1; then
        tail -n 40 "$log" >&2
        echo "soak-universe: FAILED: $* $binary" >&2
        finish failed
        exit 1
    fi
    grep -E '^(universe|SKIPPED)' "$log" || true
}

seed=$first
while [ "$SECONDS" -lt "$seconds" ] || [ "${sum[rounds]:-0}" -eq 0 ]; do
    run "$kill_test" SAP_TEST_SEED="$seed" SAP_KILLS=$kills
    add kills acknowledged
    run "$processes_test" SAP_TEST_SEED="$seed" SAP_UNIVERSE_FAULTS=$faults
    add faults 'cut off' acknowledged
    run "$simulation_test" SAP_TEST_SEED="$seed" SAP_TEST_SEEDS=$seeds
    add seeds
    sum[rounds]=$((${sum[rounds]:-0} + 1))
    seed=$((seed + seeds))
done
if [ "${sum[kills]}" -eq 0 ] || [ "${sum[faults]}" -eq 0 ] || [ "${sum[seeds]}" -eq 0 ]; then
    finish 'failed: something was not tried'
    exit 1
fi
finish 'nothing lost, nothing doubled'
