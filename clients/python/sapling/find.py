"""Where a node is: what it has written into a directory of the user."""
import json
import os

from .errors import NoNode

DEFAULT = "127.0.0.1:7227"


def registries():
    """The directories in which nodes leave their addresses, the user's own first."""
    state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return [os.path.join(state, "sapling", "nodes"), "/run/sapling/nodes"]


def _read(path):
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and isinstance(found.get("address"), str) else None


def _is_alive(node):
    try:
        os.kill(int(node.get("pid") or 0) or -1, 0)
    except PermissionError:
        return True
    except (OSError, TypeError, ValueError, OverflowError):
        return False
    return True


def nodes():
    """{address: what its file says} of all nodes that have left one."""
    found = {}
    for directory in registries():
        try:
            names = sorted(os.listdir(directory))
        except OSError:
            continue
        for name in names:
            node = _read(os.path.join(directory, name)) if name.endswith(".json") else None
            if node is not None:
                found.setdefault(node["address"], node)
    return found


def find(address=None):
    """What the file of a node says, or {"address": ...} if it has none.

    `address`, or SAPLING_NODE, names it; otherwise it is the one at 127.0.0.1:7227, or the only one
    there is.
    """
    known = nodes()
    address = address or os.environ.get("SAPLING_NODE")
    if address:
        return known.get(address, {"address": address})
    if DEFAULT in known and (_is_alive(known[DEFAULT]) or len(known) == 1):
        return known[DEFAULT]
    alive = [node for node in known.values() if _is_alive(node)]
    if len(alive) == 1:
        return alive[0]
    if len(alive) > 1:
        names = ", ".join(sorted(node["address"] for node in alive))
        raise NoNode(f"there are {len(alive)} nodes: {names}\n"
                     "name one: Client(\"ADDRESS\"), or set SAPLING_NODE", "no_node")
    return known.get(DEFAULT, {"address": DEFAULT})


def token_of(path):
    """The token in a file; None if there is no path."""
    if not path:
        return None
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().strip()
    except OSError as error:
        raise NoNode(f"the token file {path}: {error.strerror}\n"
                     "only the user that runs the node can read it: make a token with sapling "
                     "token create, and give its file: Client(token_file=...)", "no_node") from None
