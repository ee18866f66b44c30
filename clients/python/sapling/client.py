"""A client of a node's HTTP API.

Requests that change something carry an idempotency key, made here unless one is given, so that they
can be repeated: when the connection is lost, or the node is busy or starting again, the client asks
again with the same key, and what was asked for happens once.
"""
import http.client
import json
import os
import socket
import threading
import time
import urllib.parse
import uuid

from . import find, values
from .errors import NoNode, NotYet, SaplingError, Unavailable, error_of

_ONE_WAIT_MS = 20_000  # of one request that waits; longer waits are several requests
_RETRIED = (429, 503)
_PAGE = 1000
_NO_KEY = object()  # of a request that changes nothing


class _SocketConnection(http.client.HTTPConnection):
    """HTTP over a unix socket."""

    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self.sock.settimeout(self.timeout)
            self.sock.connect(self._path)
        except BaseException:
            self.sock.close()
            self.sock = None
            raise


class Client:
    """A node, found as the sapling command finds it. May be used by any number of threads.

    address      "127.0.0.1:7227"; without it SAPLING_NODE, the default address, or the only node
                 there is
    socket       the path of a node's socket, in place of an address
    token_file   of a token, for TCP; without it the one that the node has made, if it can be read
    retry_for    how long a request is tried again while the node does not answer, in seconds
    timeout      of one request, in seconds, not counting the wait that was asked for
    """

    def __init__(self, address=None, *, socket=None, token_file=None, retry_for=15, timeout=30):
        # pylint: disable=redefined-outer-name
        self._address = address
        self._socket = socket
        self._token_file = token_file
        self._retry_for = values.milliseconds(retry_for, "retry_for") / 1000
        self._timeout = values.milliseconds(timeout, "timeout") / 1000
        self._lock = threading.Lock()
        self._idle = []
        self._pid = os.getpid()
        self._met = False     # the node has answered before: if it is away it will be back
        self._closed = False
        # A token is for TCP; and a socket may be there and refuse this user.
        self._use_tcp = token_file is not None and socket is None
        self._node = {"address": address or "", "socket": socket} if socket else find.find(address)
        self._token = find.token_of(token_file)

    # ---- connections ----

    def close(self):
        """Closes the connections."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        return f"Client({self.where()})"

    def where(self):
        """The socket or address that is used."""
        path = self._node.get("socket")
        return path if path and not self._use_tcp else self._node["address"]

    def _connect(self, timeout):
        with self._lock:
            if self._closed:
                raise RuntimeError("the client is closed")
            if self._pid != os.getpid():  # a fork: these connections are the parent's
                self._pid, self._idle = os.getpid(), []
            if self._idle:
                connection = self._idle.pop()
                connection.timeout = timeout
                if connection.sock is not None:
                    connection.sock.settimeout(timeout)
                return connection
        path = self._node.get("socket")
        if path and not self._use_tcp:
            return _SocketConnection(path, timeout)
        host, _, port = self._node["address"].rpartition(":")
        if not host or not port.isdigit():
            raise NoNode(f"{self._node['address']!r} is not the address of a node: "
                         "write HOST:PORT, such as 127.0.0.1:7227", "no_node")
        return http.client.HTTPConnection(host.strip("[]"), int(port), timeout=timeout)

    def _give_back(self, connection):
        with self._lock:
            if not self._closed and self._pid == os.getpid() and len(self._idle) < 16:
                self._idle.append(connection)
                return
        connection.close()

    def _once(self, method, target, body, headers, timeout):
        """One request: status, headers, bytes. OSError or HTTPException: no answer came."""
        connection = self._connect(timeout)
        try:
            if self._token_to_send() is not None:
                headers = {**headers, "Authorization": f"Bearer {self._token_to_send()}"}
            connection.request(method, target, body, headers)
            answer = connection.getresponse()
            content = answer.read()
        except BaseException:
            connection.close()
            raise
        self._met = True
        if answer.will_close:
            connection.close()
        else:
            self._give_back(connection)
        return answer.status, answer.headers, content

    def _token_to_send(self):
        if self._node.get("socket") and not self._use_tcp:
            return None
        if self._token is None:
            self._token = find.token_of(self._node.get("token_file"))
        return self._token

    def _lost(self, error):
        """Looks for the node again, which may be elsewhere. True: ask again at once."""
        by_socket = self._node.get("socket") and not self._use_tcp
        if isinstance(error, PermissionError) and by_socket and self._node.get("address"):
            self._use_tcp = True
            return True
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()
        if not self._socket:
            node = find.find(self._address or self._node["address"] or None)
            if node != self._node:
                self._node, self._use_tcp = node, self._token_file is not None
                self._token = find.token_of(self._token_file)
        return bool(idle)

    def request(self, method, path, body=None, *, query=None, key=None, wait_ms=0):
        """Any request: (status, what was answered). Other than 2xx is an error of this package.

        It is asked again until it is answered, for up to retry_for. `key` is its idempotency key.
        """
        target = path + ("?" + urllib.parse.urlencode(query) if query else "")
        headers = {"Accept": "application/json"}
        content = None
        if body is not None:
            content = values.dump(body).encode("ascii")
            headers["Content-Type"] = "application/json"
        elif method in ("POST", "PUT"):
            content = b"{}"
            headers["Content-Type"] = "application/json"
        if method != "GET" and key is not _NO_KEY:
            headers["Idempotency-Key"] = key or uuid.uuid4().hex
        until = time.monotonic() + self._retry_for
        timeout = self._timeout + wait_ms / 1000
        pause = 0.05
        while True:
            try:
                status, fields, answer = self._once(method, target, content, headers, timeout)
                error = None if status < 400 else _error_of_answer(status, answer)
                if error is None or status not in _RETRIED or time.monotonic() >= until:
                    break
                pause = max(pause, _seconds_of(fields.get("Retry-After")))
            except (OSError, http.client.HTTPException) as lost:
                if self._lost(lost):
                    continue
                never_there = not self._met and not isinstance(lost, TimeoutError)
                if never_there or time.monotonic() >= until:
                    raise self._no_node(lost) from None
            time.sleep(min(pause, max(0.0, until - time.monotonic())))
            pause = min(pause * 2, 2.0)
        if error is not None:
            raise error
        return status, _content_of(fields, answer)

    def _no_node(self, error):
        where, reason = self.where(), _reason_of(error)
        if isinstance(error, TimeoutError):
            return Unavailable(f"the node at {where} does not answer", "timeout")
        if self._met:
            return Unavailable(f"the node at {where} is gone ({reason}), and was not back within "
                               f"{self._retry_for:g} s: it is not known whether the request was "
                               "performed", "no_node")
        return NoNode(f"no node at {where} ({reason})\nstart one: sapling up", "no_node")

    def _get(self, path, **query):
        return self.request("GET", path, query=_given(query))[1]

    def _list(self, path, limit, **query):
        """The items of a list, page after page."""
        left = limit
        while left is None or left > 0:
            query["limit"] = _PAGE if left is None else min(left, _PAGE)
            page = self._get(path, **query)
            yield from page["items"]
            if left is not None:
                left -= len(page["items"])
            if "next" not in page:
                return
            query["after"] = page["next"]

    # ---- the node ----

    def status(self):
        """Version, store, numbers of worlds, and what needs attention."""
        return self._get("/v1/status")

    def is_ready(self):
        """Whether the node takes requests."""
        try:
            self.request("GET", "/readyz")
            return True
        except SaplingError:
            return False

    def metrics(self):
        """Text for Prometheus."""
        return self._get("/metrics")

    # ---- modules ----

    def put_module(self, name, runner, *, key=None, **options):
        """Registers a module, or its next version: put_module("hello", "exec:./hello.py").

        Options: state, timeout_ms, max_attempts, on_failure, settings.
        """
        body = {"runner": _absolute(runner), **_given(options)}
        return self.request("PUT", _path("modules", name), body, key=key)[1]

    def modules(self):
        """All modules."""
        return list(self._list("/v1/modules", None))

    def module(self, name):
        """One module."""
        return self._get(_path("modules", name))

    # ---- worlds ----

    def create(self, world, module, body=None, *, key=None):
        """Creates a world; its first event is "create" with this body. Conflict: there is one."""
        request = {"world": world, "module": module, **_body(body)}
        return self.request("POST", "/v1/worlds", request, key=key)[1]

    def worlds(self, *, prefix=None, status=None, tag=None, module=None, limit=None):
        """The worlds, one by one."""
        return self._list("/v1/worlds", limit, prefix=prefix, status=status, tag=tag, module=module)

    def world(self, world):
        """Status, reason, step, inbox and tags of one."""
        return self._get(_path("worlds", world))

    def send(self, world, name="", body=None, *, wait=None, module=None,
             id=None,  # pylint: disable=redefined-builtin
             correlation_id=None, priority=None, key=None):
        """Sends a message. When it returns the message is durable: {"seq", "id", "duplicate"}.

        With wait="5s" it returns the reply: None if the world handled the message without one.
        HandlerFailed: the handler refused it. NotYet: the time is over; send(..., key=error.key)
        waits on. module="hello" creates the world if there is none. send("hello", {"n": 1}) is
        send("hello", body=...).
        """
        if not isinstance(name, str):
            if body is not None:
                raise TypeError(f"the name of a message is text, not {type(name).__name__}")
            name, body = "", name
        request = _given({"name": name or None, "id": id, "correlation_id": correlation_id,
                          "priority": priority, "module": module})
        request.update(_body(body))
        key = key or uuid.uuid4().hex
        path = _path("worlds", world, "messages")
        if wait is None:
            return self.request("POST", path, request, key=key)[1]
        status, answer = self._wait("POST", path, request, wait, key, 202)
        if status == 202:
            raise NotYet(f"{world} has not replied after {wait}: the message is in its inbox", key,
                         answer)
        return _value(answer, "reply") if status == 200 else None

    def _wait(self, method, path, request, wait, key, not_yet):
        """Asks until it is there or the time is over: status and answer of the last request."""
        until = time.monotonic() + values.milliseconds(wait, "wait") / 1000
        while True:
            left = max(0, int((until - time.monotonic()) * 1000))
            ms = min(left, _ONE_WAIT_MS)
            status, answer = self.request(method, path, request, query={"wait": f"{ms}ms"}, key=key,
                                          wait_ms=ms)
            if status != not_yet or left <= 0:
                return status, answer
            time.sleep(0.001)

    def state(self, world, *, prefix=None, step=None):
        """The rows of a world, of its newest step or of an older one: {key: value}."""
        rows = {}
        query = {"prefix": prefix, "step": step, "limit": _PAGE}
        while True:
            page = self._get(_path("worlds", world, "state"), **query)
            for row in page["rows"]:
                rows[values.value_of(row["key"])] = _value(row, "value")
            if "next" not in page:
                return rows
            query.update(step=page["step"], after=page["next"])

    def journal(self, world, *, after=None, limit=None):
        """The entries of a world's journal, one by one, from the step after `after` on."""
        left = limit
        while left is None or left > 0:
            size = 100 if left is None else min(left, 100)
            page = self._get(_path("worlds", world, "journal"), after=after, limit=size)
            yield from page["entries"]
            if left is not None:
                left -= len(page["entries"])
            if not page["entries"]:
                return
            after = page["entries"][-1]["step"]

    def outstanding(self, world):
        """What the world has asked for and not been told of: effects, tasks, timers."""
        return self._get(_path("worlds", world, "outstanding"))["items"]

    def query(self, world, name="", body=None, *, strong=False):
        """Asks the handler without changing the world: its reply."""
        request = {"name": name, **_body(body)}
        answer = self.request("POST", _path("worlds", world, "query"), request,
                              query={"strong": 1} if strong else None, key=_NO_KEY)[1]
        return _value(answer or {}, "reply")

    def result(self, world, *, wait="0s"):
        """The result of a world that is done. HandlerFailed: it failed. NotYet: it is not done."""
        path = _path("worlds", world, "result")
        status, answer = self._wait("GET", path, None, wait, _NO_KEY, 204)
        if status == 204:
            raise NotYet(f"{world} is not done after {wait}")
        result = _value(answer, "result")
        if answer.get("failed"):
            raise error_of(422, "failed", f"{world} has failed: {result}", answer)
        return result

    def pause(self, world, reason="", *, key=None):
        """Stops it; messages still come in."""
        return self.request("POST", _path("worlds", world, "pause"), {"reason": reason}, key=key)[1]

    def resume(self, world, *, skip=False, key=None):
        """Lets it go on. With skip the event that it failed with becomes a dead letter."""
        request = {"skip": True} if skip else {}
        return self.request("POST", _path("worlds", world, "resume"), request, key=key)[1]

    def cancel(self, world, reason="", *, key=None):
        """Sends it a "cancel" event."""
        request = {"reason": reason}
        return self.request("POST", _path("worlds", world, "cancel"), request, key=key)[1]

    def pin(self, world, version, *, key=None):
        """Keeps it at a version of its module; 0: the newest again."""
        return self.request("POST", _path("worlds", world, "pin"), {"version": version}, key=key)[1]

    def delete(self, world, reason=None, *, key=None):
        """Deletes it: what waits becomes dead letters."""
        return self.request("DELETE", _path("worlds", world), query=_given({"reason": reason}),
                            key=key)[1]

    # ---- dead letters ----

    def dead_letters(self, world=None, *, limit=None):
        """What no handler took, of one world or of all, one by one."""
        return self._list("/v1/dead-letters", limit, world=world)

    def replay(self, letters=None, *, world=None, everything=False, dry_run=False, key=None):
        """Puts dead letters back into their inboxes: some of dead_letters(), or everything=True."""
        return self._letters("replay", letters, world, everything, dry_run, key)

    def drop(self, letters=None, *, world=None, everything=False, dry_run=False, key=None):
        """Deletes dead letters for good."""
        return self._letters("drop", letters, world, everything, dry_run, key)

    def _letters(self, verb, letters, world, everything, dry_run, key):
        if everything == (letters is not None):
            raise ValueError(f"{verb}(): give dead letters, or everything=True")
        if everything:
            request = {"all": True, **_given({"world": world})}
        else:
            request = {"letters": [{"world": one["world"], "id": one["id"]} for one in letters]}
        if dry_run:
            request["dry_run"] = True
        return self.request("POST", f"/v1/dead-letters/{verb}", request, key=key)[1]

    # ---- effects and timers ----

    def effects(self, *, world=None, kind=None, state=None, limit=None):
        """Effects that have no receipt yet, one by one."""
        return self._list("/v1/effects", limit, world=world, kind=kind, state=state)

    def effect(self, hash, world):  # pylint: disable=redefined-builtin
        """One of them."""
        return self._get(_path("effects", hash), world=world)

    def retry_effect(self, hash, world, *, key=None):  # pylint: disable=redefined-builtin
        """Tries it now."""
        self.request("POST", _path("effects", hash, "retry"), {"world": world}, key=key)

    def cancel_effect(self, hash, world, *, key=None):  # pylint: disable=redefined-builtin
        """Takes it back."""
        self.request("POST", _path("effects", hash, "cancel"), {"world": world}, key=key)

    def answer_effect(self, hash, world, status="ok", body=None, *, code=None, key=None):
        # pylint: disable=redefined-builtin
        """Answers it by hand, by the receipt of its world. status: "ok", "error" or "timeout"."""
        request = {"world": world, "status": status, **_given({"code": code}), **_body(body)}
        self.request("POST", _path("effects", hash, "receipt"), request, key=key)

    def timers(self, *, world=None, limit=None):
        """Timers that are armed, one by one."""
        return self._list("/v1/timers", limit, world=world)

    def cancel_timer(self, hash, world, *, key=None):  # pylint: disable=redefined-builtin
        """Takes a timer back."""
        self.request("POST", _path("timers", hash, "cancel"), {"world": world}, key=key)

    # ---- who runs what ----

    def leases(self, *, limit=None):
        """Which worker holds which world."""
        return self._list("/v1/leases", limit)

    def workers(self, *, limit=None):
        """The workers of the store."""
        return self._list("/v1/workers", limit)

    def assignments(self, *, limit=None):
        """Which world is assigned to which worker."""
        return self._list("/v1/assignments", limit)

    def assign(self, world, worker, *, priority=0, reason="", key=None):
        """Makes a world run on one worker."""
        request = {"worker": worker, "priority": priority, "reason": reason}
        return self.request("PUT", _path("assignments", world), request, key=key)[1]

    def unassign(self, world, *, key=None):
        """Lets any worker run it."""
        return self.request("DELETE", _path("assignments", world), key=key)[1]

    # ---- tokens ----

    def tokens(self):
        """Tokens, without their secret."""
        return self._get("/v1/tokens")["items"]

    def create_token(self, scopes, name, *, key=None):
        """{"id", "token", "scopes"}: the token is shown once. Scopes: "read", "send", "admin"."""
        request = {"scopes": list(scopes), "name": name}
        return self.request("POST", "/v1/tokens", request, key=key)[1]

    def revoke_token(self, ident, *, key=None):
        """Makes a token worthless."""
        self.request("DELETE", _path("tokens", ident), key=key)


# ---- the parts of requests and answers -----------------------------------------------------------

def _path(*parts):
    for part in parts:
        if not isinstance(part, str) or not part:
            raise ValueError(f"{part!r} is not a name: it must be text and not empty")
    return "/v1/" + "/".join(urllib.parse.quote(part, safe="") for part in parts)


def _absolute(runner):
    """exec: with the whole path of its program: the node's own directory is another one."""
    command = runner[len("exec:"):]
    if not runner.startswith("exec:") or command[:1] in ("'", '"'):
        return runner
    program, space, arguments = command.partition(" ")
    program = os.path.abspath(os.path.expanduser(program))
    return f"exec:{chr(34) + program + chr(34) if ' ' in program else program}{space}{arguments}"


def _given(fields):
    return {name: value for name, value in fields.items() if value is not None}


def _body(body):
    """A payload as the node reads it: bytes have their encoding beside them."""
    if body is None:
        return {}
    made = {"body": values.wire_of(body, "body")}
    if isinstance(body, (bytes, bytearray, memoryview)):  # here the encoding is beside it
        made["encoding"] = made["body"].pop("encoding", "raw")
    return made


def _value(answer, name):
    value = values.value_of(answer.get(name))
    is_cbor = answer.get("encoding") == "cbor" and isinstance(value, bytes)
    return values.Cbor(value) if is_cbor else value


def _content_of(fields, content):
    if not content:
        return None
    if not (fields.get("Content-Type") or "").startswith("application/json"):
        return content.decode("utf-8", "replace")
    try:
        return json.loads(content.decode("utf-8"))
    except ValueError:
        raise SaplingError("the answer is not JSON: is this a node of Sapling?",
                           "bad_answer") from None


def _error_of_answer(status, content):
    try:
        answer = json.loads(content.decode("utf-8"))
        return error_of(status, str(answer["code"]), str(answer["message"]), answer.get("detail"))
    except (ValueError, KeyError, TypeError):
        text = content[:200].decode("utf-8", "replace").strip()
        return error_of(status, "", f"status {status}: {text or 'no text'}")


def _seconds_of(text):
    try:
        return min(5.0, max(0.0, float(text or 0)))
    except ValueError:
        return 0.0


def _reason_of(error):
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    if isinstance(error, FileNotFoundError):
        return "no such socket"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
