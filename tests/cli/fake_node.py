"""A node of the tests: answers HTTP as the routes of a node do, from a script, over a socket and over TCP."""
import http.server
import json
import os
import re
import socket
import socketserver
import threading
import urllib.parse

TOKEN = "t0k3n"


def world(name, status="active", **more):
    return {"world": name, "module": "hello", "status": status, "reason": "", "step": 3, "holder": "w1",
            "assigned": None, "pin": 0, "epoch": 1, "tags": {"city": "Rome"},
            "inbox": {"control": 0, "receipts": 0, "messages": 2, "capped": False, "age_ms": 61000}, **more}


def effect(ref):
    return {"world": "hello", "hash": f"{ref}0123456789abcdef".encode().hex()[:40].ljust(64, "0"), "kind": "bank",
            "ref": ref, "state": "pending", "attempts": 2, "code": "http_503", "worker": None, "due_in_ms": 1500,
            "age_ms": 200000, "params": {"amount": 0.1}}


LETTERS = [{"world": "hello", "id": f"{n}-00{n}a", "step": n, "seq": f"00{n}a", "name": "refuse", "item_id": f"m{n}",
            "error": "no", "attempts": 1, "time_ms": 1, "body": {"n": n}} for n in (7, 8)]
TIMERS = [{"world": "hello", "hash": digits * 32, "ref": ref, "at_ms": 1, "in_ms": 300000, "step": 4, "body": None}
          for digits, ref in (("ab", "remind"), ("cd", "close"))]
ENTRIES = [{"step": n, "time_ms": 1700000000000 + n, "kind": "item", "epoch": 1,
            "event": {"type": "message", "name": "add", "id": f"m{n}", "body": {"n": n}},
            "changes": [{"key": "n", "value": n}, {"key": {"b64": "/w=="}}],
            "intents": [{"kind": "task", "ref": "charge", "hash": "cd" * 32}], "state_sum": "00"} for n in (1, 2, 3)]
LETTERS_POSTED = {"count": 2, "items": [{"world": "hello", "id": letter["id"]} for letter in LETTERS]}
EFFECTS = [effect(ref) for ref in ("pay", "refund", "tip", "ship")]


def error(status, code, message, **more):
    return status, {"code": code, "message": message, **more}


def items(*found):
    return 200, {"items": list(found)}


def put_module(node, module):
    node.modules[module["name"]] = module
    return 200, module


# Method, path, answer: a status and a body (None: none), or a function of the request that returns them.
ROUTES = [
    ("GET", "/v1/status", (200, {"version": "0.2", "pid": os.getpid(), "started_ms": 1, "data": "/data",
                                 "store": "sapling:/data/store.db", "listen": "127.0.0.1:7227", "workers": 1,
                                 "worlds": {"total": 10000, "paused": 1, "stuck": 0, "capped": True},
                                 "dead_letters": 2,
                                 "attention": [{"what": "1 world is paused", "count": 1,
                                                "command": "sapling world list --status paused"}]})),
    ("GET", "/metrics", (200, "sapling_up 1\n")),
    ("GET", "/v1/modules", items({"name": "hello", "version": 1, "runner": "exec:/x/hello.py", "code": "3f" * 32,
                                  "registered_ms": 1})),
    ("GET", "/v1/modules/([^/]+)", lambda r: (200, r.node.modules[r.args[0]]) if r.args[0] in r.node.modules else
     error(404, "unknown_module", "there is no such module")),
    ("PUT", "/v1/modules/([^/]+)", lambda r: put_module(r.node, {
        "name": r.args[0], "version": 1, "runner": r.body["runner"], "code": "3f" * 32, "changed": True})),
    ("POST", "/v1/worlds", lambda r: (201, {"world": r.body["world"], "module": r.body["module"]})),
    ("GET", "/v1/worlds", items(world("hello"), world("order-1", "paused", reason="bug"))),
    ("GET", "/v1/worlds/([^/]+)", lambda r: (200, world(r.args[0]))),
    ("DELETE", "/v1/worlds/([^/]+)", lambda r: (202, {"world": r.args[0], "status": "deleted"})),
    ("POST", "/v1/worlds/[^/]+/messages", lambda r: (200, {"reply": {"n": 1}, "step": 4}) if r.query.get("wait") else
     (202, {"seq": "0a", "id": r.key, "duplicate": False})),
    ("GET", "/v1/worlds/[^/]+/state", (200, {"step": 3, "rows": [{"key": "n", "value": 0.1},
                                                                 {"key": {"b64": "/w=="}, "value": {"b64": "AAE="},
                                                                  "encoding": "raw"}]})),
    ("GET", "/v1/worlds/[^/]+/journal", lambda r: (200, {"step": 3, "entries": [
        e for e in ENTRIES if e["step"] > int(r.query.get("after", 0))][:int(r.query["limit"])]})),
    ("GET", "/v1/worlds/[^/]+/outstanding", items({"hash": EFFECTS[0]["hash"], "ref": "pay", "timer": False})),
    ("POST", "/v1/worlds/[^/]+/query", (200, {"reply": 7, "step": 3})),
    ("GET", "/v1/worlds/[^/]+/result", (200, {"failed": False, "result": "fine", "step": 9})),
    ("POST", "/v1/worlds/([^/]+)/(?:pause|resume|cancel|pin)", lambda r: (200, world(r.args[0]))),
    ("GET", "/v1/worlds/[^/]+/dead-letters", items(*LETTERS)),
    ("GET", "/v1/dead-letters", items(*LETTERS)),
    ("POST", "/v1/dead-letters/(?:replay|drop)", (200, LETTERS_POSTED)),
    ("GET", "/v1/effects", items(*EFFECTS)),
    ("GET", "/v1/effects/([^/]+)", lambda r: (200, next(e for e in EFFECTS if e["hash"] == r.args[0]))),
    ("POST", "/v1/effects/[^/]+/(?:retry|cancel|receipt)", (200, {})),
    ("GET", "/v1/timers", items(*TIMERS)),
    ("POST", "/v1/timers/[^/]+/cancel", (200, {})),
    ("GET", "/v1/leases", items({"world": "hello", "holder": "w1", "epoch": 1, "left_ms": 4000, "alive": True,
                                 "unclean": False})),
    ("GET", "/v1/workers", items({"worker": "w1", "alive": True, "left_ms": 4000, "worlds": 2, "worlds_capped": False,
                                  "modules": [{"name": "hello", "version": 1}], "kinds": ["task", "fabric.send"]})),
    ("GET", "/v1/assignments", items({"world": "hello", "worker": "w1", "priority": 0, "reason": ""})),
    ("PUT", "/v1/assignments/[^/]+", (200, {})),
    ("DELETE", "/v1/assignments/[^/]+", (200, {})),
    ("GET", "/v1/tokens", items({"id": "1f0c", "scopes": ["read", "send"], "name": "shop"})),
    ("POST", "/v1/tokens", lambda r: (201, {"id": "1f0c", "token": TOKEN, "scopes": r.body["scopes"]})),
    ("DELETE", "/v1/tokens/[^/]+", (200, {})),
]


class Request:
    def __init__(self, handler, body):
        url = urllib.parse.urlsplit(handler.path)
        self.node = handler.server.node
        self.method = handler.command
        self.target = handler.path
        self.path = url.path
        self.query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
        self.headers = handler.headers
        self.key = handler.headers.get("Idempotency-Key")
        self.token = handler.headers.get("Authorization")
        self.body = body
        self.args = ()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        node = self.server.node
        length = int(self.headers.get("Content-Length") or 0)
        text = self.rfile.read(length)
        request = Request(self, json.loads(text) if text else None)
        with node.lock:
            node.requests.append(request)
        if node.needs_token and not self.server.local and request.token != f"Bearer {TOKEN}":
            status, body = error(401, "needs_token", "needs a token: -H \"Authorization: Bearer $(cat data/token)\"")
        else:
            status, body = node.find(request)
        headers = {}
        if isinstance(body, tuple):
            body, headers = body
        data = b"" if body is None else body if isinstance(body, bytes) else (
            body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = answer

    def log_message(self, *args):  # pylint: disable=arguments-differ
        pass

    def address_string(self):
        return "-"


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def server_bind(self):
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = "localhost", 80

    def handle_error(self, request, client_address):
        pass  # a client that went away


class LocalServer(Server):
    address_family = socket.AF_UNIX


class FakeNode:
    """Serves DIRECTORY/node.sock and a port, and lies registered in STATE/sapling/nodes."""

    def __init__(self, directory, state, needs_token=True):
        os.makedirs(directory, exist_ok=True)
        self.directory = directory
        self.lock = threading.Lock()
        self.requests = []
        self.modules = {}
        self.routes = []
        self.needs_token = needs_token
        self.socket = os.path.join(directory, "node.sock")
        self.token_file = os.path.join(directory, "token")
        with open(self.token_file, "w", encoding="utf-8") as file:
            file.write(TOKEN + "\n")
        here = os.open(directory, os.O_RDONLY)  # the path may be too long for an address
        self.servers = [LocalServer(f"/proc/self/fd/{here}/node.sock", Handler), Server(("127.0.0.1", 0), Handler)]
        os.close(here)
        for server, local in zip(self.servers, (True, False)):
            server.node, server.local = self, local
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self.address = "127.0.0.1:%d" % self.servers[1].server_address[1]
        self.registry = os.path.join(state, "sapling", "nodes")
        self.register(self.address)

    def register(self, address, **more):
        os.makedirs(self.registry, exist_ok=True)
        entry = {"address": address, "pid": os.getpid(), "socket": self.socket, "token_file": self.token_file,
                 "data": self.directory, **more}
        with open(os.path.join(self.registry, address + ".json"), "w", encoding="utf-8") as file:
            json.dump(entry, file)

    def on(self, method, path, answer):
        """From now on the answer of that route."""
        self.routes.insert(0, (method, path, answer))

    def find(self, request):
        for method, path, answer in self.routes + ROUTES:
            match = re.fullmatch(path, request.path)
            if match and method == request.method:
                request.args = match.groups()
                return answer(request) if callable(answer) else answer
        return error(404, "unknown_route", f"there is no {request.method} {request.path}")

    def asked(self, path):
        with self.lock:
            return [request for request in self.requests if re.fullmatch(path, request.path)]

    def stop(self):
        for server in self.servers:
            server.shutdown()
            server.server_close()
        if os.path.exists(self.socket):
            os.unlink(self.socket)


class RawServer:
    """A port behind which a function has each connection."""

    def __init__(self, serve):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.socket.getsockname()[1]
        self.serve = serve
        self.connections = 0
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self.one, args=(connection,), daemon=True).start()

    def one(self, connection):
        with connection:
            try:
                self.serve(connection)
            except OSError:
                pass

    def stop(self):
        self.socket.close()
