"""What tests of programs share: a program as a node runs it, and the rules of the lines between the two.

The rules are those of docs/reference/world-protocol.md; check_event() and check_answer() raise ValueError for
a line that breaks one.
"""
import base64
import hashlib
import json
import os
import re
import selectors
import shutil
import socket
import subprocess
import tempfile
import time

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
PACKAGE = os.environ.get("SAPLING_PYTHON") or os.path.join(ROOT, "clients", "python")
EXAMPLES = os.path.join(ROOT, "examples", "worlds")
ANSWER_SECONDS = float(os.environ.get("SAPLING_ANSWER_SECONDS") or 30)

EVENT_TYPES = ("create", "message", "receipt", "timer", "query", "cancel", "task")
EVENT_TEXTS = ("id", "world", "type", "name", "ref", "status", "code", "from", "message_id", "correlation_id",
               "reply_to", "key", "random")
EVENT_FIELDS = (*EVENT_TEXTS, "v", "body", "headers", "now", "attempt", "timeout_ms", "state")
ANSWER_FIELDS = ("id", "put", "del", "reply", "done", "failed", "tags", "do")
INTENTS = {  # the field that says what it is, and those that may stand beside it
    "task": ("args", "ref", "retry"), "effect": ("ref", "params", "retry"),
    "timer": ("after", "at", "body"), "cancel": (), "send": ("name", "body", "ref", "id", "create", "after", "headers", "retry"),
    "ask": ("name", "body", "ref", "timeout", "create", "headers", "retry"), "reply": ("body",),
}
DURATION = re.compile(r"\d{1,12}(ms|s|m|h|d)")


def expect(holds, message):
    if not holds:
        raise ValueError(message)


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def check_payload(value, where):
    """Payloads are any JSON; bytes are well-formed."""
    if isinstance(value, dict) and "b64" in value and set(value) <= {"b64", "encoding"}:
        base64.b64decode(value["b64"], validate=True)
        expect(value.get("encoding", "raw") in ("raw", "cbor"), f"{where}: encoding {value.get('encoding')!r}")


def check_event(line):
    """An event, as a node writes it."""
    expect(isinstance(line, dict), "an event is an object")
    for field in line:
        expect(field in EVENT_FIELDS, f"an event has no field {field!r}")
        expect(field not in EVENT_TEXTS or isinstance(line[field], str) and line[field], f"{field} is not text")
    for field in ("id", "type", "world", "body", "now", "random", "attempt"):
        expect(field in line, f"the event has no {field}")
    expect(line.get("v") == 1, "v is not 1")
    expect(line["type"] in EVENT_TYPES, f"type {line['type']!r}")
    expect(re.fullmatch("[0-9a-f]{32}", line["random"]), "random is not 32 hex digits")
    expect(isinstance(line["now"], int) and isinstance(line["attempt"], int) and line["attempt"] >= 1, "numbers")
    expect(("status" in line) == (line["type"] == "receipt"), "receipts have a status")
    expect(line.get("status", "ok") in ("ok", "error", "timeout"), "status")
    expect("state" not in line or isinstance(line["state"], dict) and line["type"] != "task", "state")
    check_payload(line["body"], "body")
    for key, value in line.get("state", {}).items():
        check_payload(value, key)


def check_answer(line, event_type="message"):
    """An answer, a line of a task, or what a program asks of a state."""
    expect(isinstance(line, dict), "an answer is an object")
    expect(isinstance(line.get("id"), str), "the answer has no id")
    fields = set(line) - {"id"}
    if event_type == "task":
        expect(fields in ({"ok"}, {"error"}, {"beat"}), f"a task answers ok, error or beat, not {fields}")
        if "error" in line:
            expect(isinstance(line["error"].get("message"), str), "an error has a message")
            expect(set(line["error"]) <= {"code", "message", "retry", "body"}, "fields of error")
    elif "fail" in line:
        expect(fields == {"fail"}, "nothing stands beside fail")
        expect(isinstance(line["fail"].get("message"), str), "fail has a message")
        expect(set(line["fail"]) <= {"message", "retry"}, "fields of fail")
    elif fields & {"get", "scan"}:
        expect(fields <= {"get", "scan"}, "nothing stands beside get and scan")
        expect(all(isinstance(key, str) for key in line.get("get", [])), "get is a list of texts")
        expect(len(line.get("get", [])) <= 1000, "get has more than 1000 keys")
        expect(isinstance(line.get("scan", ""), str), "scan is a text")
    else:
        check_done(line, fields)


def check_done(line, fields):
    for field in fields:
        expect(field in ANSWER_FIELDS, f"an answer has no field {field!r}")
    for key, value in line.get("put", {}).items():
        expect(key, "a key is empty")
        check_payload(value, key)
    expect(all(isinstance(key, str) for key in line.get("del", [])), "del is a list of texts")
    expect(not set(line.get("put", {})) & set(line.get("del", [])), "a key is in put and in del")
    expect("failed" not in line or "done" in line and isinstance(line["failed"], bool), "failed")
    for name, value in line.get("tags", {}).items():
        expect(name and (value is None or isinstance(value, str)), "tags are texts")
    for intent in line.get("do", []):
        kinds = [kind for kind in INTENTS if kind in intent]
        if "reply" in kinds and len(kinds) > 1 or len(kinds) != 1:
            raise ValueError(f"an intent is one of {', '.join(INTENTS)}: {intent}")
        extra = set(intent) - {kinds[0], *INTENTS[kinds[0]]}
        expect(not extra, f"{kinds[0]} has no field {extra}")
        expect(isinstance(intent[kinds[0]], str) and intent[kinds[0]], f"{kinds[0]} is not text")
        for field in ("after", "timeout"):
            expect(field not in intent or is_number(intent[field]) or DURATION.fullmatch(intent[field]), field)
        expect(set(intent.get("retry", {})) <= {"attempts", "first", "factor", "cap", "timeout"}, "fields of retry")


class Program:
    """A program on pipes, with its standard error in a file."""

    def __init__(self, *command, cwd=None, python_path=PACKAGE):
        self.scratch = tempfile.mkdtemp(prefix="sapling-program-")
        self.errors_path = os.path.join(self.scratch, "stderr")
        environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "PYTHONUNBUFFERED": "1", "PYTHONHASHSEED": "0",
                       "PYTHONDONTWRITEBYTECODE": "1"}
        if python_path:
            environment["PYTHONPATH"] = python_path
        with open(self.errors_path, "wb") as errors:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                                            env=environment, cwd=cwd or self.scratch, bufsize=0)
        self._pending = b""

    def write(self, line):
        if not isinstance(line, bytes):  # in the node's form
            line = (json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n").encode()
        data = line
        while data:
            data = data[self.process.stdin.write(data):]

    def read_line(self, seconds=ANSWER_SECONDS):
        """The next line of its standard output; b"" at the end."""
        until = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._pending:
                if not selector.select(max(0.0, until - time.monotonic())):
                    raise TimeoutError(f"no answer in {seconds} s; standard error: {self.errors()}")
                data = self.process.stdout.read(1 << 16)
                if not data:
                    rest, self._pending = self._pending, b""
                    return rest
                self._pending += data
        line, _, self._pending = self._pending.partition(b"\n")
        return line + b"\n"

    def read(self):
        line = self.read_line()
        if not line.endswith(b"\n"):
            raise EOFError(f"it ended without an answer; standard error: {self.errors()}")
        return json.loads(line)

    def errors(self):
        with open(self.errors_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def close(self):
        """Ends the input and returns the exit status."""
        if not self.process.stdin.closed:
            self.process.stdin.close()
        try:
            status = self.process.wait(ANSWER_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        self.process.stdout.close()
        shutil.rmtree(self.scratch, ignore_errors=True)
        return status


class World(Program):
    """One world of a program: keeps its state, and does what the answers say, as far as a test sees it."""

    def __init__(self, *command, name="w-1", state=None, ask=False, **more):
        super().__init__(*command, **more)
        self.name = name
        self.state = state if state is not None else {}
        self.ask = ask
        self.step = 0
        self.now = 1_700_000_000_000
        self.beats = []
        self.asked = []

    def line_of(self, kind, attempt=1, **fields):
        """The line of an event."""
        self.step += 1
        ident = f"{self.name}@{self.step}#{attempt}"
        line = {"v": 1, "id": ident, "world": self.name, "type": kind, "body": None, "now": self.now,
                "random": hashlib.md5(ident.encode()).hexdigest(), "attempt": attempt, **fields}
        if kind != "task" and not self.ask:
            line["state"] = self.state
        check_event(line)
        return line

    def event(self, kind, **fields):
        """Sends an event and returns the answer, without its id; the state is as the answer says."""
        line = self.line_of(kind, **fields)
        self.write(line)
        while True:
            answer = self.read()
            check_answer(answer, kind)
            expect(answer.pop("id") == line["id"], "the answer has another id")
            if "beat" in answer:
                self.beats.append(answer["beat"])
            elif "get" in answer or "scan" in answer:
                self.asked.append(answer)
                self.write({"id": line["id"], "got": self.rows_for(answer)})
            else:
                break
        if kind == "query":
            expect(set(answer) <= {"reply", "fail"}, "a query only replies")
        self.state.update(answer.get("put", {}))
        for key in answer.get("del", []):
            self.state.pop(key, None)
        return answer

    def rows_for(self, request):
        rows = {key: self.state[key] for key in request.get("get", []) if key in self.state}
        if "scan" in request:
            rows.update((k, v) for k, v in self.state.items() if k.startswith(request["scan"]))
        return rows

    def message(self, body=None, name="", **fields):
        return self.event("message", body=body, reply_to="r-1", **({"name": name} if name else {}), **fields)


COMMAND = os.path.abspath(os.environ.get("SAPLING_COMMAND") or os.path.join(ROOT, "build", "sapling"))


def free_address():
    """An address of this machine that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return f"127.0.0.1:{free.getsockname()[1]}"


def command_options():
    """What a command needs that is not build/sapling: where the package is, and options of sanitizers."""
    options = {name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")}
    return {**options, "SAPLING_NODE_PYTHON_PATH": PACKAGE} if "SAPLING_COMMAND" in os.environ else {}


def forget_node(address):
    """Removes what a node of root that was killed has left in the directory of the system."""
    try:
        os.unlink(f"/run/sapling/nodes/{address}.json")
    except OSError:
        pass


class Node:
    """A node in a directory of its own, found by clients as any other."""

    def __init__(self):
        self.scratch = tempfile.mkdtemp(prefix="sapling-node-")
        self.data = os.path.join(self.scratch, "data")
        self.address = free_address()
        self.environment = {"PATH": os.path.dirname(COMMAND) + ":" + os.environ["PATH"], "HOME": self.scratch,
                            "XDG_STATE_HOME": os.path.join(self.scratch, "state"), "LANG": "C.UTF-8",
                            "SAPLING_NODE": self.address, "SAPLING_NODE_LISTEN": self.address,
                            "SAPLING_NODE_DATA": self.data, **command_options()}
        self.process = None
        self.start()

    def start(self):
        self.log = open(os.path.join(self.scratch, "log"), "ab")
        self.process = subprocess.Popen([COMMAND, "up"], env=self.environment, cwd=self.scratch, stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=self.log)
        until = time.monotonic() + ANSWER_SECONDS
        while self.run("status").returncode != 0:
            expect(self.process.poll() is None and time.monotonic() < until, f"the node is not up: {self.logged()}")
            time.sleep(0.05)

    def logged(self):
        with open(os.path.join(self.scratch, "log"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def run(self, *arguments):
        """A command, as a user of the node."""
        return subprocess.run([COMMAND, *arguments], env=self.environment, cwd=self.scratch, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120, check=False)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.log.close()

    def stop(self):
        """Its exit status after SIGTERM."""
        self.process.terminate()
        status = self.process.wait(30)
        self.log.close()
        return status

    def close(self):
        if self.process.poll() is None:
            self.kill()
        forget_node(self.address)
        shutil.rmtree(self.scratch, ignore_errors=True)
