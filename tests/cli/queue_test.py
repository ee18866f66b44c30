"""`sapling queue` as a user runs it. Run by run.py."""
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import time

import command_test
from command_test import Case

NORMAL = 1 << 63


# As often as it takes for a dead letter, without waits between.
FOUR_AT_ONCE = ("--max-attempts", "4", "--retry-delay", "0s")


class QueueCase(Case):
    def queue(self, verb, *args, **more):
        return self.ok("queue", *verb.split(), *args, **more).decode()

    def objects(self, verb, *args, **more):
        return [json.loads(line) for line in self.queue(verb, *args, "--json", **more).splitlines()]

    def stat(self, name="a.db", queue="default"):
        return self.objects("stat", name, "--queue", queue)[0]

    def payloads(self, name="a.db", **more):
        return [m["payload"] for m in self.objects("peek", name, "--limit", "1000000", **more)]

    def end(self, process, status):
        out, error = process.communicate(timeout=60)
        self.assertEqual(process.returncode, status, (out, error))
        return out.decode(), error.decode()

    def dead(self, name, *messages, command="exit 3"):
        """Messages of which each has failed four times."""
        self.queue("push", name, *messages)
        self.run_("queue", "pop", name, "--count", str(4 * len(messages)), *FOUR_AT_ONCE, "--exec", command)
        self.assertEqual(self.stat(name)["dead_letters"], len(messages))


class Descriptors(QueueCase):
    def without(self, *args, closed):
        """The command with these standard descriptors closed; the others are as ever."""
        def close():
            for fd in closed:
                os.close(fd)
        return subprocess.run([command_test.COMMAND, *args], cwd=self.dir, env=self.env, timeout=60, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              preexec_fn=close)

    def test_closed_standard_descriptors_harm_no_queue(self):
        self.queue("push", "a.db", "one", "two")
        for closed in ((0,), (1,), (0, 1), (0, 1, 2)):
            result = self.without("queue", "pop", "a.db", closed=closed)
            if 1 not in closed:
                self.assertEqual((result.returncode, result.stdout), (0, b"one\n"))
                continue
            self.assertEqual(result.returncode, 1, closed)
            if 2 not in closed:
                self.assertRegex(result.stderr.decode(), "cannot write to standard output")
            self.assertEqual(self.payloads(), ["two"])
            self.db("verify", "a.db")
        self.assertEqual(self.without("queue", "push", "a.db", "three", closed=(0, 2)).stdout, b"3\n")
        self.assertEqual(self.without("queue", "push", "a.db", "-", closed=(0,)).returncode, 1)
        self.assertEqual(self.payloads(), ["two", "three"])


class OtherFiles(QueueCase):
    def test_nothing_is_left_beside_a_file_that_is_not_a_database(self):
        self.write("passwd", "root:x:0:0:root:/root:/bin/sh\n" * 1000)
        before = sorted(os.listdir(self.dir))
        for args in (("db", "verify"), ("db", "stat"), ("db", "scan"), ("queue", "stat"), ("queue", "pop")):
            self.fails(6, "not a Sapling database", *args, "passwd")
        self.fails(6, "not a Sapling database", "db", "put", "passwd", "k", "v")
        self.fails(6, "not a Sapling database", "queue", "push", "passwd", "m")
        self.assertEqual(sorted(os.listdir(self.dir)), before)

    def test_a_command_that_fails_before_anything_is_in_leaves_no_new_file(self):
        before = os.listdir(self.dir)
        long_key = "k" * 3000
        for args in (("load", "a.db"), ("load", "a.db", "--table", "9"), ("load", "a.db", "--format", "dump")):
            self.fails(1, ":1: ", "db", *args, stdin="no row at all\n")
        self.fails(1, "too long", "db", "load", "a.db", stdin=long_key + "\tv\n")
        self.fails(1, "too long", "db", "put", "a.db", long_key, "v")
        self.fails(1, "cannot read standard input", "queue", "push", "a.db", "-", preexec_fn=lambda: os.close(0))
        self.assertEqual(os.listdir(self.dir), before)
        self.write("not.bak", "no backup\n")
        self.fails(6, "not.bak", "db", "restore", "not.bak", "a.db")
        self.assertEqual(sorted(os.listdir(self.dir)), sorted(before + ["not.bak"]))

    def test_a_load_that_fails_later_keeps_what_is_in_and_a_file_that_was_there(self):
        self.fails(1, ":2: ", "db", "load", "a.db", "--table", "9", stdin="k\tv\nno row\n")
        self.assertEqual(self.db("get", "a.db", "k", "--table", "9"), "v")
        self.db("load", "empty.db", stdin="")
        self.fails(1, ":1: ", "db", "load", "empty.db", stdin="no row\n")
        self.assertEqual(self.files(), ["a.db", "empty.db"])


class Users(QueueCase):
    def as_nobody(self, *args):
        def drop():
            os.setgid(65534)
            os.setuid(65534)
        result = subprocess.run([self.binary, *args], cwd=self.dir, env=self.env, check=False, timeout=60,
                                stdin=subprocess.DEVNULL, capture_output=True, text=True, preexec_fn=drop)
        return result.returncode, result.stdout, result.stderr

    def setUp(self):
        super().setUp()
        if os.getuid() != 0:
            self.skipTest("needs root to become another user")
        self.binary = self.path("copy-of-sapling")
        shutil.copy(command_test.COMMAND, self.binary)
        os.chmod(self.binary, 0o755)

    def give_away(self, *names):
        for name in names:
            os.chown(self.path(name), 65534, 65534)

    def expect_of_nobody(self, mode):
        names = [n for n in os.listdir(self.dir) if n.startswith("a.db")]
        for name in names:
            st = os.lstat(self.path(name))
            self.assertEqual(st.st_uid, 65534, name)
            if not name.endswith(".sock"):
                self.assertEqual(st.st_mode & 0o777, mode, name)
        return names

    def test_root_at_work_does_not_lock_the_owner_of_a_file_out(self):
        self.queue("push", "a.db", "one")
        os.chmod(self.path("a.db"), 0o640)
        self.give_away(".", "a.db")
        with subprocess.Popen([command_test.COMMAND, "queue", "push", "a.db", "-"], cwd=self.dir, env=self.env,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as root:
            root.stdin.write(b"two\n")
            root.stdin.flush()
            self.assertEqual(root.stdout.readline(), b"2\n")
            names = self.expect_of_nobody(0o640)
            self.assertIn("a.db.sock", names)
            self.assertTrue(any("-wal." in name for name in names), names)
            self.assertEqual(self.as_nobody("queue", "push", "a.db", "three"), (0, "3\n", ""))
            root.kill()
        self.expect_of_nobody(0o640)
        self.assertEqual(self.as_nobody("queue", "push", "a.db", "four"), (0, "4\n", ""))
        self.assertEqual(self.payloads(), ["one", "two", "three", "four"])

    def test_copies_that_stand_for_a_file_are_its_owners_and_backups_are_the_callers(self):
        self.db("put", "a.db", "k", "v")
        os.chmod(self.path("a.db"), 0o660)
        self.give_away(".", "a.db")
        self.db("compact", "a.db", "compact.db")
        self.db("recover", "a.db", "recover.db")
        self.db("backup", "a.db", "backup.db")
        self.db("restore", "backup.db", "restore.db")
        self.db("restore", "backup.db", "a.db", "--force", "--yes")
        for name, uid, mode in (("compact.db", 65534, 0o660), ("recover.db", 65534, 0o660), ("a.db", 65534, 0o660),
                                ("backup.db", 0, None), ("restore.db", 0, None)):
            st = os.stat(self.path(name))
            self.assertEqual(st.st_uid, uid, name)
            if mode is not None:
                self.assertEqual(st.st_mode & 0o777, mode, name)
                self.assertEqual(self.as_nobody("db", "put", name, "k", "w"), (0, "", ""), name)

    def test_a_directory_that_cannot_be_written_is_told_and_no_row_is_in(self):
        self.db("put", "a.db", "k", "v")
        self.write("a.db-lock", "")
        os.chmod(self.path("a.db"), 0o666)
        os.chmod(self.path("a.db-lock"), 0o666)
        before = sorted(os.listdir(self.dir))
        code, out, error = self.as_nobody("db", "put", "a.db", "k", "w")
        self.assertEqual((code, out), (1, ""))
        self.assertRegex(error, r"sapling: a\.db: cannot make its log .*a\.db-wal\..*Permission denied")
        self.assertEqual(self.as_nobody("db", "get", "a.db", "k"), (0, "v", ""))
        self.assertEqual(sorted(os.listdir(self.dir)), before)
        os.remove(self.path("a.db-lock"))
        code, out, error = self.as_nobody("db", "put", "a.db", "k", "w")
        self.assertEqual((code, out), (1, ""))
        self.assertRegex(error, r"sapling: a\.db: cannot open its lock file .*Permission denied")


# ---- push ---------------------------------------------------------------------------------------

class Push(QueueCase):
    def test_arguments_are_messages_as_they_are_and_get_numbers_in_order(self):
        texts = ["one", r"a \n that is no line end", "", "\xfc", '{"x": "\\t"}']
        self.assertEqual(self.queue("push", "a.db", *texts), "1\n2\n3\n4\n5\n")
        self.assertEqual(self.payloads(), texts)
        self.assertEqual(self.objects("push", "a.db", "x", "y"),
                         [{"queue": "default", "seq": 6}, {"queue": "default", "seq": 7}])
        self.assertEqual(self.queue("push", "a.db", "--", "--raw"), "8\n")

    def test_lines_are_messages_and_raw_is_one(self):
        self.assertEqual(self.queue("push", "a.db", "-", stdin="a\n\nb\r\nlast"), "1\n2\n3\n4\n")
        self.assertEqual(self.payloads(), ["a", "", "b\r", "last"])
        data = bytes(range(256)) * 300
        self.queue("push", "b.db", "--raw", stdin=data)
        self.assertEqual(self.ok("queue", "pop", "b.db", "--raw"), data)
        self.queue("push", "c.db", "-", stdin="".join(f"{i}\n" for i in range(25000)))
        self.assertEqual(self.payloads("c.db"), [str(i) for i in range(25000)])
        self.assertEqual(self.queue("push", "d.db", "-", stdin=""), "")

    def test_lines_are_in_the_queue_while_more_are_waited_for(self):
        process = self.start("queue", "push", "a.db", "-")
        for i in range(1, 4):
            process.stdin.write(b"line %d\npart" % i if i == 3 else b"line %d\n" % i)
            process.stdin.flush()
            self.assertEqual(process.stdout.readline(), b"%d\n" % i)
            self.assertEqual(self.stat()["ready"], i)
        self.queue("push", "a.db", "from elsewhere")
        process.stdin.write(b" four")
        process.stdin.close()
        self.assertEqual(process.wait(timeout=30), 0)
        self.assertEqual(self.payloads(), ["line 1", "line 2", "line 3", "from elsewhere", "part four"])

    def test_high_priority_comes_first(self):
        self.queue("push", "a.db", "low")
        self.queue("push", "a.db", "high", "--priority", "high")
        self.queue("push", "a.db", "lower", "--priority", "normal")
        self.assertEqual([(m["payload"], m["priority"], m["seq"]) for m in self.objects("peek", "a.db")],
                         [("high", "high", 2), ("low", "normal", 1), ("lower", "normal", 3)])
        self.assertIn("       2! ready", self.queue("peek", "a.db"))
        self.assertEqual(self.queue("pop", "a.db", "--count", "9"), "high\nlow\nlower\n")

    def test_a_delayed_message_comes_later(self):
        begun = time.monotonic()
        self.assertEqual(self.objects("push", "a.db", "later", "--delay", "700ms"),
                         [{"queue": "default", "timer": 1}])
        self.assertEqual((self.stat()["ready"], self.stat()["delayed"]), (0, 1))
        self.fails(3, "there is no message in the queue 'default'", "queue", "pop", "a.db")
        self.assertEqual(self.queue("pop", "a.db", "--wait", "20s"), "later\n")
        self.assertGreater(time.monotonic() - begun, 0.65)

    def test_what_was_handled_is_not_handled_again_by_its_id(self):
        for _ in range(2):
            self.queue("push", "a.db", "pay", "--id", "order-7", "--dedupe")
        self.assertEqual(self.queue("pop", "a.db"), "pay\n")
        self.fails(3, "no message", "queue", "pop", "a.db")
        self.queue("push", "a.db", "pay", "--id", "order-7", "--dedupe")
        self.fails(3, "no message", "queue", "pop", "a.db")
        self.queue("push", "a.db", "pay", "--id", "order-7")
        self.assertEqual(self.queue("pop", "a.db"), "pay\n")

    def test_an_id_is_handled_once_by_each_queue(self):
        for name, text in (("q1", "one"), ("q2", "two")):
            self.queue("push", "a.db", "-Q", name, "--id", "job-1", "--dedupe", text)
            self.assertEqual(self.queue("pop", "a.db", "-Q", name), text + "\n")
            self.queue("push", "a.db", "-Q", name, "--id", "job-1", "--dedupe", text)
            self.fails(3, "no message", "queue", "pop", "a.db", "-Q", name)

    def test_wrong_arguments(self):
        for pattern, *args in (
                ("push what", "push", "a.db"),
                ("--raw is all of standard input", "push", "a.db", "--raw", "x"),
                ("--id is for one message", "push", "a.db", "x", "y", "--id", "i"),
                ("--id is for one message", "push", "a.db", "-", "--id", "i"),
                ("--id is empty", "push", "a.db", "x", "--id", ""),
                ("--dedupe goes by the id", "push", "a.db", "x", "--dedupe"),
                ("--delay 5x is not a time such as", "push", "a.db", "x", "--delay", "5x"),
                ("--delay -1s is not a time", "push", "a.db", "x", "--delay=-1s"),
                ("--delay 99999999999999999999d is not", "push", "a.db", "x", "--delay", "99999999999999999999d"),
                ("--priority low: it is one of normal.high", "push", "a.db", "x", "--priority", "low"),
                ("--queue '': a name has 1 to 255 bytes", "push", "a.db", "x", "--queue", ""),
                ("--queue 'q+': a name", "push", "a.db", "x", "--queue", "q" * 256),
                ("--count 0 is not a number from 1", "pop", "a.db", "--count", "0"),
                ("--lease, --retry-delay and --max-attempts go with --exec", "pop", "a.db", "--lease", "5s"),
                ("--lease 99ms is not a time .*from 100 ms", "pop", "a.db", "--lease", "99ms", "--exec", "true"),
                ("--raw goes without --exec", "pop", "a.db", "--raw", "--exec", "true"),
                ("which. Their numbers", "dlq", "replay", "a.db"),
                ("--all goes without numbers", "dlq", "drop", "a.db", "--all", "3"),
                ("'x' is not the number", "dlq", "show", "a.db", "x"),
                ("'9223372036854775809' is not the number", "dlq", "drop", "a.db", str(NORMAL + 1))):
            self.assertIn("see: sapling queue ", self.fails(2, pattern, "queue", *args))
        self.assertEqual(self.files(), [])

    def test_what_is_not_there_is_exit_3(self):
        for verb in (["pop"], ["pop", "--wait", "1s"], ["peek"], ["stat"], ["dlq", "list"], ["dlq", "replay", "--all"]):
            self.fails(3, r"there is no file none.db\nmake one: sapling queue push none.db",
                       "queue", *verb, "none.db")
        self.queue("push", "a.db", "x", "--queue", "one")
        self.queue("push", "a.db", "x", "--queue", "two")
        for verb in (["pop"], ["peek"], ["stat", "--queue", "default"], ["dlq", "list", "--queue", "default"]):
            self.fails(3, r"there is no queue 'default' in a.db\nits queues: one, two", "queue", *verb, "a.db")
        self.db("put", "b.db", "k", "v")
        self.fails(3, r"there is no queue 'default' in b.db\nit has no queues", "queue", "peek", "b.db")
        self.assertEqual(self.queue("stat", "b.db"), "")
        self.assertEqual(self.queue("dlq list", "b.db"), "")
        self.assertEqual(self.files(), ["a.db", "b.db"])

    def test_files_that_are_no_queues_are_told(self):
        self.write("text", "x" * 20000)
        self.fails(6, "text", "queue", "push", "text", "x")
        self.db("put", "a.db", "k", "v", "-t", "1", "--dupsort")
        self.fails(1, "tables 0 to 7 of the file are not those of queues", "queue", "push", "a.db", "x")
        self.db("put", "b.db", "runner.schema.version", "RSV0")
        self.fails(4, "another version: bring them to this one with `sapling db migrate FILE`", "queue", "push",
                   "b.db", "x")
        error = json.loads(self.run_("queue", "pop", "none.db", "--json").stderr)["error"]
        self.assertEqual((error["code"], error["exit"]), ("not_found", 3))


    def test_a_row_that_no_queue_has_written_is_told(self):
        self.db("put", "a.db", "queue.name.foo", "bar")
        self.assertEqual(self.queue("stat", "a.db"), "")
        pattern = "a.db: the row queue.name.foo of table 0 is not a queue's: delete it, or choose another name"
        self.fails(4, pattern, "queue", "push", "a.db", "x", "--queue", "foo")
        self.queue("push", "a.db", "x")
        for verb in ("stat", "peek", "dlq list"):
            self.fails(3, "there is no queue 'foo' in a.db\nits queues: default", "queue", *verb.split(), "a.db", "--queue", "foo")
        self.assertEqual([o["queue"] for o in self.objects("stat", "a.db")], ["default"])
        self.start("db", "load", "a.db", "--table", "9")
        self.await_("the socket", lambda: os.path.exists(self.path("a.db.sock")))
        self.fails(4, pattern, "queue", "push", "a.db", "x", "--queue", "foo")
        self.db("del", "a.db", "queue.name.foo", "--force")
        self.assertEqual(self.queue("push", "a.db", "x", "--queue", "foo"), "2\n")


# ---- Files that cannot be opened ----------------------------------------------------------------

VERBS = (["push", "x"], ["pop"], ["pop", "--follow"], ["pop", "--exec", "true"], ["peek"], ["stat"], ["dlq", "list"],
         ["dlq", "show", "1"], ["dlq", "replay", "1"], ["dlq", "drop", "1", "--yes"])


def with_file(verb, name):
    words = 2 if verb[0] == "dlq" else 1
    return ["queue", *verb[:words], name, *verb[words:]]


class NotOpened(QueueCase):
    def test_every_verb_tells_why_a_file_cannot_be_opened(self):
        self.write("text", "hi\n")
        os.mkdir(self.path("dir"))
        for verb in VERBS:
            for name, status, pattern in (("text", 6, "text: not a Sapling database"),
                                          ("/dev/null", 1, "/dev/null: is something else, not a file"),
                                          ("dir", 1, "dir is a directory\nname the database file in it"),
                                          ("text/a.db", 1, "text/a.db: .*Not a directory"),
                                          ("none/a.db", 3, "there is no directory none\nmake it first"),
                                          ("none.db", 3, "there is no file none.db\nmake one: sapling queue push")):
                if (verb[0], name) != ("push", "none.db"):
                    self.fails(status, rf"\Asapling: {pattern}[^\n]*\n\Z", *with_file(verb, name))
        self.assertEqual(self.files(), ["dir", "text"])

    def test_every_verb_tells_that_another_process_has_the_file(self):
        self.queue("push", "a.db", "x")
        owner = self.start("db", "load", "a.db", "--table", "9")
        self.await_("the socket", lambda: os.path.exists(self.path("a.db.sock")))
        os.unlink(self.path("a.db.sock"))
        for process in [self.start(*with_file(verb, "a.db")) for verb in VERBS]:
            self.assertRegex(self.end(process, 4)[1], rf"\Asapling: a.db: [^\n]*{owner.pid}[^\n]*\ntry again [^\n]*\n\Z")

    def test_a_stopped_owner_is_named_while_it_is_waited_for(self):
        self.queue("push", "a.db", "x")
        owner = self.start("queue", "pop", "a.db", "--follow")
        self.assertEqual(owner.stdout.readline(), b"x\n")
        self.stop(owner)
        waiting = [self.start(*with_file(verb, "a.db")) for verb in VERBS[:1] + VERBS[5:6]]
        waiting += [self.start("db", "put", "a.db", "k", "v", "--table", "8"), self.start("db", "stat", "a.db")]
        note = f"waiting for process {owner.pid}, which has a.db open and does not answer\n"
        for process in waiting:
            self.assertEqual(process.stderr.readline().decode(), note)
        owner.send_signal(signal.SIGCONT)
        for process in waiting:
            self.assertEqual(self.end(process, 0)[1], "")

    def test_a_file_that_is_no_database_when_the_command_has_ended_is_told(self):
        self.queue("push", "a.db", "x")
        error = self.fails(6, "a.db: not a Sapling database", "queue", "pop", "a.db", "--exec", "echo hi > a.db")
        self.assertRegex(error, r"\nmessage 1 comes again when its lease is over\n\Z")


# ---- pop ----------------------------------------------------------------------------------------

class Pop(QueueCase):
    def test_messages_are_printed_and_gone(self):
        self.queue("push", "a.db", "a", "b", "c", "d")
        self.assertEqual(self.queue("pop", "a.db"), "a\n")
        self.assertEqual(self.queue("pop", "a.db", "--raw"), "b")
        out = self.objects("pop", "a.db")
        self.assertEqual(len(out), 1)
        self.assertEqual({k: out[0][k] for k in ("queue", "seq", "priority", "attempts", "payload")},
                         {"queue": "default", "seq": 3, "priority": "normal", "attempts": 1, "payload": "c"})
        self.assertLess(abs(out[0]["sent_ms"] / 1000 - time.time()), 60)
        self.assertEqual(self.queue("pop", "a.db", "--count", "10"), "d\n")
        self.fails(3, r"there is no message in the queue 'default'\nwait for one", "queue", "pop", "a.db")
        self.queue("push", "a.db", "-", stdin="".join(f"{i}\n" for i in range(1050)))
        self.assertEqual(self.queue("pop", "a.db", "--count", "1000"), "".join(f"{i}\n" for i in range(1000)))
        self.assertEqual(self.stat()["ready"], 50)

    def test_waiting_ends_in_time_and_with_a_message(self):
        self.queue("push", "a.db", "x")
        self.queue("pop", "a.db")
        begun = time.monotonic()
        self.fails(124, "no message came to the queue 'default' in time", "queue", "pop", "a.db", "--wait", "600ms")
        self.assertTrue(0.6 <= time.monotonic() - begun < 20)
        process = self.start("queue", "pop", "a.db", "--wait", "60s", "--queue", "new")
        self.await_("the socket", lambda: os.path.exists(self.path("a.db.sock")))
        self.queue("push", "a.db", "here", "--queue", "new")
        self.assertEqual(self.end(process, 0)[0], "here\n")
        # A second of silence ends it; what came before counts.
        self.queue("push", "a.db", "1", "2")
        self.assertEqual(self.queue("pop", "a.db", "--follow", "--wait", "1s"), "1\n2\n")

    def test_follow_goes_on_until_it_is_interrupted(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            self.queue("push", "a.db", "first")
            process = self.start("queue", "pop", "a.db", "--follow")
            self.assertEqual(process.stdout.readline(), b"first\n")
            for i in range(5):
                self.queue("push", "a.db", f"m{i}")
                self.assertEqual(process.stdout.readline(), b"m%d\n" % i)
            process.send_signal(number)
            self.assertEqual(self.end(process, 130), ("", "sapling: interrupted\n"))
            self.assertFalse(os.path.exists(self.path("a.db.sock")))

    def test_a_push_of_lines_that_is_interrupted_leaves_one_file_with_what_it_has_said(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            name = f"{number.name}.db"
            process = self.start("queue", "push", name, "-")
            process.stdin.write(b"one\ntwo\nnot a li")
            process.stdin.flush()
            self.assertEqual([process.stdout.readline() for _ in range(2)], [b"1\n", b"2\n"])
            process.send_signal(number)
            self.assertEqual(process.wait(30), 130)
            self.assertEqual(process.stdout.read(), b"")
            self.assertEqual(process.stderr.read(), b"sapling: interrupted\n"
                             b"the messages whose numbers were printed are in the queue\n")
            self.assertEqual([file for file in os.listdir(self.dir) if file.startswith(number.name)], [name])
            self.assertEqual(self.queue("pop", name, "--count", "9"), "one\ntwo\n")

    def test_what_cannot_be_printed_is_put_back_untried(self):
        self.queue("push", "a.db", "-", stdin="".join(f"{i}\n" for i in range(300)))
        result = subprocess.run([command_test.COMMAND, "queue", "pop", "a.db", "--count", "50"], cwd=self.dir,
                                stdout=open("/dev/full", "wb"), stderr=subprocess.PIPE, timeout=60, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"cannot write to standard output", result.stderr)
        self.assertEqual([(m["payload"], m["attempts"], m["state"]) for m in self.objects("peek", "a.db", "-n", "99")],
                         [(str(i), 0, "ready") for i in range(99)])
        reader, writer = os.pipe()
        os.close(reader)
        result = subprocess.run([command_test.COMMAND, "queue", "pop", "a.db"], cwd=self.dir, stdout=writer,
                                stderr=subprocess.PIPE, timeout=60, check=False)
        os.close(writer)
        self.assertEqual((result.returncode, result.stderr), (-signal.SIGPIPE, b""))
        self.assertEqual(self.stat()["ready"], 300)

    def test_output_that_cannot_be_written_is_told_once(self):
        self.queue("push", "a.db", "x", "y")
        for stdin, *args in (("", "push", "a.db", "x"), ("", "push", "a.db", "x", "--json"), ("1\n2\n", "push", "a.db", "-"),
                             ("", "pop", "a.db"), ("", "pop", "a.db", "--json", "--exec", "true"), ("", "stat", "a.db"),
                             ("", "peek", "a.db"), ("", "stat", "a.db", "--json")):
            with self.subTest(args=args), open("/dev/full", "wb") as full:
                result = subprocess.run([command_test.COMMAND, "queue", *args], cwd=self.dir, input=stdin.encode(),
                                        stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
                self.assertEqual(result.returncode, 1)
                told = result.stderr.decode()
                if "--json" in args:
                    told = f"sapling: {json.loads(told)['error']['message']}\n"
                stored = args[0] == "push" and "--json" not in args
                self.assertEqual(told, "sapling: cannot write to standard output: No space left on device\n" +
                                 "the messages are in the queue: only their numbers were not printed\n" * stored)

    def test_several_terminals_share_the_messages(self):
        self.queue("push", "a.db", "begin")
        count = 60
        takers = [self.start("queue", "pop", "a.db", "--follow", "--wait", "4s") for _ in range(3)]
        for part in range(4):
            self.queue("push", "a.db", *(f"{part}/{i}" for i in range(count // 4)))
        got = []
        for taker in takers:
            out, error = taker.communicate(timeout=60)
            self.assertIn(taker.returncode, (0, 124), error)
            got += out.decode().split()
        self.assertEqual(sorted(got), sorted(["begin"] + [f"{p}/{i}" for p in range(4) for i in range(count // 4)]))
        self.assertEqual(self.stat()["ready"] + self.stat()["leased"], 0)


# ---- pop --exec ---------------------------------------------------------------------------------

class Exec(QueueCase):
    def await_file(self, name):
        self.await_(name, lambda: os.path.exists(self.path(name)))

    def test_the_command_gets_payload_and_environment(self):
        data = bytes(range(256)) * 1000
        self.queue("push", "a.db", "--raw", "--id", "order-7", "--trace", "t\xfc", "--queue", "q", stdin=data)
        out = self.queue("pop", "a.db", "--queue", "q", "--exec",
                         'cat > got; echo "$SAPLING_QUEUE $SAPLING_SEQ $SAPLING_MESSAGE_ID $SAPLING_ATTEMPT '
                         '$SAPLING_TRACE_ID"')
        self.assertEqual((out, self.read("got")), ("q 1 order-7 1 t\xfc\n", data))
        self.assertEqual(self.stat(queue="q")["ready"], 0)
        self.queue("push", "a.db", "")
        env = dict(self.env, SAPLING_TRACE_ID="of the caller")
        out = self.queue("pop", "a.db", "--exec", 'wc -c; echo "${SAPLING_TRACE_ID-none}"; echo $SAPLING_MESSAGE_ID',
                         env=env)
        self.assertRegex(out, r"\A0\nnone\n[0-9a-f]{32}\n\Z")

    def test_a_command_that_fails_leaves_its_message_to_the_next_and_at_last_to_the_dead_letters(self):
        self.queue("push", "a.db", "bad", "good")
        self.fails(1, r"the command failed with exit code 7: message 1 is put back after attempt 1",
                   "queue", "pop", "a.db", *FOUR_AT_ONCE, "--exec", "exit 7")
        self.assertEqual([(m["seq"], m["payload"], m["attempts"]) for m in self.objects("peek", "a.db")],
                         [(2, "good", 0), (3, "bad", 1)])
        self.fails(1, r"was killed by signal 9: message 3 is put back after attempt 2", "queue", "pop", "a.db",
                   "--count", "2", *FOUR_AT_ONCE, "--exec", 'grep -q good || kill -9 $$')
        self.fails(1, r"(?s)put back after attempt 3.*message 5 is given up after attempt 4\nlook at it: sapling queue dlq list a.db",
                   "queue", "pop", "a.db", "--count", "9", *FOUR_AT_ONCE, "--exec", "exit 1")
        stat = self.stat()
        self.assertEqual((stat["ready"], stat["leased"], stat["dead_letters"]), (0, 0, 1))
        letter = self.objects("dlq list", "a.db")[0]
        self.assertEqual((letter["attempts"], letter["rc"], letter["error"], letter["payload"]),
                         (4, 1001, "exit code 1", "bad"))

    def test_a_message_whose_command_failed_waits_a_while_and_is_given_up_after_max_attempts(self):
        self.queue("push", "a.db", "x")
        self.fails(1, "put back after attempt 1", "queue", "pop", "a.db", "--retry-delay", "4s", "--exec", "false")
        stat = self.stat()
        self.assertEqual((stat["ready"], stat["delayed"], stat["retrying"]), (0, 1, 1))
        m = self.objects("peek", "a.db")[0]
        self.assertEqual((m["payload"], m["attempts"], m["state"], m["priority"]), ("x", 1, "retry", "normal"))
        self.assertRegex(self.queue("peek", "a.db"), r"\n +1  retry +1 +\S+ s ")
        self.queue("push", "b.db", "x")
        self.fails(1, "put back after attempt 1", "queue", "pop", "b.db", "--exec", "false")
        m = self.objects("peek", "b.db")[0]
        self.assertTrue(0 <= m["due_ms"] - m["sent_ms"] < 60000, m)
        self.fails(1, "given up after attempt 2", "queue", "pop", "a.db", "--wait", "20s", "--max-attempts", "2",
                   "--exec", "false")
        self.assertEqual((self.stat()["delayed"], self.stat()["dead_letters"]), (0, 1))

    def test_retries_can_be_delayed(self):
        self.queue("push", "a.db", "x")
        self.fails(1, "put back", "queue", "pop", "a.db", "--exec", "false", "--retry-delay", "700ms")
        self.assertEqual(self.stat()["delayed"], 1)
        self.fails(3, "no message", "queue", "pop", "a.db", "--exec", "true")
        out = self.queue("pop", "a.db", "--wait", "20s", "--exec", "echo $SAPLING_ATTEMPT")
        self.assertEqual(out, "2\n")

    def test_others_use_the_file_while_the_command_runs(self):
        self.queue("push", "a.db", "x", "y")
        command = ("sapling queue stat a.db --json && sapling queue push a.db from-within && "
                   "sapling db get a.db runner.schema.version > /dev/null && sapling queue pop a.db")
        out = self.queue("pop", "a.db", "--exec", command).splitlines()
        self.assertEqual((json.loads(out[0])["ready"], json.loads(out[0])["leased"]), (1, 1))
        self.assertEqual(out[1:], ["3", "y"])
        self.assertEqual(self.payloads(), ["from-within"])
        # Not even a lock is held: one who does not serve can own it.
        self.assertEqual(self.queue("pop", "a.db", "--exec", "test -e a.db.sock && echo owned || echo free"), "free\n")

    def test_the_lease_is_renewed_while_the_command_runs(self):
        self.queue("push", "a.db", "long")
        process = self.start("queue", "pop", "a.db", "--lease", "800ms", "--exec", "echo > begun; sleep 4")
        self.await_file("begun")
        end = time.monotonic() + 3
        looks = 0
        while time.monotonic() < end:
            self.fails(3, "no message", "queue", "pop", "a.db")
            looks += 1
        self.assertGreaterEqual(looks, 3)
        self.end(process, 0)
        stat = self.stat()
        self.assertEqual((stat["ready"], stat["leased"], stat["dead_letters"]), (0, 0, 0))

    def test_the_message_of_a_killed_process_goes_to_the_next(self):
        self.queue("push", "a.db", "x")
        process = self.start("queue", "pop", "a.db", "--lease", "1s", "--exec", "echo > begun; sleep 1")
        self.await_file("begun")
        process.kill()
        process.wait()
        self.assertEqual(self.queue("pop", "a.db", "--wait", "20s", "--exec", "cat; echo $SAPLING_ATTEMPT"), "x2\n")

    def test_a_lease_that_was_lost_is_told(self):
        self.queue("push", "a.db", "x")
        process = self.start("queue", "pop", "a.db", "--lease", "500ms", "--exec", "echo > begun; sleep 3")
        self.await_file("begun")
        self.stop(process)
        self.assertEqual(self.queue("pop", "a.db", "--wait", "20s"), "x\n")
        process.send_signal(signal.SIGCONT)
        _, error = self.end(process, 1)
        self.assertIn("message 1 took longer than its lease and has passed to another\ngive it more time", error)

    def test_an_interruption_goes_to_the_command_and_the_message_back(self):
        for number, name in ((signal.SIGINT, "INT"), (signal.SIGTERM, "TERM")):
            self.queue("push", "a.db", "x", "behind")
            process = self.start("queue", "pop", "a.db", "--follow", "--exec",
                                 f"trap 'echo {name} > got; exit 5' {name}; echo > begun; while :; do sleep 0.05; done")
            self.await_file("begun")
            process.send_signal(number)
            out, error = self.end(process, 130)  # the shell may say that its sleep was ended
            self.assertEqual((out, error.splitlines()[-1]), ("", "sapling: interrupted"))
            self.assertEqual(self.read("got"), f"{name}\n".encode())
            self.assertEqual([(m["payload"], m["attempts"], m["state"]) for m in self.objects("peek", "a.db")],
                             [("x", 0, "ready"), ("behind", 0, "ready")])
            self.queue("pop", "a.db", "--count", "2")
            os.unlink(self.path("begun"))

    def test_a_command_that_ends_well_when_interrupted_is_done(self):
        self.queue("push", "a.db", "x", "y")
        process = self.start("queue", "pop", "a.db", "--follow", "--json", "--exec",
                             "trap 'exit 0' TERM; echo > begun; while :; do sleep 0.05; done")
        self.await_file("begun")
        process.terminate()
        out, error = self.end(process, 130)
        self.assertEqual((json.loads(out)["outcome"], json.loads(error.splitlines()[-1])["error"]["code"]),
                         ("acknowledged", "interrupted"))
        self.assertEqual(self.payloads(), ["y"])

    def test_a_second_signal_ends_it_all(self):
        self.queue("push", "a.db", "x")
        process = self.start("queue", "pop", "a.db", "--lease", "2s", "--exec",
                             "trap '' INT; echo $$ > pid; echo > begun; while :; do sleep 0.05; done")
        self.await_file("begun")
        pid = int(self.read("pid"))
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        self.end(process, 130)
        self.await_("the command's end", lambda: not os.path.exists(f"/proc/{pid}")
                    or "Z" in open(f"/proc/{pid}/stat", encoding="ascii").read().rsplit(")", 1)[1].split()[0])
        self.assertEqual(self.queue("pop", "a.db", "--wait", "20s"), "x\n")

    def test_results_as_json(self):
        self.queue("push", "a.db", "good", "bad")
        result = self.run_("queue", "pop", "a.db", "--count", "2", "--json", "--exec", "echo said; grep -q good")
        self.assertEqual(result.returncode, 1)
        out = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual([(o["seq"], o["outcome"], o["exit"]) for o in out],
                         [(1, "acknowledged", 0), (2, "failed", 1)])
        self.assertGreater(out[0]["seconds"], 0)
        lines = result.stderr.decode().splitlines()
        self.assertEqual(lines[:2], ["said", "said"])
        self.assertEqual(json.loads(lines[2])["error"]["code"], "failed")

    def test_workers_in_several_terminals_handle_each_message_once(self):
        count = 40
        self.queue("push", "a.db", *(str(i) for i in range(count)))
        workers = [self.start("queue", "pop", "a.db", "--follow", "--wait", "3s", "--exec", 'cat >> "out$$.txt"')
                   for _ in range(3)]
        for worker in workers:
            self.end(worker, 0)
        names = [n for n in os.listdir(self.dir) if n.startswith("out")]
        self.assertEqual(len(names), count)
        self.assertEqual(sorted(int(self.read(n)) for n in names), list(range(count)))

    def test_messages_survive_a_kill_at_any_time(self):
        count = 120
        self.queue("push", "a.db", *(f"m{i}\n" for i in range(count)))
        kills = 0
        for delay in range(6):
            process = self.start("queue", "pop", "a.db", "--follow", "--wait", "1s", "--lease", "300ms",
                                 "--exec", "sleep 0.03; cat >> out.txt", start_new_session=True)
            time.sleep(0.1 + 0.07 * delay)
            process.kill()
            process.wait()
            kills += 1
        self.assertGreater(self.stat()["ready"], 0, "all was handled before the last kill")
        self.queue("pop", "a.db", "--follow", "--wait", "2s", "--exec", "cat >> out.txt")
        got = set(self.read("out.txt").decode().split())
        stat = self.stat()
        dead = {l["payload"].strip() for l in self.objects("dlq list", "a.db")}
        self.assertEqual((got | dead, stat["ready"], stat["leased"], kills), ({f"m{i}" for i in range(count)}, 0, 0, 6))


# ---- Looking ------------------------------------------------------------------------------------

class Look(QueueCase):
    def test_peek_shows_and_leaves_messages(self):
        self.queue("push", "a.db", "x" * 200, "two\nlines", "--trace", "tr")
        self.queue("push", "a.db", "-", stdin="more\n" * 20)
        text = self.queue("peek", "a.db")
        self.assertEqual(len(text.splitlines()), 11)
        self.assertRegex(text, r"\A +SEQ  STATE +ATTEMPTS +DUE IN +AGE  ID +PAYLOAD\n +1  ready +0 +- +\S+ s  [0-9a-f]{32}  x{60}\.\.\.\n"
                               r" +2  ready .*  two\\nlines\n")
        self.assertEqual(len(self.objects("peek", "a.db", "--limit", "15")), 15)
        self.assertEqual(self.objects("peek", "a.db", "--limit", "1")[0]["trace_id"], "tr")
        self.assertEqual(self.stat()["ready"], 22)

    def test_stat_is_of_each_queue(self):
        self.queue("push", "a.db", "1", "2", "--queue", "b")
        self.queue("push", "a.db", "3", "--queue", "a")
        self.queue("push", "a.db", "4", "--queue", "a", "--delay", "1h")
        self.assertRegex(self.queue("stat", "a.db"),
                         r"\AQUEUE +READY +LEASED +DELAYED +RETRY +DEAD  OLDEST\na +1 +0 +1 +0 +0  \S+ s\n"
                         r"b +2 +0 +0 +0 +0  \S+ s\n\Z")
        out = self.objects("stat", "a.db")
        self.assertEqual([(o["queue"], o["ready"], o["leased"], o["delayed"], o["dead_letters"]) for o in out],
                         [("a", 1, 0, 1, 0), ("b", 2, 0, 0, 0)])
        self.assertLess(abs(out[0]["oldest_ms"] / 1000 - time.time()), 60)
        self.assertEqual([o["queue"] for o in self.objects("stat", "a.db", "--queue", "b")], ["b"])

    def test_a_message_whose_delay_is_over_is_ready(self):
        self.queue("push", "a.db", "m", "--delay", "300ms")
        self.queue("push", "a.db", "n", "--delay", "1h")
        self.assertEqual([(s["ready"], s["delayed"], "oldest_ms" in s) for s in [self.stat()]], [(0, 2, False)])
        time.sleep(0.4)
        self.assertEqual([(s["ready"], s["delayed"], "oldest_ms" in s) for s in [self.stat()]], [(1, 1, True)])
        self.assertEqual([(m["payload"], m["state"]) for m in self.objects("peek", "a.db")],
                         [("m", "ready"), ("n", "delayed")])
        self.assertEqual(self.queue("pop", "a.db"), "m\n")

    def test_stat_is_of_workers_that_are_no_queues_too(self):
        def put(table, key, val):
            self.db("put", "a.db", "--table", str(table), "--force", "--hex", key.hex(), val.hex())

        self.queue("push", "a.db", "q", "--queue", "q")
        for seq in (1, 2):
            put(1, struct.pack(">QQ", 7, NORMAL | seq), command_test.message(b"m%d" % seq, b"hi", to=7))
        put(4, struct.pack(">QQ", NORMAL | 1 << 50, 1), command_test.message(b"t", b"later", to=9))
        put(6, struct.pack(">QQ", 8, NORMAL | 3), b"no letter that decodes")
        text = (r"\AQUEUE +READY +LEASED +DELAYED +RETRY +DEAD  OLDEST\nq +1 +0 +0 +0 +0  \S+ s\nworker 7 +2 +0 +0 +0 +0  [^\n]+\n"
                r"worker 8 +0 +0 +0 +0 +1  -\nworker 9 +0 +0 +1 +0 +0  -\n\Z")
        figures = [("q", None, 1, 0, 0), (None, 7, 2, 0, 0), (None, 8, 0, 0, 1), (None, 9, 0, 1, 0)]
        for owned in (False, True):
            if owned:
                self.start("db", "load", "a.db", "--table", "9")
                self.await_("the socket", lambda: os.path.exists(self.path("a.db.sock")))
            self.assertRegex(self.queue("stat", "a.db"), text)
            self.assertEqual([(o.get("queue"), o.get("worker"), o["ready"], o["delayed"], o["dead_letters"])
                              for o in self.objects("stat", "a.db")], figures)
            self.assertEqual([o["queue"] for o in self.objects("stat", "a.db", "--queue", "q")], ["q"])
        # Tables of somebody else are no inboxes.
        for table in range(1, 8):
            self.db("put", "b.db", "0123456789abcdef", "v", "--table", str(table))
        self.assertEqual(self.queue("stat", "b.db"), "")

    def test_everything_works_through_the_owner(self):
        self.dead("a.db", "dead1", "dead2", "dead3")
        self.queue("push", "a.db", "x", "y", "z")
        owner = self.start("db", "load", "a.db", "--table", "9")
        self.await_("the socket", lambda: os.path.exists(self.path("a.db.sock")))
        self.assertEqual(self.payloads(), ["x", "y", "z"])
        self.assertEqual(self.stat()["dead_letters"], 3)
        self.assertEqual(self.queue("pop", "a.db"), "x\n")
        self.assertEqual(self.queue("pop", "a.db", "--exec", "cat"), "y")
        self.fails(1, "put back after attempt 1", "queue", "pop", "a.db", *FOUR_AT_ONCE, "--exec", "false")
        numbers = [o["seq"] for o in self.objects("dlq list", "a.db")]
        self.assertIn("dead1", self.queue("dlq show", "a.db", str(numbers[0])))
        self.queue("dlq replay", "a.db", str(numbers[0]))
        self.queue("dlq drop", "a.db", str(numbers[1]), "--yes")
        self.assertEqual(self.payloads(), ["z", "dead1"])
        self.fails(3, "no queue 'none'", "queue", "peek", "a.db", "--queue", "none")
        self.fails(124, "in time", "queue", "pop", "a.db", "--queue", "none", "--wait", "300ms")
        # One who waits there keeps nobody waiting, not even the owner that goes.
        waiting = self.start("queue", "pop", "a.db", "--queue", "later", "--wait", "60s")
        begun = time.monotonic()
        self.assertEqual(self.queue("push", "a.db", "w"), "18\n")
        owner.stdin.close()
        self.assertEqual(owner.wait(timeout=30), 0)
        self.assertLess(time.monotonic() - begun, 20)
        self.queue("push", "a.db", "at last", "--queue", "later")
        self.assertEqual(self.end(waiting, 0)[0], "at last\n")


# ---- Dead letters -------------------------------------------------------------------------------

class Letters(QueueCase):
    def test_they_are_listed_and_shown(self):
        self.assertEqual(self.run_("queue", "dlq", "list", "none.db").returncode, 3)
        self.queue("push", "a.db", "fine")
        result = self.run_("queue", "dlq", "list", "a.db")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, b"", b"there are no dead letters\n"))
        self.queue("pop", "a.db")
        self.queue("push", "a.db", "lines\nof text", "--id", "order-7", "--trace", "tr")
        self.run_("queue", "pop", "a.db", "--count", "4", *FOUR_AT_ONCE, "--exec", "exit 3")
        text = self.queue("dlq list", "a.db")
        self.assertRegex(text, r"\AQUEUE +SEQ +ATTEMPTS +AGE +ID +PAYLOAD +ERROR\n"
                               r"default +5 +4 +\S+ s  order-7 +lines\\nof text +exit code 3\n\Z")
        self.assertRegex(self.queue("dlq show", "a.db", "5"),
                         r"\Aqueue:    default\nseq:      5\nerror:    exit code 3 \(1003\)\nattempts: 4\n"
                         r"age:      \S+ s\nid:       order-7\ntrace:    tr\npayload:\nlines\nof text\n\Z")
        letter = self.objects("dlq show", "a.db", "5")[0]
        self.assertEqual([letter[k] for k in ("queue", "seq", "priority", "rc", "error", "attempts", "id", "trace_id",
                                              "payload")],
                         ["default", 5, "normal", 1003, "exit code 3", 4, "order-7", "tr", "lines\nof text"])
        self.assertEqual(self.objects("dlq list", "a.db"), [letter])
        self.fails(3, r"there is no dead letter 4\nsee which there are: sapling queue dlq list a.db", "queue", "dlq", "show", "a.db", "4")

    def test_they_are_replayed_with_all_attempts_before_them(self):
        self.dead("a.db", "a", "b", "c")
        numbers = [o["seq"] for o in self.objects("dlq list", "a.db")]
        self.assertEqual(len(self.objects("dlq list", "a.db", "--limit", "2")), 2)
        self.fails(3, "there is no dead letter 1000", "queue", "dlq", "replay", "a.db", str(numbers[0]), "1000")
        result = self.run_("queue", "dlq", "replay", "a.db", "--all", "--dry-run")
        self.assertEqual((result.stdout, result.stderr), (b"", b"3 dead letters would be put back\n"))
        self.assertEqual(self.stat()["dead_letters"], 3)
        out = self.objects("dlq replay", "a.db", str(numbers[2]), str(numbers[0]))
        self.assertEqual([(o["queue"], o["dead_letter"]) for o in out],
                         [("default", numbers[0]), ("default", numbers[2])])
        self.assertEqual([(m["payload"], m["attempts"], m["seq"]) for m in self.objects("peek", "a.db")],
                         [("a", 0, out[0]["seq"]), ("c", 0, out[1]["seq"])])
        self.assertRegex(self.queue("dlq replay", "a.db", "--all"), r"\A\d+\n\Z")
        self.assertEqual(self.payloads(), ["a", "c", "b"])
        self.assertEqual(self.queue("dlq replay", "a.db", "--all"), "")

    def test_dropping_asks(self):
        self.dead("a.db", "a", "b")
        number = str(self.objects("dlq list", "a.db")[0]["seq"])
        self.fails(2, r"drop 1 dead letter of a.db for ever: not done without being sure\nsay so with --yes",
                   "queue", "dlq", "drop", "a.db", number)
        for answer, status, left in ((b"n\n", 1, 2), (b"y\n", 0, 1)):
            process, master, _ = self.at_terminal("queue", "dlq", "drop", "a.db", number, answer=answer)
            got, text = self.shown(process, master)
            self.assertEqual(got, status, text)
            self.assertIn("drop 1 dead letter of a.db for ever? [y/N]", text)
            self.assertEqual(self.stat()["dead_letters"], left)
        out = self.objects("dlq drop", "a.db", "--all", "--dry-run")
        self.assertEqual([(o["dry_run"], o["queue"]) for o in out], [(True, "default")])
        self.assertEqual(self.stat()["dead_letters"], 1)
        self.assertEqual(len(self.objects("dlq drop", "a.db", "--all", "--yes")), 1)
        self.assertEqual(self.stat()["dead_letters"], 0)

    def test_all_can_be_of_one_queue(self):
        for queue in ("one", "two"):
            self.queue("push", "a.db", queue, "--queue", queue)
            self.run_("queue", "pop", "a.db", "--queue", queue, "--count", "4", *FOUR_AT_ONCE, "--exec", "false")
        self.assertEqual([o["queue"] for o in self.objects("dlq list", "a.db")], ["one", "two"])
        self.assertEqual([o["queue"] for o in self.objects("dlq list", "a.db", "--queue", "two")], ["two"])
        self.queue("dlq drop", "a.db", "--all", "--queue", "two", "--yes")
        self.assertEqual([o["queue"] for o in self.objects("dlq list", "a.db")], ["one"])

    def test_bytes_that_are_no_message_can_be_looked_at_and_dropped(self):
        self.dead("a.db", "x")
        # Worker 7 is no queue: what a program left there.
        key = struct.pack(">QQ", 7, NORMAL | 77)
        value = b"DLQ0" + struct.pack("<iII", 6, 2, 5) + b"noise"
        self.db("put", "a.db", "-t", "6", key.hex(), value.hex(), "--hex", "--force")
        self.assertRegex(self.queue("dlq list", "a.db"), r"\nworker 7 +77 +2 +-  \(not a message\) +noise  ")
        self.assertIn("not a message; its bytes:\nnoise\n", self.queue("dlq show", "a.db", "77"))
        letter = self.objects("dlq list", "a.db")[0]
        self.assertEqual((letter["worker"], letter["seq"], letter["frame"], "queue" in letter), (7, 77, "noise", False))
        self.fails(1, r"dead letter 77 is not a message: no queue can have it\nlook at it with dlq show, then dlq drop",
                   "queue", "dlq", "replay", "a.db", "--all")
        self.assertEqual((self.payloads(), len(self.objects("dlq list", "a.db"))), (["x"], 1))
        self.queue("dlq drop", "a.db", "77", "--yes")
        self.assertEqual(self.queue("dlq list", "a.db"), "")

    def test_many_are_replayed_in_batches(self):
        self.queue("push", "a.db", "seed")
        rows = []
        for i in range(2500):
            payload, name = b"p%d" % i, b"id%d" % i
            frame = b"LMSG" + struct.pack("<HHIBBHqqqqIII", 0, 0, 60 + len(name) + len(payload), 0, 1, 0, 1 << 32 | 1, 1,
                                          1700000000000, 0, len(name), 0xFFFFFFFF, len(payload)) + name + payload
            key = struct.pack(">QQ", 1 << 32 | 1, NORMAL | (1000000 + i))
            rows.append(f"{key.hex()}\t{(b'DLQ0' + struct.pack('<iII', 4, 4, len(frame)) + frame).hex()}\n")
        self.db("load", "a.db", "-t", "6", "--force", "--format", "hex", stdin="".join(rows))
        self.assertEqual(self.stat()["dead_letters"], 2500)
        self.assertEqual(len(self.queue("dlq replay", "a.db", "--all").split()), 2500)
        self.assertEqual(self.payloads(), ["seed"] + [f"p{i}" for i in range(2500)])


# ---- Replay logs --------------------------------------------------------------------------------

def message(id_, payload, trace=None):
    body = id_ + (trace or b"") + payload
    return (b"LMSG" + struct.pack("<HHIBBHqqqqIII", 0, 0, 60 + len(body), 0, 0x20 if trace else 0, 0, 7, 7,
                                  1700000000000, 0, len(id_), len(trace) if trace else 0xFFFFFFFF, len(payload)) + body)


def event(kind, seq, rc, ms, frame):
    return b"RPL0" + struct.pack("<BqQiqI", kind, 7, seq, rc, 1700000000000 + ms, len(frame)) + frame


class ReplayLog(QueueCase):
    def setUp(self):
        super().setUp()
        one, two = message(b"order-1", b"pay"), message(b"\xff\x00", b"ship", b"tr")
        self.records = [event(0, NORMAL | 1, 0, 0, one), event(0, 2, 0, 5, two), event(1, NORMAL | 1, 4, 10, one),
                        event(4, NORMAL | 1, 4, 11, one), event(1, 2, 0, 12, two), event(0, NORMAL | 3, 0, 20, one),
                        event(1, NORMAL | 3, 7, 30, one), event(5, NORMAL | 3, 7, 31, one),
                        event(2, 9, 0, 40, two), event(3, 9, 0, 41, two), event(5, NORMAL | 8, 12, 50, b"noise")]
        self.write("log", b"".join(self.records))

    def test_the_story_of_each_message_is_told(self):
        text = self.queue("replay-log", "log")
        at = r"  2023-11-14T22:13:20\.%03dZ  worker 7  "
        self.assertRegex(text, "\\A" + "".join((
            "message order-1 to worker 7: pay\n",
            at % 0, "seq 1  attempt 1\n", at % 10, "seq 1  attempt 1 ended: .+\n", at % 11, "seq 1  put back: .+\n",
            at % 20, "seq 3  attempt 2\n", at % 30, "seq 3  attempt 2 ended: .+\n", at % 31, "seq 3  given up: .+\n",
            "message ff00 to worker 7, trace tr: ship\n",
            at % 5, "seq 2  attempt 1\n", at % 12, "seq 2  attempt 1 ended: .+\n",
            at % 40, "timer 9  attempt 2\n", at % 41, "timer 9  attempt 2 ended: .+\n",
            "message that does not decode: noise\n", at % 50, "seq 8  given up: .+\n")) + "\\Z")

    def test_events_as_json_are_in_the_order_of_the_log(self):
        out = self.objects("replay-log", "log")
        self.assertEqual([o["event"] for o in out], ["attempt", "attempt", "result", "requeue", "result", "attempt",
                                                     "result", "dead_letter", "timer_attempt", "timer_result",
                                                     "dead_letter"])
        self.assertEqual([(o["seq"], o["attempt"], o["rc"]) for o in out][:8],
                         [(1, 1, 0), (2, 1, 0), (1, 1, 4), (1, 1, 4), (2, 1, 0), (3, 2, 0), (3, 2, 7), (3, 2, 7)])
        self.assertEqual({k: out[1][k] for k in ("time_ms", "worker", "to_worker", "id_hex", "trace_id", "payload")},
                         {"time_ms": 1700000000005, "worker": 7, "to_worker": 7, "id_hex": "ff00", "trace_id": "tr",
                          "payload": "ship"})
        self.assertTrue(out[2]["error"])
        self.assertEqual(out[10]["frame"], "noise")

    def test_one_message_can_be_chosen(self):
        self.assertEqual(len(self.objects("replay-log", "log", "--message", "order-1")), 6)
        self.assertEqual(len(self.objects("replay-log", "log", "--message", "ff00")), 4)
        self.assertTrue(self.queue("replay-log", "log", "-m", "ff00").startswith("message ff00 "))
        self.fails(3, "log has no event of message 'order-9'", "queue", "replay-log", "log", "--message", "order-9")

    def test_damage_is_told_with_its_place_and_what_is_before_it_is_shown(self):
        whole = b"".join(self.records)
        third = len(self.records[0]) + len(self.records[1])
        for bad, pattern in ((whole[:third] + b"X" + whole[third + 1:], "no record"),
                             (whole[:third + 4] + b"\x06" + whole[third + 5:], "no record"),
                             (whole[:third + 36] + b"\xff" + whole[third + 37:], "no record"),
                             (whole[:third + 3], "cut off"), (whole[:third + 20], "cut off"),
                             (whole[:third + 50], "cut off"), (whole[:third] + b"\0" * 10, "no record")):
            result = self.run_("queue", "replay-log", "-", "--json", stdin=bad)
            self.assertEqual((result.returncode, len(result.stdout.splitlines())), (6, 2), pattern)
            error = json.loads(result.stderr)["error"]["message"]
            self.assertRegex(error, rf"- is damaged at byte {third}: .*{pattern}")
        self.assertEqual(self.queue("replay-log", "-", stdin=b""), "")
        self.fails(3, "cannot read none: No such file", "queue", "replay-log", "none")

    def test_noise_never_hurts(self):
        rng = random.Random(11)
        whole = b"".join(self.records)
        rounds = 0
        for _ in range(60):
            noise = bytearray(whole)
            for _ in range(rng.randrange(1, 6)):
                noise[rng.randrange(len(noise))] = rng.randrange(256)
            result = self.run_("queue", "replay-log", "-", stdin=bytes(noise[:rng.randrange(len(noise) + 1)]))
            self.assertIn(result.returncode, (0, 6), result.stderr)
            rounds += 1
        self.assertEqual(rounds, 60)
