"""What a handler and a task are called with."""
import random

from . import values
from .errors import Fail
from .state import State

MAX_INTENTS = 1024
_RETRY = ("attempts", "first", "factor", "cap", "timeout")


def retry_of(retry):
    """The policy as the node reads it: a dict of some of _RETRY."""
    if not isinstance(retry, dict):
        raise TypeError(f"retry must be a dict of {', '.join(_RETRY)}, not {type(retry).__name__}")
    made = {}
    for name, value in retry.items():
        if name not in _RETRY:
            raise ValueError(f"retry has no {name!r}: there are {', '.join(_RETRY)}")
        if name in ("attempts", "factor"):
            kinds, most = (int, 100) if name == "attempts" else ((int, float), 1000)
            if isinstance(value, bool) or not isinstance(value, kinds) or not 1 <= value <= most:
                raise ValueError(f"retry[{name!r}] is {value!r}: a number from 1 to {most}")
            made[name] = value
        else:
            made[name] = values.duration(value, f"retry[{name!r}]")
    return made


class _Call:
    """What events and tasks have in common."""

    def __init__(self, line):
        self.id = line["id"]
        self.type = line["type"]
        self.world = line.get("world") or ""
        self.name = line.get("name") or ""
        self.ref = line.get("ref") or ""
        self.body = values.value_of(line.get("body"))
        self.attempt = line.get("attempt") or 1
        self.raw = line  # everything that came, also what this package does not know
        self._open = True

    def _check_open(self):
        if not self._open:
            raise RuntimeError(f"{self!r} is over: its answer has been sent")


class Event(_Call):
    """One event of a world, and the answer to it.

    type      "message", "create", "receipt", "timer", "query", "cancel"
    name      of a message or query
    ref       of a receipt or timer: what this world called it
    from_world  the world that sent it; "" if it came from outside
    message_id, correlation_id  what the sender gave
    status    of a receipt: "ok", "error" or "timeout"; "" otherwise
    code      of a receipt that is not ok: why, such as "http_402"
    body      what was sent: what JSON has, or bytes
    state     the world's rows: see State
    now       milliseconds since 1970; the same if the event is handled again, and never going back
    attempt   how often it is handled: 1, 2, ...
    headers   texts that another world sent along with its message
    reply_to  where somebody waits for a reply: a text for reply(to=...) in a later event; ""
              otherwise

    The handler's return value is the reply. Everything else is said by the calls below; none of it
    happens before the handler has returned, and nothing of it if the handler raises.
    """

    def __init__(self, line, ask=None, tasks=None):
        super().__init__(line)
        self.status = line.get("status") or ""
        self.code = line.get("code") or ""
        self.reply_to = line.get("reply_to") or ""
        self.headers = line.get("headers") or {}
        self.from_world = line.get("from") or ""
        self.message_id = line.get("message_id") or ""
        self.correlation_id = line.get("correlation_id") or ""
        self.now = line.get("now") or 0
        self.state = State(line.get("state"), None if "state" in line else ask,
                           self.type != "query")
        self.failed = None  # the Fail that fail() was called with
        self._tasks = tasks if tasks is not None else {}
        self._seed = line.get("random") or "0"
        self._rng = None
        self._answer = {}
        self._do = []

    def __repr__(self):
        name = self.ref if self.type in ("receipt", "timer") else self.name
        return f"{self.type}{' ' if name else ''}{name} of {self.world}"

    # ---- time and chance ----

    @property
    def rng(self):
        """A random.Random that gives the same numbers if the event is handled again."""
        if self._rng is None:
            self._rng = random.Random(int(self._seed, 16))
        return self._rng

    def random(self):
        """A number from 0 up to 1, the same if the event is handled again."""
        return self.rng.random()

    # ---- the answer ----

    def reply(self, value=None, to=None):
        """Replies to whoever sent this event, or with to=TOKEN to whoever sent an earlier one."""
        if to is not None:
            if not isinstance(to, str) or not to:
                raise ValueError(f"to={to!r}: must be what reply_to was in an earlier event")
            self._intent({"reply": to, "body": values.wire_of(value, "reply")})
            return
        self._check_open()
        if "reply" in self._answer:
            raise RuntimeError("the event has a reply already: return a value or call reply(), "
                               "once")
        self._answer["reply"] = values.wire_of(value, "reply")

    def fail(self, message, retry=False):
        """Ends the handler: nothing of this call happens, and whoever waits gets the message.

        The event becomes a dead letter; with retry=True it is handled again, as after an exception.
        """
        self.failed = Fail(message, retry)
        raise self.failed

    def done(self, result=None, failed=False):
        """The world has finished: nothing comes in any more, and the result is kept.

        failed=True says that it has not reached what it was for.
        """
        self._writing("done")
        if "done" in self._answer:
            raise RuntimeError("done() was called already")
        self._answer["done"] = values.wire_of(result, "done")
        if failed:
            self._answer["failed"] = True

    def tag(self, name, value=""):
        """Gives the world a tag, by which lists find it. A name has one value."""
        self._writing("tag")
        if "=" in values.name_of(name, "the name of a tag"):
            raise ValueError(f"tag({name!r}): the name has a '=': write tag(name, value)")
        if not isinstance(value, str):
            raise TypeError(f"tag({name!r}): its value must be text, not {type(value).__name__}")
        self._answer.setdefault("tags", {})[name] = values.text_of(value, f"tag {name!r}")

    def untag(self, name):
        """Takes a tag away."""
        self._writing("untag")
        self._answer.setdefault("tags", {})[values.name_of(name, "the name of a tag")] = None

    def task(self, task, args=None, ref=None, retry=None):
        """Asks for a call of a @task of this program. Its receipt is an event with this ref.

        Without a ref nobody waits for it: a failure becomes a dead letter.
        """
        name = getattr(task, "__name__", task) if callable(task) else task
        if name not in self._tasks:
            known = ", ".join(sorted(self._tasks)) or "none"
            raise ValueError(f"this program has no task {name!r}: it has {known}. "
                             "Write @task above a function")
        intent = {"task": name}
        if args is not None:
            intent["args"] = _sized(args, f"the arguments of {name}")
        self._intent(intent, ref, retry)

    def effect(self, kind, params=None, ref=None, retry=None):
        """Asks for an effect, such as "http.request". Its receipt is an event with this ref."""
        values.name_of(kind, "the kind of an effect")
        intent = {"effect": kind}
        if params is not None:
            intent["params"] = _sized(params, f"the params of {kind}")
        self._intent(intent, ref, retry)

    def timer(self, ref, after=None, at=None, body=None):
        """Arms a timer: an event with this ref, `after` a while or `at` a time. It replaces one of
        that ref."""
        if (after is None) == (at is None):
            raise ValueError(f"timer({ref!r}): give after= or at=, one of them")
        intent = {"timer": values.name_of(ref, "the ref of a timer")}
        if after is not None:
            intent["after"] = values.duration(after, f"timer({ref!r}, after=...)")
        else:
            intent["at"] = values.moment(at, f"timer({ref!r}, at=...)")
        if body is not None:
            intent["body"] = _sized(body, f"the body of timer {ref!r}")
        self._intent(intent)

    def cancel(self, ref):
        """Cancels the effect, task, timer or question of this ref: its event does not come."""
        self._intent({"cancel": values.name_of(ref, "the ref")})

    def send(self, world, name="", body=None, id=None,  # pylint: disable=redefined-builtin
             *, ref=None, create=None, after=None, headers=None, retry=None):
        """Sends a message to another world. With an id it is sent once, however often asked for.

        With a ref the delivery is a receipt. create names a module: the world is made if it is
        missing. after="5s" sends it later. headers is a dict of texts.
        """
        intent = self._message("send", world, name, body, create, headers)
        if id is not None:
            intent["id"] = values.text_of(id, "id")
        if after is not None:
            intent["after"] = values.duration(after, "after")
        self._intent(intent, ref, retry)

    def ask(self, world, name="", body=None, *, ref, timeout=None, create=None, headers=None,
            retry=None):
        """Sends a message to another world and waits for its reply: a receipt with this ref.

        timeout="30s" says how long; then the receipt's status is "timeout".
        """
        intent = self._message("ask", world, name, body, create, headers)
        if timeout is not None:
            intent["timeout"] = values.duration(timeout, "timeout")
        self._intent({**intent, "ref": values.name_of(ref, "ref")}, None, retry)

    @staticmethod
    def _message(verb, world, name, body, create, headers):
        intent = {verb: values.name_of(world, "the name of a world")}
        if values.name_of(name, "the name of a message", empty=True):
            intent["name"] = name
        if body is not None:
            intent["body"] = _sized(body, f"the body for {world}")
        if create is not None:
            intent["create"] = values.name_of(create, "create")
        if headers is not None:
            intent["headers"] = {values.text_of(key, "the name of a header"):
                                 values.text_of(value, f"the header {key}")
                                 for key, value in headers.items()}
        return intent

    def _intent(self, intent, ref=None, retry=None):
        self._writing(next(iter(intent)))
        if ref is not None:
            intent["ref"] = values.name_of(ref, "ref")
        if retry is not None:
            intent["retry"] = retry_of(retry)
        if len(self._do) >= MAX_INTENTS:
            raise RuntimeError(f"more than {MAX_INTENTS} things asked for in one event: "
                               "do some, arm a timer of 0, and go on when it comes")
        self._do.append(intent)

    def _writing(self, what):
        self._check_open()
        if self.type == "query":
            raise RuntimeError(f"a query only reads and replies: {what} is for messages")

    def answer(self, returned):
        """The answer without its id. Nothing can be said after this."""
        if returned is not None or (self.type == "query" and "reply" not in self._answer):
            self.reply(returned)
        put, deleted = self.state.changes()
        answer = {}
        if put:
            answer["put"] = put
        if deleted:
            answer["del"] = deleted
        answer.update(self._answer)
        if self._do:
            answer["do"] = self._do
        return answer

    def close(self):
        """What is said from now on is refused."""
        self._open = False
        self.state.close()


def _sized(value, where):
    wire = values.wire_of(value, where)
    size = len(value) if isinstance(value, (bytes, bytearray)) else len(values.dump(wire))
    if size > values.MAX_VALUE:
        raise ValueError(f"{where}: {size} bytes, more than {values.MAX_VALUE}: put it into the "
                         "state, or into a file, and send its name")
    return wire


class Task(_Call):
    """One call of a task: code that may take long and call the outside.

    name      of the task
    body      its arguments
    world     who asked
    key       the same for all attempts of this task, and for no other: give it to what you call as
              its idempotency key
    attempt   1, 2, ...
    timeout   seconds that this attempt may take
    """

    def __init__(self, line, beat):
        super().__init__(line)
        self.key = line.get("key") or ""
        self.timeout = (line.get("timeout_ms") or 0) / 1000
        self._beat = beat

    def __repr__(self):
        return f"task {self.name} of {self.world}"

    def beat(self, value=None):
        """Says that the task is alive, from any thread, and how far it is."""
        self._check_open()
        self._beat(values.wire_of(value, "beat"))

    def fail(self, message, retry=True, code="task_failed"):
        """Ends the task: it is tried again, or with retry=False its receipt is an error with this
        code."""
        raise Fail(message, retry, code)

    def close(self):
        """A thread that still beats is refused."""
        self._open = False
