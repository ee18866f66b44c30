"""Bugs that are planted in a copy of the package, one at a time: a test must fail with each."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import harness

RUN = os.path.join(harness.ROOT, "tests", "python", "run.py")

# File, its text, the text with the bug, and the test that must fail.
BUGS = (
    ("program.py", "        os.dup2(2, 1)\n", "", "what_is_printed_can_be_read"),
    ("program.py", "        os.dup2(nothing, 0)\n", "", "cannot_read_the_lines"),
    ("program.py", "                raise event.failed\n", "                pass\n", "fail_holds_also"),
    ("program.py", "            event.close()\n", "            pass\n", "outlives_its_event"),
    ("program.py", "        with self._lock:\n            rest", "        if True:\n            rest", "one_line_at_a_time"),
    ("program.py", "message, retry, code = _last_line_of(error), True", "message, retry, code = _last_line_of(error), False",
     "an_exception_is_a_failure"),
    ("program.py", "        except (NodeGone, Broken, KeyboardInterrupt):\n            raise\n", "", "an_answer_to_something_else"),
    ("program.py", "retry=event.type in (\"receipt\", \"timer\")", "retry=False", "without_a_handler"),
    ("state.py", "values.canonical(self._rows[key]) != values.canonical(wire):\n                    put[key] = wire",
     "False:\n                    put[key] = wire", "what_changed_and_nothing_else"),
    ("state.py", "sorted(self._deleted - set(put))", "sorted(self._deleted)[1:]", "what_changed_and_nothing_else"),
    ("state.py", "        with self._asking:\n            wanted", "        if True:\n            wanted", "threads_of_a_handler"),
    ("state.py", "self._writable = writable", "self._writable = True", "a_query_reads_and_replies"),
    ("state.py", "                self._known.update(part)\n", "", "reads_each_once"),
    ("values.py", "not math.isfinite(value)", "False", "json_cannot_say"),
    ("values.py", "not -MAX_INT - 1 <= value <= MAX_INT", "False", "json_cannot_say"),
    ("values.py", "any(value is other for other in above)", "False", "json_cannot_say"),
    ("event.py", "return self.rng.random()", "return random.random()", "time_and_chance"),
    ("client.py", "headers[\"Idempotency-Key\"] = key or uuid.uuid4().hex\n", "pass\n", "same_key"),
    ("client.py", "        key = key or uuid.uuid4().hex\n        path", "        path", "continued_with_the_same_key"),
    ("client.py", "            query.update(step=page[\"step\"], after", "            query.update(after", "page_by_page"),
    ("client.py", "_RETRIED = (429, 503)", "_RETRIED = ()", "busy_and_stopping"),
    ("client.py", "self._pid, self._idle = os.getpid(), []", "self._pid = os.getpid()", "a_forked_one"),
    ("find.py", "    alive = [node for node in known.values() if _is_alive(node)]", "    alive = list(known.values())",
     "the_only_node"),
)


class PlantedTest(unittest.TestCase):
    def outcome(self, package, test):
        environment = {**os.environ, "SAPLING_PYTHON": package, "SAPLING_ANSWER_SECONDS": "5"}
        done = subprocess.run([sys.executable, "-S", RUN, test], env=environment, capture_output=True, text=True,
                              timeout=120, check=False)
        return done.returncode, done.stdout

    def test_each_planted_bug_is_noticed(self):
        survived = []
        for name, text, bug, test in BUGS:
            with tempfile.TemporaryDirectory(prefix="sapling-planted-") as scratch:
                shutil.copytree(os.path.join(harness.PACKAGE, "sapling"), os.path.join(scratch, "sapling"))
                path = os.path.join(scratch, "sapling", name)
                with open(path, encoding="utf-8") as file:
                    source = file.read()
                self.assertEqual(source.count(text), 1, f"{name}: {text}")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(source.replace(text, bug))
                status, said = self.outcome(scratch, test)
                if status == 0 or " 0 failed" in said:
                    survived.append(f"{name}: {text.strip()} -> {bug.strip()}: {said}")
        self.assertEqual(survived, [])

    def test_without_a_bug_these_tests_pass(self):
        status, said = self.outcome(harness.PACKAGE, "what_changed_and_nothing_else")
        self.assertEqual((status, said), (0, "python-test: 1 passed, 0 failed\n"))


if __name__ == "__main__":
    unittest.main()
