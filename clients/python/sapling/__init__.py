"""Sapling for Python: worlds, tasks, and a client of a node. Standard library only, Python 3.9 or
newer.

A world is a durable object: a name, its own small database, a handler, one message at a time.

    #!/usr/bin/env python3
    from sapling import handler, run

    @handler
    def hello(e):
        e.state["n"] = e.state.get("n", 0) + e.body["n"]
        return {"n": e.state["n"]}

    run()

    $ sapling world send hello '{"n":1}' --module exec:./hello.py --wait

From a program of its own:

    import sapling
    node = sapling.Client()
    node.send("hello", body={"n": 1}, wait="5s")
"""
from .errors import (BadRequest, Busy, Conflict, Fail, HandlerFailed, NoNode, NotAllowed, NotFound,
                     NotYet, SaplingError, Unavailable)
from .event import Event, Task
from .program import Program, handler, run, task
from .state import State
from .values import Cbor



def __getattr__(name):
    # Programs of worlds are started often and need no client, whose modules take long to load.
    if name == "Client":
        from .client import Client  # pylint: disable=import-outside-toplevel
        return Client
    raise AttributeError(f"module 'sapling' has no attribute {name!r}")


__all__ = ["handler", "task", "run", "Program", "Event", "Task", "State", "Cbor", "Fail", "Client",
           "SaplingError", "BadRequest", "Busy", "Conflict", "HandlerFailed", "NoNode",
           "NotAllowed", "NotFound", "NotYet", "Unavailable"]
