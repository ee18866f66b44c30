"""The program of a module: its handlers, its tasks, and the lines between it and the node.

One line of JSON comes in on standard input, one goes out on standard output:
docs/reference/world-protocol.md. Nothing else may be written there, so the program's own standard
output is made its standard error.
"""
import inspect
import json
import os
import sys
import threading
import traceback

from . import values
from .errors import Fail
from .event import Event, Task

VERSION = 1
TYPES = ("create", "message", "receipt", "timer", "query", "cancel", "forked", "migrate")
# Events that nobody needs to handle: without a handler of their own they change nothing.
_OPTIONAL = ("create", "forked", "migrate")
_MAX_MESSAGE = 1000
_PACKAGE = os.path.dirname(os.path.abspath(__file__))


class NodeGone(BaseException):
    """The node has closed the pipe: there is nobody to answer."""


class Broken(BaseException):
    """The node wrote what the protocol does not have. Nothing that follows can be trusted, so the
    program ends."""


class Wire:
    """Lines of JSON on two descriptors of its own."""

    def __init__(self, source, sink):
        self._source = os.fdopen(source, "rb")
        self._sink = sink
        self._lock = threading.Lock()

    def read(self):
        """The next line as an object; None at the end."""
        line = self._source.readline()
        if not line:
            return None
        try:
            message = json.loads(line.decode("utf-8"))
        except ValueError as error:
            raise Broken(f"the node wrote a line that is not JSON ({error}): "
                         f"{_start_of(line)}") from None
        if not isinstance(message, dict):
            raise Broken(f"the node wrote a line that is not an object: {_start_of(line)}")
        return message

    def write(self, text):
        """One line, at once."""
        with self._lock:
            rest = memoryview(text.encode("ascii") + b"\n")
            try:
                while rest:
                    rest = rest[os.write(self._sink, rest):]
            except (BrokenPipeError, ConnectionResetError):
                raise NodeGone() from None

    def is_terminal(self):
        """Whether somebody types the lines."""
        return self._source.isatty()

    def close(self):
        """Closes both."""
        self._source.close()
        os.close(self._sink)


def _start_of(line):
    text = line[:80].decode("utf-8", "backslashreplace").rstrip("\n")
    return repr(text + ("..." if len(line) > 80 else ""))


_taken = None  # the Wire on what were standard input and output


def take_streams():
    """Keeps standard input and output for the node, and gives the program standard error and
    nothing in
    their place, also in processes that it starts."""
    global _taken
    if _taken is None:
        if sys.stdout is not None:
            sys.stdout.flush()
        _taken = Wire(os.dup(0), os.dup(1))
        os.dup2(2, 1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        sys.stdout = sys.stderr
    return _taken


class Program:
    """Handlers by type and name, and tasks by name."""

    def __init__(self):
        self._handlers = {}  # (type, name or None) to function
        self._tasks = {}

    # ---- registration ----

    def handler(self, *names, type="message"):  # pylint: disable=redefined-builtin
        """@handler, @handler("name", ...), @handler("ref", type="timer"), @handler(type="query").

        Without names: for all of the type that have no handler of their own. Names are those of
        messages and queries, and the refs of receipts and timers.
        """
        if len(names) == 1 and callable(names[0]):
            return self._add_handler(names[0], (None,), ("message",))
        types = (type,) if isinstance(type, str) else tuple(type)
        for one in types:
            if one not in TYPES:
                raise ValueError(f"@handler(type={one!r}): there is no such type: "
                                 f"there are {', '.join(TYPES)}")
        for name in names:
            values.name_of(name, "@handler: a name", empty=True)
            if not set(types) <= {"message", "query", "receipt", "timer"}:
                raise ValueError(f"@handler({name!r}, type={type!r}): "
                                 "events of that type have no name")
        return lambda function: self._add_handler(function, names or (None,), types)

    def task(self, *names):
        """@task, or @task("name"): a function that may call the outside. e.task("name", ...) asks
        for it."""
        if len(names) == 1 and callable(names[0]):
            return self._add_task(names[0], (names[0].__name__,))
        for name in names:
            values.name_of(name, "@task: a name")
        return lambda function: self._add_task(function, names or (function.__name__,))

    def _add_handler(self, function, names, types):
        self._check_function(function, "handler", "the event")
        for one in types:
            for name in names:
                if (one, name) in self._handlers:
                    other = self._handlers[one, name].__name__
                    raise ValueError(f"{function.__name__}: {_what(one, name)} has a handler "
                                     f"already: {other}")
                self._handlers[one, name] = function
        return function

    def _add_task(self, function, names):
        self._check_function(function, "task", "the task")
        for name in names:
            if name in self._tasks:
                raise ValueError(f"there are two tasks {name!r}")
            self._tasks[name] = function
        return function

    @staticmethod
    def _check_function(function, what, argument):
        if not callable(function):
            raise TypeError(f"@{what} stands above a function, not {type(function).__name__}")
        name = getattr(function, "__name__", repr(function))
        if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function) or \
                inspect.isasyncgenfunction(function):
            raise TypeError(f"{name}: a {what} is a plain function, without async and yield")
        try:
            inspect.signature(function).bind(None)
        except TypeError:
            raise TypeError(f"{name}{inspect.signature(function)}: a {what} takes one argument, "
                            f"{argument}") from None
        if getattr(function, "__module__", "") == "__main__":
            take_streams()  # so that print() goes to standard error from here on

    # ---- the loop ----

    def run(self, wire=None):
        """Answers events until the node closes the pipe."""
        if not self._handlers and not self._tasks:
            raise RuntimeError("run(): there is no @handler above it")
        if wire is None:
            wire = take_streams()
            if wire.is_terminal():
                name = os.path.basename(sys.argv[0]) or "this"
                print(f"{name} is a world's program, which a node runs: "
                      f"sapling world send NAME BODY --module exec:./{name} --wait\n"
                      "Here it reads events, one line of JSON each, until Ctrl-D.", file=sys.stderr)
        try:
            process = os.getpid()
            while True:
                line = wire.read()
                if line is None:
                    return
                answer = self.answer_of(line, wire)
                if os.getpid() != process:  # a handler has forked: the answer is the parent's
                    os._exit(0)
                wire.write(answer)
        except NodeGone:
            return
        except KeyboardInterrupt:
            sys.exit(130)
        except Broken as error:
            print(f"sapling: {error}", file=sys.stderr)
            sys.exit(1)

    def answer_of(self, line, wire):
        """The answer to one line, as text."""
        ident = line.get("id")
        if not isinstance(ident, str) or not isinstance(line.get("type"), str):
            raise Broken("the node wrote an event without id or type: "
                         f"{_start_of(values.dump(line).encode())}")
        try:
            if line.get("v", VERSION) != VERSION:
                raise Fail(f"version {line['v']} of the protocol is unknown to this package, which "
                           f"knows {VERSION}: use the package of the node's version", retry=True)
            if line["type"] == "task":
                answer = self._answer_task(line, wire)
            else:
                answer = self._answer_event(line, wire)
            text = values.dump({"id": ident, **answer})
            if len(text) >= values.MAX_LINE:
                raise Fail(f"the answer has {len(text)} bytes, more than {values.MAX_LINE}",
                           retry=True)
            return text
        except (NodeGone, Broken, KeyboardInterrupt):
            raise
        except BaseException as error:  # pylint: disable=broad-except
            return values.dump({"id": ident, **_failure_of(error, line["type"] == "task")})

    def _answer_event(self, line, wire):
        def ask(keys, prefix):
            request = {"id": line["id"]}
            if keys:
                request["get"] = keys
            if prefix is not None:
                request["scan"] = prefix
            wire.write(values.dump(request))
            answer = wire.read()
            if answer is None:
                raise NodeGone()
            if answer.get("id") != line["id"] or not isinstance(answer.get("got"), dict):
                raise Broken("the node did not answer what was asked: "
                             f"{_start_of(values.dump(answer).encode())}")
            return answer["got"]

        event = Event(line, ask, self._tasks)
        try:
            function = self._find_handler(event)
            returned = function(event) if function is not None else None
            if event.failed is not None:  # fail() was called, and something caught what it raised
                raise event.failed
            return event.answer(returned)
        finally:
            event.close()

    def _find_handler(self, event):
        name = event.ref if event.type in ("receipt", "timer") else event.name
        for key in ((event.type, name), (event.type, None)):
            if key in self._handlers:
                return self._handlers[key]
        if event.type in _OPTIONAL:
            return None
        if event.type == "receipt" and event.code == "cancelled":  # by an operator, who wanted that
            print(f"{event.ref!r} of {event.world} was cancelled, and there is no handler for that")
            return None
        known = ", ".join(sorted(_what(*key) for key in self._handlers)) or "none"
        advice = f"@handler({name!r})" if event.type == "message" else \
            f"@handler({name!r}, type={event.type!r})" if name else f"@handler(type={event.type!r})"
        # What comes from outside is refused, what this world has asked for is kept until there is a
        # handler.
        raise Fail(f"no handler for {_what(event.type, name)}: there are handlers for {known}; "
                   f"write {advice}",
                   retry=event.type in ("receipt", "timer"))

    def _answer_task(self, line, wire):
        task = Task(line, lambda value: wire.write(values.dump({"id": line["id"], "beat": value})))
        try:
            if task.name not in self._tasks:
                known = ", ".join(sorted(self._tasks)) or "none"
                raise Fail(f"no task {task.name!r}: this program has {known}", retry=True)
            result = self._tasks[task.name](task)
            return {"ok": values.wire_of(result, f"the result of {task.name}")}
        finally:
            task.close()


def _what(kind, name):
    if name:
        return f"{kind} {name!r}"
    return f"every {kind}" if name is None else f"{kind} without a name"


# ---- failures -----------------------------------------------------------------------------------

def _failure_of(error, is_task):
    """The part of an answer that says what went wrong; what is not the program's own wish is on its
    standard error with the lines that led there."""
    if isinstance(error, Fail):
        message, retry, code = error.message, error.retry, error.code
    else:
        _print_trace(error)
        message, retry, code = _last_line_of(error), True, "exception"
    message = message.encode("utf-8", "backslashreplace").decode("utf-8")[:_MAX_MESSAGE] or "failed"
    if is_task:
        return {"error": {"code": code, "message": message, "retry": retry}}
    return {"fail": {"message": message, "retry": retry}}


def _program_trace_of(error):
    """The traceback from the program's own first line on."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None and \
            os.path.dirname(os.path.abspath(trace.tb_frame.f_code.co_filename)) == _PACKAGE:
        trace = trace.tb_next
    return trace


def _print_trace(error):
    try:
        lines = traceback.format_exception(type(error), error, _program_trace_of(error))
        sys.stderr.write("".join(lines))
        sys.stderr.flush()
    except Exception:  # pylint: disable=broad-except
        print(f"{type(error).__name__}, which could not be shown", file=sys.stderr)


def _last_line_of(error):
    """Such as "KeyError: 'n' (hello.py, line 7)"."""
    if isinstance(error, SystemExit):
        text = f"the handler ended the program, exit({error.code!r}): return instead"
    else:
        try:
            text = traceback.format_exception_only(type(error), error)[-1].strip()
        except Exception:  # pylint: disable=broad-except
            text = type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if os.path.dirname(os.path.abspath(f.filename)) != _PACKAGE]
    return f"{text} ({os.path.basename(own[-1].filename)}, line {own[-1].lineno})" if own else text


PROGRAM = Program()
handler = PROGRAM.handler
task = PROGRAM.task
run = PROGRAM.run
