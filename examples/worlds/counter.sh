#!/bin/sh
# counter.sh - a world in shell: it counts its messages, and replies with the count.
#
# sed cannot parse JSON. It finds the three texts below because the node writes each line in one form: no
# blanks between the parts, "id" first, and the state of this world, {"n":COUNT}, last. That holds for any body,
# since quotes within texts are escaped, and the end of the line cannot be taken for anything else. A world whose
# state has texts in it, or that must read a body, is for a language that has JSON, or for jq.

while IFS= read -r line; do
    id=$(printf '%s\n' "$line" | sed -n 's/^{"v":1,"id":"\([^"\\]*\)".*$/\1/p')
    type=$(printf '%s\n' "$line" | sed -n 's/^{"v":1,"id":"[^"\\]*","world":"[^"\\]*","type":"\([a-z]*\)".*$/\1/p')
    n=$(printf '%s\n' "$line" | sed -n 's/^.*,"state":{"n":\([0-9]*\)}}$/\1/p')
    case $type in
    message)
        n=$((${n:-0} + 1))
        echo "message number $n" >&2 # the world's log
        printf '{"id":"%s","put":{"n":%d},"reply":%d}\n' "$id" "$n" "$n"
        ;;
    query) printf '{"id":"%s","reply":%d}\n' "$id" "${n:-0}" ;;
    create) printf '{"id":"%s"}\n' "$id" ;;
    "") echo "counter.sh: a line that it cannot read: $line" >&2 && exit 1 ;;
    *) printf '{"id":"%s","fail":{"message":"counter.sh only counts messages","retry":false}}\n' "$id" ;;
    esac
done
