"""Programs that use the package, as a node runs them: on pipes, one line in, one line out."""
import ast
import base64
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest

import harness

sys.path.insert(0, harness.PACKAGE)

from sapling import program  # noqa: E402

PRELUDE = "from sapling import *\nimport sapling, sys, os, time, threading\n"


class ProgramTest(unittest.TestCase):
    def start(self, text, **more):
        """A world of a program with this text."""
        handle, path = tempfile.mkstemp(suffix=".py", prefix="handler-")
        self.addCleanup(os.unlink, path)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(PRELUDE + textwrap.dedent(text) + "\nrun()\n")
        world = harness.World(sys.executable, "-S", path, **more)
        self.addCleanup(world.close)
        return world

    def failure(self, text, **fields):
        """What the world answers to a message, which has to be a failure."""
        answer = self.start(text).message(**fields)
        self.assertEqual(list(answer), ["fail"], answer)
        return answer["fail"]

    def start_evaluator(self, **more):
        """A world that evaluates what it is sent: many cases in one process."""
        return self.start("""
            @task
            def charge(t): pass
            @handler
            def h(e): return eval(e.body, {**globals(), "e": e})
            """, **more)

    # ---- the streams ----

    def test_whatever_is_printed_goes_to_standard_error(self):
        world = self.start("""
            print("before")
            @handler
            def h(e):
                print("in the handler")
                sys.stdout.write("by write\\n")
                os.write(1, b"by descriptor\\n")
                os.system("echo by a process")
                thread = threading.Thread(target=print, args=("by a thread",))
                thread.start(), thread.join()
                return 1
            print("after")
            """.replace('print("before")', ""))
        self.assertEqual(world.message(), {"reply": 1})
        self.assertEqual(world.close(), 0)

    def test_what_is_printed_can_be_read_in_the_log(self):
        world = self.start("""
            @handler
            def h(e):
                print("one"); os.write(1, b"two\\n"); os.system("echo three")
            """)
        self.assertEqual(world.message(), {})
        self.assertEqual(world.errors().split(), ["one", "two", "three"])

    def test_a_handler_cannot_read_the_lines_of_the_node(self):
        world = self.start("""
            @handler
            def h(e):
                os.system("cat > /dev/null")
                return input()
            """)
        self.assertIn("EOFError", world.message()["fail"]["message"])
        self.assertIn("EOFError", world.message()["fail"]["message"])

    def test_the_end_of_the_input_ends_the_program_with_success(self):
        world = self.start("@handler\ndef h(e): pass\n")
        self.assertEqual(world.message(), {})
        self.assertEqual(world.close(), 0)

    def test_the_end_of_the_input_amid_a_line_is_no_event(self):
        world = self.start("@handler\ndef h(e): print('called')\n")
        world.write(b'{"v":1,"id":"a","type":"mess')
        world.process.stdin.close()
        self.assertEqual(world.read_line(), b"")
        self.assertEqual(world.process.wait(30), 1)
        self.assertNotIn("called", world.errors())

    def test_a_node_that_goes_away_while_a_handler_asks_for_rows_ends_the_program(self):
        world = self.start("""
            @handler
            def h(e):
                try: e.state["k"]
                except Exception: print("caught")
            """, ask=True)
        world.write(world.line_of("message"))
        self.assertEqual(world.read()["get"], ["k"])
        self.assertEqual(world.close(), 0)

    def test_a_node_that_reads_no_more_ends_the_program_quietly(self):
        world = self.start("@handler\ndef h(e): return 'x' * 60000\n")
        world.process.stdout.close()
        try:
            for _ in range(10):
                world.write(world.line_of("message"))
        except BrokenPipeError:
            pass
        world.process.stdin.close()
        self.assertEqual(world.process.wait(30), 0)
        self.assertEqual(world.errors(), "")
        world.process.stdout = open(os.devnull, "rb")

    def test_lines_that_are_not_the_protocol_s_end_the_program_with_what_was_wrong(self):
        for line, words in ((b"garbage\n", "not JSON"), (b"[1]\n", "not an object"), (b"\xff\n", "not JSON"),
                            (b'{"type":"message"}\n', "without id or type"), (b'{"id":7,"type":"message"}\n', "without"),
                            (b'{"id":"a"}\n', "without id or type"), (b"\n", "not JSON")):
            world = self.start("@handler\ndef h(e): return 1\n")
            world.write(line)
            self.assertEqual(world.read_line(), b"", line)
            self.assertEqual(world.process.wait(30), 1, line)
            self.assertIn(words, world.errors(), line)
            self.assertNotIn("Traceback", world.errors(), line)

    def test_an_answer_to_something_else_than_was_asked_ends_the_program(self):
        for line in (b'{"id":"other","got":{}}\n', b'{"id":"w-1@1#1","got":[]}\n', b"garbage\n", b'{"id":"w-1@1#1"}\n'):
            world = self.start("""
                @handler
                def h(e):
                    try: e.state["k"]
                    except Exception: return "swallowed"
                """, ask=True)
            world.write(world.line_of("message"))
            world.read()
            world.write(line)
            self.assertEqual(world.read_line(), b"", line)
            self.assertEqual(world.process.wait(30), 1, line)

    def test_a_terminated_program_is_gone_at_once_and_has_answered_nothing(self):
        world = self.start("@handler\ndef h(e):\n    os.write(2, b'begun')\n    time.sleep(60)\n")
        world.write(world.line_of("message"))
        until = time.monotonic() + 20
        while "begun" not in world.errors() and time.monotonic() < until:
            time.sleep(0.01)
        world.process.send_signal(signal.SIGTERM)
        self.assertEqual(world.process.wait(30), -signal.SIGTERM)
        self.assertEqual(world.read_line(), b"")

    def test_lines_of_megabytes_pass(self):
        world = self.start("@handler\ndef h(e): return len(e.body)\n")
        self.assertEqual(world.message("x" * (4 << 20)), {"reply": 4 << 20})
        world = self.start("@handler\ndef h(e): return 'y' * (4 << 20)\n")
        self.assertEqual(len(world.message()["reply"]), 4 << 20)

    # ---- failures ----

    def test_an_exception_is_a_failure_with_its_text_and_place_and_is_tried_again(self):
        fail = self.failure("""
            @handler
            def h(e):
                return e.body["n"]
            """, body={})
        self.assertRegex(fail["message"], r"^KeyError: 'n' \(handler-\w+\.py, line \d+\)$")
        self.assertIs(fail["retry"], True)

    def test_the_traceback_begins_in_the_program_and_is_in_the_log(self):
        world = self.start("@handler\ndef h(e): raise ValueError('bad day')\n")
        self.assertIn("bad day", world.message()["fail"]["message"])
        self.assertIn("ValueError: bad day", world.errors())
        self.assertIn("in h", world.errors())
        self.assertNotIn("program.py", world.errors())

    def test_a_failed_handler_changes_nothing_and_the_next_event_is_handled(self):
        world = self.start("""
            @handler
            def h(e):
                e.state["n"] = 1
                e.timer("t", after="1s")
                if e.body: raise RuntimeError("late")
            """)
        self.assertEqual(list(world.message(1)), ["fail"])
        self.assertEqual(world.state, {})
        self.assertEqual(world.message(0)["put"], {"n": 1})

    def test_fail_refuses_for_good_unless_asked_otherwise(self):
        text = "@handler\ndef h(e):\n    e.state['n'] = 1\n    e.fail('no money'{})\n"
        self.assertEqual(self.failure(text.format("")), {"message": "no money", "retry": False})
        self.assertEqual(self.failure(text.format(", retry=True")), {"message": "no money", "retry": True})

    def test_fail_holds_also_where_something_catches_it(self):
        self.assertEqual(self.failure("""
            @handler
            def h(e):
                try: e.fail("no money")
                except Exception: pass
                return "fine"
            """), {"message": "no money", "retry": False})

    def test_fail_can_be_raised_without_the_event(self):
        self.assertEqual(self.failure("@handler\ndef h(e): raise Fail('closed', retry=True)\n"),
                         {"message": "closed", "retry": True})

    def test_ways_to_end_a_program_are_failures_of_the_handler(self):
        for code in ("sys.exit(3)", "sys.exit()", "raise SystemExit('bye')"):
            self.assertIn("ended the program", self.failure(f"@handler\ndef h(e): {code}\n")["message"])

    def test_strange_exceptions_still_become_failures(self):
        world = self.start("""
            class Mute(Exception):
                def __str__(self): raise RuntimeError("not even this")
            class Own(BaseException): pass
            def deep(n): return deep(n + 1)
            @handler
            def h(e):
                if e.body == 0: raise Mute()
                if e.body == 1: raise ValueError("\\ud800 lone")
                if e.body == 2: raise ValueError("long " * 100000)
                if e.body == 3: deep(0)
                if e.body == 4: raise Own("own")
                if e.body == 5: raise MemoryError()
                if e.body == 6: raise ValueError("two\\nlines")
                if e.body == 7: raise ExceptionGroup("g", [ValueError("in it")])
            """)
        words = ["Mute", "lone", "long", "RecursionError", "Own: own", "MemoryError", "lines"]
        for body, word in enumerate(words):
            fail = world.message(body)["fail"]
            self.assertIn(word, fail["message"])
            self.assertLessEqual(len(fail["message"].encode()), 1024)
        self.assertEqual(world.message(99), {})

    def test_what_json_cannot_say_is_a_failure_that_names_the_place(self):
        cases = (
            ("{1, 2}", "reply: set is not JSON"), ("object()", "reply: object is not JSON"),
            ("float('nan')", "not a JSON number"), ("[1, float('inf')]", "reply[1]: inf"),
            ("2 ** 64", "more than 64 bits"), ("-2 ** 63 - 1", "more than 64 bits"), ("{1: 2}", "the key 1 is not text"),
            ("{('a', 'b'): 2}", "is not text"), ("{'a': [{'b': {1}}]}", "reply['a'][0]['b']: set"),
            ("'\\ud800'", "not Unicode"), ("{'\\ud800': 1}", "not Unicode"), ("h", "was it to be called?"),
            ("__import__('decimal').Decimal(1)", "use str()"), ("__import__('datetime').datetime.now()", "isoformat"),
            ("(x for x in [])", "generator is not JSON"), ("e", "Event is not JSON"), ("1j", "complex is not JSON"),
            ("{'b64': '!'}", "not Base64"), ("{'a\\0': 1}", "has a NUL"), ("'z' * (9 << 20)", "more than 8388608"), ("(lambda a: a.append(a) or a)([])", "contains itself"),
            ("(lambda f: f(f, 100))(lambda f, n: [f(f, n - 1)] if n else 1)", "nested deeper"),
        )
        world = self.start_evaluator()
        for code, words in cases:
            self.assertIn(words, world.message(code)["fail"]["message"], code)

    def test_what_json_can_say_is_said(self):
        world = self.start("""
            import dataclasses, enum
            @dataclasses.dataclass
            class Item:
                name: str
                price: int
            @dataclasses.dataclass
            class Order:
                items: list
                note: object = None
            class Color(enum.Enum):
                RED = "red"
            class Level(enum.IntEnum):
                HIGH = 3
            class Text(str): pass
            shared = [1]
            @handler
            def h(e):
                return [Order([Item("a", 1), Item("b", 2)], b"\\x00"), Color.RED, Level.HIGH, (1, 2.5), True, None,
                        Text("t"), "\\u2603\\0", 2 ** 63 - 1, -2 ** 63, {}, [shared, shared]]
            """)
        self.assertEqual(world.message()["reply"], [
            {"items": [{"name": "a", "price": 1}, {"name": "b", "price": 2}], "note": {"b64": "AA=="}}, "red", 3, [1, 2.5],
            True, None, "t", "\u2603\0", 2 ** 63 - 1, -2 ** 63, {}, [[1], [1]]])

    def test_random_values_come_back_as_they_were(self):
        seed = int(os.environ.get("SAP_TEST_SEED") or 1)
        rng = random.Random(seed)

        def value(depth):
            kind = rng.randrange(9 if depth else 7)
            if kind == 7:
                return [value(depth - 1) for _ in range(rng.randrange(4))]
            if kind == 8:
                return {text(): value(depth - 1) for _ in range(rng.randrange(4))}
            return (None, True, rng.randrange(-2 ** 63, 2 ** 63), rng.random() * 10 ** rng.randrange(-300, 300), text(),
                    {"b64": base64.b64encode(rng.randbytes(rng.randrange(20))).decode()}, -0.0)[kind]

        def text():
            return "".join(chr(rng.choice((rng.randrange(1, 128), rng.randrange(0xa0, 0xd800), rng.randrange(0x10000, 0x110000))))
                           for _ in range(rng.randrange(12)))
        echo = program.Program()

        @echo.handler
        def handle(e):  # pylint: disable=unused-variable
            e.state["copy"] = e.body
            e.state["kept"].append(e.body)
            return {"body": e.body, "old": e.state["old"]}
        values = 3000
        for _ in range(values):
            body, old = value(4), value(2)
            answer = json.loads(echo.answer_of({"id": "i", "type": "message", "body": body, "state": {"kept": [], "old": old}},
                                               None))
            put = {"copy": body, "kept": [body]}
            self.assertEqual(answer, {"id": "i", "put": put, "reply": {"body": body, "old": old}})
            self.assertEqual(json.dumps(answer["put"]["copy"]), json.dumps(body))  # 1 is not 1.0
        print(f"seed {seed}: {values} values")

    def test_a_program_that_is_started_at_a_terminal_says_what_runs_it(self):
        ours, theirs = os.openpty()
        process = subprocess.Popen([sys.executable, "-S", os.path.join(harness.EXAMPLES, "stock.py")], stdin=theirs,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env={**os.environ, "PYTHONPATH": harness.PACKAGE})
        os.close(theirs)
        os.write(ours, b"\x04")  # Ctrl-D
        said, errors = process.communicate(timeout=60)
        os.close(ours)
        self.assertEqual((process.returncode, said), (0, ""), errors)
        self.assertIn("--module exec:./stock.py --wait", errors)

    # ---- replies and requests ----

    def test_a_return_value_is_the_reply_and_none_is_no_reply(self):
        for code, answer in (("0", {"reply": 0}), ("False", {"reply": False}), ("''", {"reply": ""}), ("None", {}),
                             ("e.reply(None)", {"reply": None}), ("e.reply({'a': 1})", {"reply": {"a": 1}})):
            self.assertEqual(self.start(f"@handler\ndef h(e): return {code}\n").message(), answer)

    def test_two_replies_are_a_failure(self):
        self.assertIn("has a reply already", self.failure("@handler\ndef h(e):\n    e.reply(1)\n    return 2\n")["message"])
        self.assertIn("has a reply already", self.failure("@handler\ndef h(e):\n    e.reply(1)\n    e.reply(1)\n")["message"])
        self.assertIn("called already", self.failure("@handler\ndef h(e):\n    e.done(1)\n    e.done(1)\n")["message"])

    def test_everything_that_can_be_asked_for_is_in_the_answer(self):
        world = self.start("""
            import datetime
            @task
            def charge(t): pass
            @handler
            def h(e):
                e.task("charge", {"amount": 5}, ref="charge", retry={"attempts": 3, "first": "1s", "factor": 1.5})
                e.task(charge)
                e.effect("http.request", {"url": "http://h/"}, ref="call")
                e.timer("give-up", after="15m")
                e.timer("soon", after=0.25, body=[1])
                e.timer("later", after=datetime.timedelta(days=2))
                e.timer("then", at=e.now + 1000)
                e.timer("noon", at=datetime.datetime(2031, 5, 6, 12, tzinfo=datetime.timezone.utc))
                e.cancel("give-up")
                e.send("mail-1", "hi", {"x": 1}, id="m1")
                e.send("mail-2")
                e.ask("stock-1", "reserve", {"n": 2}, ref="stock", timeout="30s")
                e.reply("late", to="token")
                e.tag("state", "open"), e.tag("urgent"), e.untag("old")
                e.done({"total": 5}, failed=True)
            """)
        self.assertEqual(world.message(), {
            "tags": {"state": "open", "urgent": "", "old": None}, "done": {"total": 5}, "failed": True, "do": [
                {"task": "charge", "args": {"amount": 5}, "ref": "charge",
                 "retry": {"attempts": 3, "first": "1s", "factor": 1.5}},
                {"task": "charge"},
                {"effect": "http.request", "params": {"url": "http://h/"}, "ref": "call"},
                {"timer": "give-up", "after": "15m"}, {"timer": "soon", "after": "250ms", "body": [1]},
                {"timer": "later", "after": "172800000ms"}, {"timer": "then", "at": world.now + 1000},
                {"timer": "noon", "at": 1935835200000}, {"cancel": "give-up"},
                {"send": "mail-1", "name": "hi", "body": {"x": 1}, "id": "m1"}, {"send": "mail-2"},
                {"ask": "stock-1", "name": "reserve", "body": {"n": 2}, "timeout": "30s", "ref": "stock"},
                {"reply": "token", "body": "late"}]})

    def test_requests_that_cannot_be_meant_fail_at_their_line(self):
        cases = (
            ("e.task('chrge')", "it has charge"), ("e.timer('t')", "after= or at="), ("e.timer('t', after='5')", "not a duration"),
            ("e.timer('t', after='1s', at=1)", "one of them"), ("e.timer('t', after=-1)", "not a duration"),
            ("e.timer('t', after=True)", "not a duration"), ("e.timer('t', after=float('nan'))", "not a duration"),
            ("e.timer('t', at='noon')", "not a time of day"), ("e.timer('', after='1s')", "is empty"), ("e.timer('a\\0', after='1s')", "has a NUL"),
            ("e.timer('t', at=__import__('datetime').datetime(2031, 1, 1))", "time zone"),
            ("e.task('charge', retry=3)", "must be a dict"), ("e.task('charge', retry={'tries': 3})", "no 'tries'"),
            ("e.task('charge', retry={'attempts': 0})", "1 to 100"), ("e.task('charge', retry={'factor': '2'})", "1 to"),
            ("e.ask('w', 'n')", "argument: 'ref'"), ("e.ask('w', ref=None)", "must be text"),
            ("e.ask('w', ref='r', wait='1s')", "argument 'wait'"), ("e.send('w', prio=3)", "argument 'prio'"), ("e.send('')", "is empty"), ("e.send('w' * 129)", "128 bytes"),
            ("e.send('w', {'n': 1})", "must be text"), ("e.send('w', body='x' * 70000)", "more than 65536"),
            ("e.cancel(None)", "must be text"), ("e.tag('a=b')", "has a '='"), ("e.tag('n', 3)", "must be text"),
            ("e.reply(1, to='')", "reply_to"), ("e.effect('http.request', {1: 2})", "is not text"),
            ("[e.timer('t%d' % i, after=0) for i in range(1025)]", "more than 1024"),
        )
        world = self.start_evaluator()
        for code, words in cases:
            message = world.message(code)["fail"]["message"]
            self.assertIn(words, message, code)
            self.assertTrue(message.endswith("(<string>, line 1)"), message)

    # ---- the state ----

    def test_the_answer_has_what_changed_and_nothing_else(self):
        world = self.start("""
            @handler
            def h(e):
                s = e.state
                s["new"] = 1
                s["same"] = s["same"]
                s["list"].append(4)
                s.setdefault("dict", {})["k"] = 1
                s["read"]["a"]
                del s["gone"]
                s["back"] = 1
                del s["back"]
                s["float"] = 1.0
                s.pop("absent", None)
                return [sorted(s), len(s), "gone" in s, 7 in s, s.get("gone"), s.scan("li")]
            """, state={"same": {"a": [1]}, "list": [1], "read": {"a": 1}, "gone": 1, "float": 1})
        answer = world.message()
        self.assertEqual(answer["put"], {"new": 1, "list": [1, 4], "dict": {"k": 1}, "float": 1.0})
        self.assertIs(type(answer["put"]["float"]), float)
        self.assertEqual(answer["del"], ["back", "gone"])
        self.assertEqual(answer["reply"], [["dict", "float", "list", "new", "read", "same"], 6, False, False, None,
                                           [["list", [1, 4]]]])

    def test_a_state_can_be_emptied_and_compared(self):
        world = self.start("@handler\ndef h(e):\n    e.state.clear()\n    e.state['n'] = 1\n    return e.state == {'n': 1}\n",
                           state={"a": 1, "n": 1, "b": 2})
        self.assertEqual(world.message(), {"del": ["a", "b"], "reply": True})

    def test_bytes_come_and_go_as_bytes(self):
        world = self.start("""
            @handler
            def h(e):
                assert type(e.body) is bytes and type(e.state["c"]) is Cbor, (e.body, e.state["c"])
                e.state["k"] = bytearray(e.body) + b"!"
                e.state["c2"] = e.state["c"]
                e.state["v"] = memoryview(b"m")
                return [e.body]
            """, state={"c": {"b64": "9g==", "encoding": "cbor"}})
        self.assertEqual(world.message({"b64": "aGk="}), {
            "put": {"k": {"b64": "aGkh"}, "c2": {"b64": "9g==", "encoding": "cbor"}, "v": {"b64": "bQ=="}},
            "reply": [{"b64": "aGk="}]})

    def test_rows_that_cannot_be_are_refused_at_their_line(self):
        cases = (("e.state.update({7: 1})", "use state['7']"), ("e.state.update({'': 1})", "is empty"),
                 ("e.state.update({'a\\0': 1})", "has a NUL"),
                 ("e.state.update({'k' * 901: 1})", "901 bytes"), ("e.state.update({'$x': 1})", "begin with $"),
                 ("e.state.update(k={1})", "state['k']: set"), ("e.state.update(k='x' * 70000)", "more than 65536"),
                 ("e.state.update(k=bytes(70000))", "70000 bytes"),
                 ("e.state['nope']", "KeyError: 'nope'"), ("e.state.pop('nope')", "KeyError: 'nope'"),
                 ("e.state.scan(7)", "must be text"), ("e.state['l'].append(e)", "state['l'][0]: Event"),
                 ("e.state.update({'\\ud800': 1})", "not Unicode"), ("e.state[7]", "use state['7']"))
        world = self.start_evaluator(state={"l": []})
        for code, words in cases:
            self.assertIn(words, world.message(code)["fail"]["message"], code)
        self.assertEqual(world.state, {"l": []})

    def test_a_query_reads_and_replies_and_nothing_else(self):
        world = self.start("""
            @handler("total", type="query")
            def total(e): return e.state["n"]
            @handler("nothing", type="query")
            def nothing(e): pass
            @handler("put", type="query")
            def put(e): e.state["n"] = 2
            @handler("change", type="query")
            def change(e): e.state["l"].append(1)
            @handler("ask", type="query")
            def ask(e): e.timer("t", after=1)
            @handler("done", type="query")
            def done(e): e.done()
            """, state={"n": 1, "l": []})
        self.assertEqual(world.event("query", name="total", reply_to="q"), {"reply": 1})
        self.assertEqual(world.event("query", name="nothing", reply_to="q"), {"reply": None})
        for name in ("put", "change", "ask", "done"):
            self.assertIn("a query only reads", world.event("query", name=name, reply_to="q")["fail"]["message"], name)

    def test_a_module_that_asks_for_rows_reads_each_once(self):
        world = self.start("""
            @handler
            def h(e):
                s = e.state
                a = [s["a"], s["a"], s.get("x"), s.get("x")]
                s.load("b", "c", "a")
                b = [s["b"], s["c"]]
                s["p/3"] = 3
                del s["p/1"]
                return [a, b, s.scan("p/"), s.scan("p/2"), "p/9" in s]
            """, state={"a": 1, "b": 2, "c": 3, "p/1": 1, "p/2": 2}, ask=True)
        answer = world.message()
        self.assertEqual(answer["reply"], [[1, 1, None, None], [2, 3], [["p/2", 2], ["p/3", 3]], [["p/2", 2]], False])
        self.assertEqual((answer["put"], answer["del"]), ({"p/3": 3}, ["p/1"]))
        self.assertEqual(world.asked, [{"get": ["a"]}, {"get": ["x"]}, {"get": ["b", "c"]}, {"get": ["p/1"]},
                                       {"scan": "p/"}])

    def test_thousands_of_rows_are_asked_for_in_several_lines(self):
        world = self.start("@handler\ndef h(e):\n    e.state.load(*[str(i) for i in range(2500)])\n    return e.state['2499']\n",
                           state={str(i): i for i in range(2500)}, ask=True)
        self.assertEqual(world.message()["reply"], 2499)
        self.assertEqual([len(one["get"]) for one in world.asked], [1000, 1000, 500])

    def test_what_was_put_is_read_without_asking(self):
        world = self.start("@handler\ndef h(e):\n    e.state['k'] = [1]\n    e.state['k'].append(2)\n    return e.state['k']\n",
                           ask=True)
        self.assertEqual(world.message(), {"put": {"k": [1, 2]}, "reply": [1, 2]})
        self.assertEqual(world.asked, [])

    # ---- time, chance, threads ----

    def test_time_and_chance_are_those_of_the_event(self):
        text = "@handler\ndef h(e): return [e.now, e.random(), e.rng.randint(1, 6), e.attempt, e.id]\n"
        first = self.start(text).message()["reply"]
        self.assertEqual(first, self.start(text).message()["reply"])
        self.assertEqual(first[0], 1_700_000_000_000)
        self.assertTrue(0 <= first[1] < 1)

    def test_a_process_that_a_handler_forks_answers_nothing(self):
        world = self.start("""
            @handler
            def h(e):
                if e.body == "fork":
                    e.state["child"] = os.fork() == 0
                return e.body
            """)
        self.assertEqual(world.message("fork")["put"], {"child": False})
        for body in range(20):
            self.assertEqual(world.message(body), {"reply": body})

    def test_a_thread_that_outlives_its_event_cannot_write_into_the_next(self):
        world = self.start("""
            said = []
            kept = []
            def late():
                time.sleep(0.05)
                for call in (lambda: kept[0].timer("t", after=1), lambda: kept[0].reply(1),
                             lambda: kept[0].state.update(k=1), lambda: kept[0].state.load("z")):
                    try: call(); said.append("written")
                    except RuntimeError as error: said.append("over" in str(error))
            thread = threading.Thread(target=late)
            @handler
            def h(e):
                if e.body == 0:
                    kept.append(e)
                    thread.start()
                    return
                thread.join()
                return said
            """, ask=True)
        self.assertEqual(world.message(0), {})
        self.assertEqual(world.message(1), {"reply": [True, True, True, True]})

    def test_threads_of_a_handler_can_read_its_state(self):
        world = self.start("""
            @handler
            def h(e):
                found = []
                ask = e.state._ask
                def slow(keys, prefix):  # the first one takes long: the others must not begin meanwhile
                    begun.append(1)
                    time.sleep(0.2 if len(begun) == 1 else 0)
                    return ask(keys, prefix)
                begun = []
                e.state._ask = slow
                def read(i): found.append(e.state[f"k{i}"])
                threads = [threading.Thread(target=read, args=(i,)) for i in range(8)]
                [t.start() for t in threads]
                time.sleep(0.1)
                at_once = len(begun)
                [t.join() for t in threads]
                return [sorted(found), at_once]
            """, state={f"k{i}": i for i in range(8)}, ask=True)
        self.assertEqual(world.message()["reply"], [list(range(8)), 1])

    # ---- which handler ----

    def test_events_find_their_handler_by_type_and_name(self):
        world = self.start("""
            @handler("add", "plus")
            def add(e): return "add"
            @handler
            def other(e): return "other"
            @handler("t1", type="timer")
            def t1(e): return "t1"
            @handler(type=("timer", "receipt"))
            def rest(e): return f"rest {e.type} {e.ref} {e.status} {e.code}"
            """)
        self.assertEqual(world.message(name="add")["reply"], "add")
        self.assertEqual(world.message(name="plus")["reply"], "add")
        self.assertEqual(world.message(name="minus")["reply"], "other")
        self.assertEqual(world.message()["reply"], "other")
        self.assertEqual(world.event("timer", ref="t1")["reply"], "t1")
        self.assertEqual(world.event("timer", ref="t2")["reply"], "rest timer t2  ")
        self.assertEqual(world.event("receipt", ref="t1", status="error", code="http_402")["reply"],
                         "rest receipt t1 error http_402")

    def test_events_without_a_handler_say_which_is_missing(self):
        world = self.start("@handler('add')\ndef add(e): return 1\n")
        fail = world.message(name="sub")["fail"]
        self.assertEqual(fail, {"message": "no handler for message 'sub': there are handlers for message 'add'; "
                                           "write @handler('sub')", "retry": False})
        fail = world.event("timer", ref="t")["fail"]
        self.assertIn("write @handler('t', type='timer')", fail["message"])
        self.assertIs(fail["retry"], True)
        self.assertIs(world.event("receipt", ref="t", status="ok")["fail"]["retry"], True)
        self.assertEqual(world.event("receipt", ref="t", status="error", code="cancelled"), {})
        self.assertIn("'t' of w-1 was cancelled", world.errors())
        for kind in ("query", "cancel"):
            self.assertIs(world.event(kind)["fail"]["retry"], False)
        self.assertEqual(world.event("create"), {})

    def test_unknown_versions_and_types_are_failures_and_unknown_fields_are_ignored(self):
        world = self.start("@handler\ndef h(e): return e.raw['colour']\n")
        line = {**world.line_of("message"), "colour": "red"}
        world.write(line)
        self.assertEqual(world.read()["reply"], "red")
        world.write({**line, "v": 2})
        self.assertIn("version 2", world.read()["fail"]["message"])
        world.write({**line, "type": "comet"})
        self.assertIn("comet", world.read()["fail"]["message"])

    def test_mistakes_in_decorators_end_the_program_with_what_is_wrong(self):
        cases = (("@handler\nasync def h(e): pass", "plain function"), ("@handler\ndef h(e): yield 1", "plain function"),
                 ("@handler\ndef h(): pass", "takes one argument"), ("@handler\ndef h(a, b): pass", "takes one argument"),
                 ("@handler('a', 'a')\ndef h(e): pass", "has a handler already"), ("@handler(type='timr')\ndef h(e): pass", "no such type"),
                 ("@handler\ndef a(e): pass\n@handler\ndef b(e): pass", "has a handler already: a"),
                 ("@handler('a', type='create')\ndef h(e): pass", "have no name"), ("@handler(7)\ndef h(e): pass", "must be text"),
                 ("@task\ndef a(t): pass\n@task('a')\ndef b(t): pass", "two tasks 'a'"), ("", "no @handler"),
                 ("@task\ndef a(): pass", "takes one argument"))
        for text, words in cases:
            world = self.start(text)
            self.assertEqual(world.read_line(), b"", text)
            self.assertNotEqual(world.process.wait(30), 0, text)
            self.assertIn(words, world.errors(), text)

    # ---- tasks ----

    def test_a_task_answers_what_it_returns_and_beats_meanwhile(self):
        world = self.start("""
            @task
            def charge(t):
                t.beat({"done": 1})
                threads = [threading.Thread(target=t.beat, args=("x" * 5000,)) for _ in range(20)]
                [x.start() for x in threads], [x.join() for x in threads]
                t.beat()
                return [t.name, t.key, t.body, t.world, t.attempt, t.timeout]
            @task("other")
            def two(t): return b"bytes"
            @handler
            def h(e): pass
            """)
        answer = world.event("task", name="charge", key="k1", body=[1], attempt=2, timeout_ms=1500)
        self.assertEqual(answer, {"ok": ["charge", "k1", [1], "w-1", 2, 1.5]})
        self.assertEqual(world.beats, [{"done": 1}] + ["x" * 5000] * 20 + [None])
        self.assertEqual(world.event("task", name="other"), {"ok": {"b64": "Ynl0ZXM="}})

    def test_threads_write_one_line_at_a_time(self):
        read, write = os.pipe()
        wire = program.Wire(os.open(os.devnull, os.O_RDONLY), write)
        real = os.write

        def halves(descriptor, data):  # what a full pipe makes of a write
            done = real(descriptor, bytes(data[:max(1, len(data) // 2)]))
            time.sleep(0.001)
            return done
        threads = [threading.Thread(target=wire.write, args=(letter * 100,)) for letter in "abcdefgh"]
        program.os.write = halves
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            program.os.write = real
        lines = os.read(read, 1 << 16).decode().splitlines()
        self.assertEqual(sorted(lines), [letter * 100 for letter in "abcdefgh"])
        wire.close()
        os.close(read)

    def test_a_task_that_fails_says_how(self):
        world = self.start("""
            @task
            def refuse(t): t.fail("card declined", retry=False, code="declined")
            @task
            def later(t): t.fail("bank is down")
            @task
            def raises(t): return t.body["x"]
            @task
            def leaves(t): sys.exit(1)
            @task
            def odd(t): return {1}
            """)
        self.assertEqual(world.event("task", name="refuse"),
                         {"error": {"code": "declined", "message": "card declined", "retry": False}})
        self.assertEqual(world.event("task", name="later"),
                         {"error": {"code": "task_failed", "message": "bank is down", "retry": True}})
        for name, words in (("raises", "TypeError"), ("leaves", "ended the program"), ("odd", "the result of odd: set"),
                            ("nosuch", "no task 'nosuch'")):
            error = world.event("task", name=name)["error"]
            self.assertIn(words, error["message"])
            self.assertIs(error["retry"], True)

    def test_a_task_that_is_over_beats_no_more(self):
        world = self.start("""
            kept = []
            @task
            def first(t): kept.append(t)
            @task
            def second(t):
                try: kept[0].beat(1)
                except RuntimeError as error: return str(error)
            """)
        world.event("task", name="first")
        self.assertIn("is over", world.event("task", name="second")["ok"])
        self.assertEqual(world.beats, [])

    # ---- the package ----

    def test_the_package_is_python_3_9_and_uses_the_standard_library_only(self):
        directory = os.path.join(harness.PACKAGE, "sapling")
        for name in sorted(os.listdir(directory)):
            if not name.endswith(".py"):
                continue
            with open(os.path.join(directory, name), encoding="utf-8") as file:
                tree = ast.parse(file.read(), name, feature_version=(3, 9))
            for node in ast.walk(tree):
                names = [a.name for a in node.names] if isinstance(node, ast.Import) else \
                    [node.module] if isinstance(node, ast.ImportFrom) and node.level == 0 else []
                for found in names:
                    self.assertIn(found.split(".")[0], sys.stdlib_module_names, name)

    def test_a_program_started_by_hand_reads_lines_too(self):
        world = self.start("@handler\ndef h(e): return e.body\n")
        world.write(b'{"id":"1","type":"message","body":5}\n')
        self.assertEqual(world.read(), {"id": "1", "reply": 5})


if __name__ == "__main__":
    unittest.main()
