#!/usr/bin/env python3
# A world without any package: it counts what it is sent.
import json
import sys

for line in sys.stdin:
    event = json.loads(line)
    n = event["state"].get("n", 0) + (event["body"] or {}).get("n", 0)
    print(json.dumps({"id": event["id"], "put": {"n": n}, "reply": {"n": n}}), flush=True)
