"""`sapling simulate`: a seed is the same run each time, and the report says what happened. Run by run.py."""
import json
import re

import command_test

FAULTS = ("nested step", "crash", "reboot", "power cut", "stall", "partition", "busy", "conflict", "failure",
          "lost before", "lost after", "clock step", "flush")


class Simulate(command_test.Case):
    def report(self, *options):
        return json.loads(self.ok("simulate", *options, "--json"))

    def test_a_seed_is_the_same_run_each_time(self):
        once = self.ok("simulate", "--seed", "7", "--steps", "60")
        self.assertEqual(once, self.ok("simulate", "--seed", "7", "--steps", "60"))
        self.assertEqual(self.report("--seed", "7", "--steps", "60"), self.report("--seeds", "7..7", "--steps", "60"))
        traces = {self.report("--seed", str(seed), "--steps", "60")["trace"] for seed in range(1, 9)}
        self.assertEqual(len(traces), 8)
        self.assertNotEqual(self.report("--seed", "7", "--steps", "60")["trace"],
                            self.report("--seed", "7", "--steps", "61")["trace"])

    def test_the_trace_of_a_run_is_printed_and_changes_nothing(self):
        plain = self.ok("simulate", "--seed", "7", "--steps", "60").decode().splitlines()
        traced = self.ok("simulate", "--seed", "7", "--steps", "60", "--trace").decode().splitlines()
        self.assertEqual(traced[-len(plain):], plain)
        self.assertGreater(len(traced), len(plain) + 100)

    def test_every_class_of_fault_strikes_in_a_hundred_seeds(self):
        report = self.report("--seeds", "1..100")
        self.assertEqual((report["from"], report["seeds"], report["violated"]), (1, 100, False))
        self.assertEqual(set(report["faults"]), set(FAULTS))
        for name, count in report["faults"].items():
            self.assertGreater(count, 0, name)
        for name in ("checks", "commits", "commits_in_txn", "commits_lost", "simulated_s", "sent", "entries", "fenced",
                     "restored", "dead_letters"):
            self.assertGreater(report[name], 0, name)

    def test_text_and_json_say_the_same(self):
        report = self.report("--seeds", "3..4", "--steps", "60")
        text = self.ok("simulate", "--seeds", "3..4", "--steps", "60").decode()
        rows = re.findall(r"^(\w+) +([0-9a-f]+)  (.*)$", text, re.M)
        self.assertEqual(len(rows), len(text.splitlines()))
        for name, value, what in rows:
            said = report["faults"][what] if name == "fault" else report[name]
            self.assertEqual(str(said), value, (name, what))

    def test_options_that_make_no_sense_are_refused(self):
        self.fails(2, "exclude each other", "simulate", "--seed", "1", "--seeds", "1..2")
        self.fails(2, "FIRST..LAST", "simulate", "--seeds", "2..1")
        self.fails(2, "FIRST..LAST", "simulate", "--seeds", "1..")
        self.fails(2, "more than", "simulate", "--seeds", "0..100000000")
        self.fails(2, "one seed", "simulate", "--trace", "--seeds", "1..2")
        self.fails(2, "one seed", "simulate", "--trace", "--json")
        self.fails(2, "steps", "simulate", "--steps", "0")
        self.fails(2, "seed", "simulate", "--seed", "-1")
