#!/usr/bin/env python3
"""The program hello.py of the examples in help: it counts, asks for calls that nobody performs, sets timers,
refuses and finishes."""
import json
import sys


def handle(event):
    name, body = event.get("name"), event.get("body")
    total = (event.get("state") or {}).get("total", 0)
    if event["type"] == "query":
        return {"reply": total}
    if event["type"] != "message":
        return {}
    if name == "order":
        return {"do": [{"effect": "bank", "ref": ref, "params": {"amount": 0.1}}
                       for ref in ("pay", "refund", "tip", "ship")]}
    if name == "remind":
        return {"do": [{"timer": ref, "after": "1h"} for ref in ("remind", "close")]}
    if name == "refuse":
        return {"fail": {"message": "I do not take this", "retry": False}}
    if name == "finish":
        return {"done": {"total": total}}
    total += body["n"] if isinstance(body, dict) and "n" in body else 1
    return {"put": {"total": total}, "reply": {"total": total}}


if __name__ == "__main__":
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps({"id": request["id"], **handle(request)}), flush=True)
