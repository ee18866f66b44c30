#!/usr/bin/env bash
# pipeline.sh PIPELINE [ORDERS]: run the order pipeline of the examples, kill it half way, and go on.
set -euo pipefail

pipeline=$1
orders=${2:-40000}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cat <<TEXT
== $orders orders through four stages, each a worker in a thread, all in one file
   $pipeline orders.db $orders
TEXT
mkfifo "$scratch/progress"
"$pipeline" "$scratch/orders.db" "$orders" > "$scratch/progress" 2>&1 &
pid=$!
while read -r line; do
    echo "   $line"
    case $line in
        [5-9]0\ %*|100\ %*)
            kill -9 "$pid" 2>/dev/null && break ;;
    esac
done < "$scratch/progress"
wait "$pid" 2>/dev/null || true

cat <<TEXT

== killed (kill -9) in the middle of its work; the same command again
TEXT
"$pipeline" "$scratch/orders.db" | sed 's/^/   /'
