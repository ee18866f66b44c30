"""The state of a world, as a dict whose changes are recorded."""
import threading
from collections.abc import MutableMapping

from . import values

MAX_GET = 1000  # keys that a program may ask for in one line


class State(MutableMapping):
    """Rows of text keys and values that JSON has, or bytes.

    What is put, deleted, or changed within a value that was read, is what the answer brings to the
    node.

    A module of `state: whole` is given all rows with the event. One of `state: ask` is given none:
    a row is asked for when it is read, load() asks for several at once, and what has been read is
    kept until the handler returns. Walking over all of it, or len(), reads all of it.
    """

    def __init__(self, rows, ask=None, writable=True):
        self._rows = rows if rows is not None else {}  # as they came: key to JSON
        self._ask = ask                  # ask(keys, prefix) -> {key: JSON}; None: all rows are here
        self._known = set()              # with `ask`: keys that were asked for
        self._scanned = []               # with `ask`: prefixes that were
        self._read = {}                  # key to the object that the handler was given
        self._put = {}                   # key to the object that the handler put
        self._deleted = set()
        self._writable = writable
        self._open = True
        self._asking = threading.Lock()  # held from what is asked to what comes, and to end both

    # ---- reading ----

    def load(self, *keys):
        """Asks for these rows at once."""
        for key in keys:
            self._check_key(key)
        if self._ask is None:
            return
        with self._asking:
            wanted = [key for key in keys if not self._has_been_read(key)]
            for start in range(0, len(wanted), MAX_GET):
                self._check_open()
                part = wanted[start:start + MAX_GET]
                self._rows.update(self._ask(part, None))
                self._known.update(part)

    def __getitem__(self, key):
        self._check_key(key)
        if key in self._put:
            return self._put[key]
        self.load(key)
        if key in self._deleted or key not in self._rows:
            raise KeyError(key)
        if key not in self._read:
            self._read[key] = values.value_of(self._rows[key])
        return self._read[key]

    def __contains__(self, key):
        if not isinstance(key, str):
            return False
        if key in self._put:
            return True
        self.load(key)
        return key not in self._deleted and key in self._rows

    def scan(self, prefix=""):
        """Pairs of key and value, in the order of keys, of the rows whose keys begin so."""
        return [(key, self[key]) for key in self._keys(prefix)]

    def __iter__(self):
        return iter(self._keys(""))

    def __len__(self):
        return len(self._keys(""))

    def __repr__(self):
        return f"State({dict(self)!r})" if self._ask is None else "State(asks for what is read)"

    def _keys(self, prefix):
        if not isinstance(prefix, str):
            raise TypeError(f"the prefix of a scan must be text, not {type(prefix).__name__}")
        if self._ask is not None:
            with self._asking:
                if not any(prefix.startswith(done) for done in self._scanned):
                    self._check_open()
                    self._rows.update(self._ask([], prefix))
                    self._scanned.append(prefix)
        keys = {key for key in self._rows if key not in self._deleted} | set(self._put)
        return sorted(key for key in keys if key.startswith(prefix))

    def _has_been_read(self, key):  # with `ask` only
        return (key in self._rows or key in self._known or key in self._put or
                key in self._deleted or any(key.startswith(done) for done in self._scanned))

    # ---- writing ----

    def __setitem__(self, key, value):
        self._check_writable()
        self._check_new_key(key)
        self._check_value(key, value)
        self._put[key] = value
        self._deleted.discard(key)

    def __delitem__(self, key):
        self._check_writable()
        if key not in self:
            raise KeyError(key)
        self._put.pop(key, None)
        self._deleted.add(key)

    def clear(self):
        for key in list(self):
            del self[key]

    def changes(self):
        """What the answer says: {key: JSON}, [key]. Nothing can be changed after this."""
        put = {}
        for key, value in self._put.items():
            wire = self._check_value(key, value)
            if key not in self._rows or values.canonical(self._rows[key]) != values.canonical(wire):
                put[key] = wire
        for key, value in self._read.items():
            was_replaced = key in self._put or key in self._deleted
            if isinstance(value, (list, dict)) and not was_replaced:
                wire = self._check_value(key, value)
                if values.canonical(self._rows[key]) != values.canonical(wire):
                    put[key] = wire
        if put and not self._writable:
            raise RuntimeError(f"a query only reads: state[{next(iter(put))!r}] was changed")
        return put, sorted(self._deleted - set(put))

    def close(self):
        """What a thread that goes on writes here would be lost: it is refused."""
        with self._asking:
            self._open = False

    # ---- what is refused ----

    def _check_open(self):
        if not self._open:
            raise RuntimeError("the event is over: its answer has been sent")

    def _check_writable(self):
        self._check_open()
        if not self._writable:
            raise RuntimeError("a query only reads: change the state when a message comes")

    @staticmethod
    def _check_key(key):
        if not isinstance(key, str):
            raise TypeError(f"keys of the state are text: use state[{str(key)!r}], "
                            f"not state[{key!r}]")
        return key

    def _check_new_key(self, key):
        size = len(values.text_of(self._check_key(key), "a key of the state").encode())
        if not key or "\0" in key:
            raise ValueError(f"a key of the state is empty, or has a NUL: {key!r}")
        if size > values.MAX_KEY:
            raise ValueError(f"a key of the state has {size} bytes, more than {values.MAX_KEY}: "
                             f"{key[:40]!r}...")
        if key.startswith("$"):
            raise ValueError(f"state[{key!r}]: keys that begin with $ belong to libraries: "
                             "use another")

    @staticmethod
    def _check_value(key, value):
        where = f"state[{key!r}]"
        wire = values.wire_of(value, where)
        size = len(value) if isinstance(value, (bytes, bytearray)) else len(values.dump(wire))
        if size > values.MAX_VALUE:
            raise ValueError(f"{where} has {size} bytes, more than {values.MAX_VALUE}: "
                             "use a row for each part, such as state['item/7']")
        return wire
