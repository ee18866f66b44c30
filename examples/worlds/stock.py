#!/usr/bin/env python3
"""The stock of a shop, which orders (order.py) ask for their goods: one world, a row for each item.

    sapling world send stock fill '{"item":"lamp","count":3}' --module exec:./stock.py
"""
from sapling import handler, run


def row(item):
    return f"count/{item}"


@handler("fill")
def fill(e):
    key = row(e.body["item"])
    e.state[key] = e.state.get(key, 0) + e.body["count"]
    return {"count": e.state[key]}


@handler("reserve")
def reserve(e):
    key = row(e.body["item"])
    if e.state.get(key, 0) < 1:
        e.fail(f"no {e.body['item']} is left")
    e.state[key] -= 1
    e.state[f"reserved/{e.body['order']}"] = e.body["item"]
    return {"left": e.state[key]}


@handler("release")
def release(e):
    """An order that was not paid gives its goods back, once."""
    if e.state.pop(f"reserved/{e.body['order']}", None) is not None:
        e.state[row(e.body["item"])] += 1


@handler(type="query")
def counts(e):
    return {key[len("count/"):]: count for key, count in e.state.scan("count/")}


run()
