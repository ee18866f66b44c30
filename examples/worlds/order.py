#!/usr/bin/env python3
"""An order: reserves its goods at another world, charges a card outside, and gives up after a
quarter of an hour.

    sapling world send order-1 place '{"item":"lamp","card":"4111"}' --module exec:./order.py --wait

The goods are those of the world "stock" (stock.py). The program may be given the address of a bank,
as in 'exec:./order.py http://127.0.0.1:8000/charge'; without one it pretends to have charged the
card.

The charge is a task: code that may take long, fail and be tried again. It runs outside the world,
and its receipt comes back as an event. Whoever placed the order hears what became of it when it is
settled, in a later step.
"""
import sys
import urllib.request

from sapling import handler, run, task


@handler("place")
def place(e):
    if "status" in e.state:
        e.fail(f"the order is {e.state['status']} already")
    e.state.update(status="open", item=e.body["item"], card=e.body["card"], caller=e.reply_to)
    e.tag("status", "open")
    goods = {"item": e.body["item"], "order": e.world}
    e.ask("stock", "reserve", goods, ref="reserve", timeout="30s")
    e.timer("give-up", after="15m")


@handler("reserve", type="receipt")
def reserved(e):
    if e.status != "ok":
        return settle(e, "out of stock")
    e.task(charge, {"card": e.state["card"], "order": e.world}, ref="charge",
           retry={"attempts": 5, "first": "1s", "factor": 2, "timeout": "30s"})


@handler("charge", type="receipt")
def charged(e):
    if e.status != "ok":
        print(f"{e.world}: the card was not charged: {e.code}")
        e.send("stock", "release", {"item": e.state["item"], "order": e.world})
        return settle(e, "not paid")
    e.state["receipt"] = e.body["receipt"]
    settle(e, "paid")


@handler("give-up", type="timer")
def give_up(e):
    e.cancel("reserve")
    e.cancel("charge")
    settle(e, "given up")


@handler("status", type="query")
def status(e):
    return {key: e.state.get(key) for key in ("status", "item", "receipt")}


def settle(e, outcome):
    e.state["status"] = outcome
    e.tag("status", outcome)
    if outcome != "given up":
        e.cancel("give-up")
    if e.state.get("caller"):
        e.reply({"status": outcome}, to=e.state["caller"])


@task
def charge(t):
    """Runs outside the world: it may be tried again, always with the same key."""
    if not t.body["card"].startswith("4"):
        t.fail("the card is refused", retry=False, code="refused")
    t.beat("asking the bank")
    if len(sys.argv) < 2:
        return {"receipt": f"bank-{t.key[:8]}"}
    request = urllib.request.Request(sys.argv[1], method="POST", headers={"Idempotency-Key": t.key})
    with urllib.request.urlopen(request, timeout=t.timeout or 30) as answer:
        return {"receipt": answer.read().decode()}


run()
