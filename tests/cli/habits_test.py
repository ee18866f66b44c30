"""The command in the hands of several users at once, and of those who come from other tools. Run by run.py."""
import ctypes
import fcntl
import json
import os
import pty
import random
import re
import resource
import signal
import struct
import subprocess
import termios
import time

import command_test
from queue_test import QueueCase


# ---- A file that several use for the first time at once -----------------------------------------

class FirstUse(QueueCase):
    def together(self, *calls):
        """Starts all of the calls at once; the exit status and error text of each."""
        processes = [self.start(*args, stdin=None) for args in calls]
        ends = [process.communicate(timeout=60) for process in processes]
        return [(process.returncode, error.decode()) for process, (_, error) in zip(processes, ends)]

    def test_a_first_push_of_several_processes_at_once_succeeds_in_each(self):
        for number in (4, 8):
            for i in range(25):
                calls = [("queue", "push", f"q{i}.db", f"m{n}") for n in range(number)]
                self.assertEqual(self.together(*calls), [(0, "")] * number)
                self.assertEqual(sorted(self.payloads(f"q{i}.db")), [f"m{n}" for n in range(number)])
                self.ok("db", "verify", f"q{i}.db")
                self.remove(f"q{i}.db")

    def test_a_first_put_of_several_processes_at_once_succeeds_in_each(self):
        for number in (4, 8):
            for i in range(25):
                calls = [("db", "put", f"d{i}.db", f"k{n}", "v") for n in range(number)]
                self.assertEqual(self.together(*calls), [(0, "")] * number)
                self.assertEqual(self.db("scan", f"d{i}.db", "--keys").split(),
                                 [f"k{n}" for n in range(number)])
                self.remove(f"d{i}.db")

    def test_who_reads_a_file_that_is_being_made_finds_it_or_does_not(self):
        for i in range(40):
            ends = self.together(("queue", "push", "a.db", "m"), ("queue", "stat", "a.db"),
                                 ("db", "scan", "a.db"), ("queue", "peek", "a.db"))
            self.assertEqual(ends[0], (0, ""))
            for status, error in ends[1:]:
                self.assertIn(status, (0, 3), error)
                self.assertNotIn("its log is there", error)
            self.remove("a.db")

    def test_restore_and_a_first_push_never_replace_each_other(self):
        self.db("put", "a.db", "k", "v", "--table", "9")
        self.db("backup", "a.db", "a.bak")
        both = 0
        for i in range(40):
            (restored, _), (pushed, error) = self.together(("db", "restore", "a.bak", "b.db"),
                                                           ("queue", "push", "b.db", "m"))
            self.assertIn((restored, pushed), ((0, 0), (4, 0)), error)
            if restored == 0:
                self.assertEqual(self.db("get", "b.db", "k", "--table", "9"), "v")
                both += 1
            self.assertEqual(self.payloads("b.db"), ["m"])
            self.remove("b.db")
        print(f"      restored before the first push in {both} of 40 rounds")


# ---- Ends that nobody planned -------------------------------------------------------------------

class Ends(QueueCase):
    def beside(self):
        """What lies in the directory."""
        return sorted(name for name in os.listdir(self.dir) if name != "bin")

    def owner(self, *args):
        """A worker that owns the file and serves it."""
        process = self.start("queue", "pop", "a.db", "--follow", *args, stdin=subprocess.DEVNULL)
        self.await_("the socket", lambda: os.path.exists(self.path("a.db.sock")))
        return process

    def kill(self, process):
        process.kill()
        process.wait()

    def test_workers_that_wait_outlive_the_owner_of_the_file(self):
        self.queue("push", "a.db", "0", "--queue", "other")
        owner = self.owner()
        follows = self.start("queue", "pop", "a.db", "--follow", stdin=subprocess.DEVNULL)
        runs = self.start("queue", "pop", "a.db", "--follow", "--exec", "cat; echo", stdin=subprocess.DEVNULL)
        waits = self.start("queue", "pop", "a.db", "--wait", "30s", stdin=subprocess.DEVNULL)
        time.sleep(0.5)
        self.kill(owner)
        time.sleep(0.5)
        for process in (follows, runs, waits):
            self.assertIsNone(process.poll())
        self.await_("messages for all", lambda: self.queue("push", "a.db", "m") and waits.poll() is not None)
        self.assertEqual(self.end(waits, 0), ("m\n", ""))
        for process in (follows, runs):
            process.send_signal(signal.SIGTERM)
        lines = [self.end(process, 130)[0] for process in (follows, runs)]
        self.assertEqual(set("".join(lines).split()) - {"m"}, set())
        self.ok("db", "verify", "a.db")

    def test_a_worker_goes_on_when_owners_are_killed_at_any_time(self):
        names = [f"m{i}" for i in range(300)]
        self.queue("push", "a.db", *names)
        owner = self.owner("--queue", "none")
        worker = self.start("queue", "pop", "a.db", "--count", str(len(names)), "--exec", "cat; echo", "--wait", "20s",
                            stdin=subprocess.DEVNULL)
        killed = 0
        while worker.poll() is None:
            time.sleep(random.uniform(0.005, 0.02))
            self.kill(owner)
            killed += 1
            owner = self.start("queue", "pop", "a.db", "--follow", "--queue", "none", stdin=subprocess.DEVNULL)
        handled = self.end(worker, 0)[0].split()
        left = self.payloads()
        self.assertEqual(set(handled + left), set(names))
        print(f"      {killed} owners killed, {len(handled) + len(left) - len(names)} messages came twice")

    def test_a_worker_that_waits_ends_when_its_file_was_removed(self):
        for others in (False, True):
            self.queue("push", "a.db", "0", "--queue", "other")
            owner = self.owner()
            waits = self.start("queue", "pop", "a.db", "--follow", stdin=subprocess.DEVNULL) if others else None
            time.sleep(0.3)
            for name in self.beside():
                os.unlink(self.path(name))
            self.assertIn("was removed, renamed or replaced", owner.communicate(timeout=20)[1].decode())
            self.assertEqual(owner.returncode, 1)
            if waits:
                waits.communicate(timeout=20)
                self.assertIn(waits.returncode, (1, 3))
            self.assertEqual(self.beside(), [])

    def test_the_socket_of_a_killed_owner_is_removed_by_the_next_who_has_the_file(self):
        self.queue("push", "a.db", "m", "--queue", "other")
        for args in (("queue", "push", "a.db", "m", "--queue", "other"), ("queue", "stat", "a.db"),
                     ("db", "verify", "a.db"), ("queue", "pop", "a.db", "--queue", "other")):
            self.kill(self.owner())
            self.assertIn("a.db.sock", self.beside())
            self.ok(*args)
            self.assertNotIn("a.db.sock", self.beside(), args)

    def test_a_reader_that_goes_away_leaves_nothing_beside_the_file(self):
        self.queue("push", "a.db", "-", stdin="m\n" * 3000)
        lines = "m\n" * 30000
        for args, stdin in ((("queue", "peek", "a.db", "--limit", "3000"), ""), (("queue", "stat", "a.db"), ""),
                            (("queue", "peek", "a.db", "--limit", "3000", "--json"), ""),
                            (("db", "scan", "a.db", "--table", "1"), ""), (("db", "dump", "a.db"), ""),
                            (("db", "backup", "a.db", "-"), ""), (("db", "scan", "a.db", "--table", "1", "--json"), ""),
                            (("queue", "push", "a.db", "-"), lines), (("queue", "push", "b.db", "m"), ""),
                            (("queue", "pop", "a.db", "--follow"), ""),
                            (("queue", "pop", "a.db", "--json", "--exec", "true"), "")):
            reader, writer = os.pipe()
            os.close(reader)
            result = subprocess.run([command_test.COMMAND, *args], cwd=self.dir, env=self.env, input=stdin.encode(),
                                    stdout=writer, stderr=subprocess.PIPE, timeout=60, check=False)
            os.close(writer)
            self.assertEqual((result.returncode, result.stderr), (-signal.SIGPIPE, b""), args)
            self.assertIn(self.beside(), (["a.db"], ["a.db", "b.db"]), args)
            self.ok("db", "verify", "a.db")

    def test_a_hangup_ends_a_worker_and_its_command_as_other_signals_do(self):
        self.queue("push", "a.db", "m")
        process = self.start("queue", "pop", "a.db", "--follow", "--exec", "echo $$; exec sleep 60",
                             stdin=subprocess.DEVNULL)
        child = int(process.stdout.readline())
        process.send_signal(signal.SIGHUP)
        self.assertEqual(self.end(process, 130)[1], "sapling: interrupted\n")
        self.assertFalse(os.path.exists(f"/proc/{child}"))
        self.assertEqual([(m["payload"], m["state"], m["attempts"]) for m in self.objects("peek", "a.db")],
                         [("m", "ready", 0)])
        self.assertEqual(self.beside(), ["a.db"])

    def test_a_hangup_that_is_ignored_stays_ignored(self):
        self.queue("push", "a.db", "m")
        process = self.start("queue", "pop", "a.db", "--follow", stdin=subprocess.DEVNULL,
                             preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.assertEqual(process.stdout.readline(), b"m\n")
        process.send_signal(signal.SIGHUP)
        self.queue("push", "a.db", "n")
        self.assertEqual(process.stdout.readline(), b"n\n")
        process.send_signal(signal.SIGTERM)
        self.end(process, 130)


# ---- Readers of the output that take their time -------------------------------------------------

class SlowReaders(QueueCase):
    ROWS = 60000  # more than standard output holds back

    def use_file(self):
        """Others push, pop, put and scan, each at once."""
        for args in (("queue", "push", "a.db", "new"), ("db", "put", "a.db", "new", "v", "--table", "8"),
                     ("db", "get", "a.db", "new", "--table", "8"), ("queue", "stat", "a.db"),
                     ("db", "scan", "a.db", "--table", "8", "--limit", "3"), ("queue", "peek", "a.db")):
            start = time.monotonic()
            self.ok(*args)
            self.assertLess(time.monotonic() - start, 1, args)

    def blocked(self, *args):
        """A verb that has filled a pipe which nobody reads."""
        process = self.start(*args, stdin=subprocess.DEVNULL)
        size = fcntl.fcntl(process.stdout, fcntl.F_GETPIPE_SZ)

        def full():
            held = fcntl.ioctl(process.stdout, termios.FIONREAD, b"\0\0\0\0")
            return struct.unpack("i", held)[0] >= size - 4096 or process.poll() is not None

        self.await_("a full pipe", full)
        self.assertIsNone(process.poll(), args)
        return process

    def prepare(self):
        self.queue("push", "a.db", "-", "--quiet", stdin="message\n" * 30000)
        self.write("rows.tsv", "".join(f"row/{i:08}\t{'v' * 80}\n" for i in range(self.ROWS)))
        self.db("load", "a.db", "rows.tsv", "--quiet", "--table", "8")
        os.unlink(self.path("rows.tsv"))

    def test_others_use_the_file_while_nobody_reads_what_a_verb_prints(self):
        self.prepare()
        rows = len(self.db("scan", "a.db", "--table", "8").splitlines())
        for args, lines in ((("db", "scan", "a.db", "--table", "8"), rows),
                            (("db", "scan", "a.db", "--table", "8", "--json"), rows),
                            (("db", "dump", "a.db", "--format", "text", "--table", "8"), rows), (("db", "dump", "a.db"), None),
                            (("db", "backup", "a.db", "-"), None),
                            (("queue", "peek", "a.db", "--limit", "100000", "--json"), 30000),
                            (("queue", "peek", "a.db", "--limit", "100000"), 30001)):
            process = self.blocked(*args)
            self.use_file()
            out, error = process.communicate(timeout=60)
            self.assertEqual((process.returncode, error), (0, b""), args)
            if lines is not None:  # what was there when it began
                self.assertEqual(len(out.splitlines()), lines, args)
            self.ok("queue", "pop", "a.db", "--count", "1")
            self.assertEqual(self.db("del", "a.db", "new", "--table", "8"), "")
            self.assertEqual(self.stat()["ready"], 30000, args)
        self.ok("db", "verify", "a.db")

    def test_a_long_value_is_printed_when_the_file_is_closed(self):
        self.prepare()
        self.db("put", "a.db", "long", "-", "--table", "8", stdin="x" * (8 << 20))
        process = self.blocked("db", "get", "a.db", "long", "--table", "8")
        self.use_file()
        self.assertEqual(len(process.communicate(timeout=60)[0]), 8 << 20)

    def test_who_uses_a_file_through_a_reader_that_is_interrupted_goes_on(self):
        self.prepare()
        process = self.blocked("db", "scan", "a.db", "--table", "8")
        waits = self.start("queue", "pop", "a.db", "--wait", "30s", "--queue", "other", stdin=subprocess.DEVNULL)
        self.use_file()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
        self.assertEqual(process.returncode, 130)
        self.queue("push", "a.db", "m", "--queue", "other")
        self.assertEqual(self.end(waits, 0), ("m\n", ""))
        self.ok("db", "verify", "a.db")
        self.assertEqual(sorted(os.listdir(self.dir)), ["a.db", "bin"])

    def test_a_file_that_may_only_be_read_is_read(self):
        self.db("put", "a.db", "k", "v", "--table", "8")
        self.queue("push", "a.db", "m")
        if os.geteuid() != 0:
            os.chmod(self.path("a.db"), 0o444)
            os.chmod(self.dir, 0o555)
            self.addCleanup(os.chmod, self.dir, 0o755)
            more = {}
        else:
            os.chmod(self.path("a.db"), 0o644)
            more = {"user": 65534, "group": 65534, "extra_groups": []}
        before = self.read("a.db")
        for args in (("db", "scan", "a.db", "--table", "8"), ("db", "dump", "a.db"), ("db", "backup", "a.db", "-"),
                     ("db", "verify", "a.db"), ("queue", "peek", "a.db", "--json"), ("queue", "dlq", "list", "a.db")):
            self.ok(*args, **more)
        self.assertEqual(self.read("a.db"), before)

    def test_reading_changes_no_byte_of_a_closed_file(self):
        self.db("put", "a.db", "k", "v", "--table", "8")
        self.queue("push", "a.db", "m")
        before = (self.read("a.db"), os.stat(self.path("a.db")).st_mtime_ns)
        for args in (("db", "scan", "a.db", "--table", "8"), ("db", "dump", "a.db"), ("db", "backup", "a.db", "-"),
                     ("db", "verify", "a.db"), ("queue", "peek", "a.db"), ("queue", "peek", "a.db", "--json"), ("queue", "dlq", "list", "a.db"),
                     ("queue", "stat", "a.db"), ("db", "get", "a.db", "k", "--table", "8"), ("db", "stat", "a.db")):
            self.ok(*args)
            self.assertEqual((self.read("a.db"), os.stat(self.path("a.db")).st_mtime_ns), before, args)
            self.assertEqual(sorted(os.listdir(self.dir)), ["a.db", "bin"], args)


# ---- What is short ------------------------------------------------------------------------------

class Shortage(QueueCase):
    def test_an_empty_name_is_told_as_such(self):
        for args in (["queue", "push", "", "m"], ["queue", "stat", ""], ["db", "put", "", "k", "v"], ["db", "scan", ""]):
            self.fails(2, "the name of FILE is empty", *args)

    def test_a_socket_that_cannot_be_made_is_told_in_the_words_of_the_system(self):
        self.queue("push", "a.db", "m")
        told = 0
        for limit in range(4, 30):
            def few():
                resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
            result = self.run_("queue", "push", "a.db", "-", stdin="m\n", preexec_fn=few)
            error = result.stderr.decode()
            self.assertNotIn("too long", error)
            if "others cannot use the file meanwhile" in error:
                self.assertRegex(error, r"a\.db\.sock: Too many open files: others cannot")
                # It is not for want of a socket that a push fails: one that needs none fails too then.
                without = self.run_("queue", "push", "a.db", "m", preexec_fn=few)
                self.assertEqual(result.returncode, without.returncode, (limit, error, without.stderr))
                if result.returncode != 0:
                    self.assertIn("Too many open files", error.split("meanwhile", 1)[1])
                told += 1
        self.assertGreater(told, 0)

    def test_limits_of_the_process_are_named_with_what_to_do(self):
        self.queue("push", "a.db", "m")
        limits = ((resource.RLIMIT_NOFILE, 4, "Too many open files\n.*ulimit -n 64"),
                  (resource.RLIMIT_AS, 2000000 << 10, r"not enough address space: .* 1\.9 GiB.*\n.*ulimit -v unlimited"))
        for kind, amount, pattern in limits:
            if kind == resource.RLIMIT_AS and "asan" in command_test.COMMAND:
                continue
            for args in (("queue", "push", "a.db", "m"), ("db", "put", "a.db", "k", "v", "--table", "8")):
                error = self.fails(1, pattern, *args, preexec_fn=lambda: resource.setrlimit(kind, (amount, amount)))
                self.assertNotIn("out of memory", error)

    def test_a_name_too_long_for_its_log_is_refused_before_anything_is_made(self):
        most = 255 - len("-wal.") - 16
        for verb in (("queue", "push"), ("db", "put")):
            args = ("m",) if verb[0] == "queue" else ("k", "v")
            self.fails(1, f"the name has {most + 1} bytes: .* at most {most}", *verb, "n" * (most + 1), *args)
            self.assertEqual(os.listdir(self.dir), ["bin"])
        self.queue("push", "n" * most, "m")
        os.rename(self.path("n" * most), self.path("n" * 250))
        self.assertIn("m", self.queue("peek", "n" * 250))  # what is only read needs no log
        self.assertEqual(self.queue("stat", "n" * 250, "--json").count("ready"), 1)

    def test_a_message_whose_number_cannot_be_printed_is_in_and_that_is_said(self):
        for more in ([], ["--json"]):
            with open("/dev/full", "wb") as full:
                result = subprocess.run([command_test.COMMAND, "queue", "push", "a.db", "m", *more], cwd=self.dir,
                                        env=self.env, stdout=full, stderr=subprocess.PIPE, check=False, timeout=60)
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stderr.decode(), "(?s)No space left on device.*the messages are in the queue")
        self.assertEqual(self.payloads(), ["m", "m"])

    def test_a_push_onto_a_full_disk_names_the_file(self):
        disk = self.path("disk")
        os.mkdir(disk)
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mount(b"tmpfs", disk.encode(), b"tmpfs", 0, b"size=2m") != 0:
            self.skipTest("no mounts here")
        self.addCleanup(libc.umount2, disk.encode(), 2)
        self.queue("push", "disk/q.db", "m")
        owner = self.start("queue", "pop", "disk/q.db", "--follow", "--queue", "other", stdin=subprocess.DEVNULL)
        self.await_("the socket", lambda: os.path.exists(self.path("disk/q.db.sock")))
        with open(os.path.join(disk, "rest"), "wb", buffering=0) as rest:
            with self.assertRaises(OSError):
                while True:
                    rest.write(bytes(4096))
        for _ in range(2):  # through its owner, and alone
            error = self.fails(1, r"disk/q\.db", "queue", "push", "disk/q.db", "--raw", stdin="x" * 700000)
            self.assertIn("make room on the disk", error)
            self.assertNotIn("above its limit", error)
            self.finish(owner)


# ---- Files that do not belong together ----------------------------------------------------------

class Parts(QueueCase):
    def crashed(self, name):
        """A database whose owner was killed: its log is there."""
        self.queue("push", name, "m")
        owner = self.start("queue", "pop", name, "--follow", "--queue", "other", stdin=subprocess.DEVNULL)
        self.await_("the socket", lambda: os.path.exists(self.path(name + ".sock")))
        self.queue("push", name, "n")
        self.finish(owner)
        log = [n for n in os.listdir(self.dir) if n.startswith(name + "-wal.")]
        self.assertEqual(len(log), 1)
        return log[0]

    def test_a_log_without_its_data_file_is_named(self):
        log = self.crashed("a.db")
        os.unlink(self.path("a.db"))
        for args in (("db", "stat", "a.db"), ("db", "put", "a.db", "k", "v"), ("queue", "push", "a.db", "m")):
            self.fails(6, rf"a\.db is missing, but its log is there: {log}\n.*or remove the log", *args)
        self.fails(3, rf"there is no file a\.db, only its log: {log}", "db", "recover", "a.db")

    def test_an_empty_file_beside_its_log_is_told(self):
        log = self.crashed("a.db")
        self.write("a.db", b"")
        for args in (("db", "stat", "a.db"), ("db", "put", "a.db", "k", "v"), ("queue", "push", "a.db", "m")):
            self.fails(6, rf"a\.db is empty, but its log is there: {log}\n.*or remove both", *args)

    def test_recover_says_that_the_log_of_another_database_was_not_used(self):
        log = self.crashed("a.db")
        os.unlink(self.path("a.db"))
        self.db("put", "b.db", "k", "v", "--table", "8")
        self.assertNotIn("not used", self.db("recover", "b.db"))
        os.rename(self.path("b.db"), self.path("a.db"))
        self.assertIn(f"not used: the log beside it, which belongs to another database: {log}\n", self.db("recover", "a.db"))
        self.assertIs(json.loads(self.db("recover", "a.db", "--json"))["foreign_log"], True)

    def test_what_recover_makes_belongs_to_whoever_owned_the_file_and_so_does_its_log(self):
        if os.geteuid() != 0:
            self.skipTest("needs root")
        self.db("put", "a.db", "k", "v", "--table", "8")
        os.chown(self.path("a.db"), 1234, 2345)
        os.chmod(self.path("a.db"), 0o640)
        self.db("recover", "a.db", "b.db", "--yes")
        st = os.stat(self.path("b.db"))
        self.assertEqual((st.st_uid, st.st_gid, st.st_mode & 0o777), (1234, 2345, 0o640))
        owner = self.start("queue", "push", "b.db", "-", "--queue", "q", preexec_fn=lambda: os.umask(0))
        owner.stdin.write(b"m\n")
        owner.stdin.flush()
        owner.stdout.readline()
        beside = [name for name in os.listdir(self.dir) if name.startswith("b.db-wal.")]
        self.assertEqual(len(beside), 1)
        st = os.stat(self.path(beside[0]))
        self.assertEqual((st.st_uid, st.st_gid, st.st_mode & 0o777), (1234, 2345, 0o640))

    def test_a_message_given_up_because_nobody_ended_it_in_time_says_so(self):
        self.queue("push", "a.db", "m")
        self.run_("queue", "pop", "a.db", "--lease", "100ms", "--exec", "kill -9 $PPID")
        time.sleep(0.3)
        self.run_("queue", "pop", "a.db", "--max-attempts", "1", "--exec", "true")
        self.assertIn("lease expired", self.queue("dlq list", "a.db"))
        self.assertNotIn("in use", self.queue("dlq list", "a.db"))


# ---- One file for tables and for queues ---------------------------------------------------------

class OneFile(QueueCase):
    def test_queues_are_refused_in_a_file_whose_tables_are_somebody_elses(self):
        self.db("load", "a.db", stdin="k\tv\n")
        self.db("load", "a.db", "--table", "1", stdin="k\tv\n")
        before = self.db("dump", "a.db")
        error = self.fails(4, r"tables 1 to 7, which queues need, have rows of somebody else: use a file of its own",
                           "queue", "push", "a.db", "m")
        self.assertNotIn("recover", error)
        self.fails(3, "it has no queues", "queue", "pop", "a.db")
        self.assertEqual(self.db("dump", "a.db"), before)
        self.queue("stat", "a.db")

    def test_the_tables_of_queues_are_changed_only_by_force(self):
        self.queue("push", "a.db", "m")
        self.write("rows.tsv", "k\tv\n")
        for table in range(8):
            t = ["--table", str(table)]
            for args in (["put", "a.db", "k", "v"], ["load", "a.db", "rows.tsv"], ["del", "a.db", "k"],
                         ["del", "a.db", "--prefix", "", "--yes"]):
                self.fails(4, f"table {table} of a.db belongs to its queues\n.*--table 8 or above.*--force",
                           "db", *args, *t)
        self.write("a.dump", "sapling-dump 1\ntable 1 plain 1\n k\tv\nend\n")
        self.fails(4, "table 1 of a.db belongs", "db", "load", "a.db", "a.dump", "--format", "dump")
        self.assertEqual(self.payloads(), ["m"])
        self.assertEqual(self.db("scan", "a.db", "--table", "1", "--count"), "1\n")
        self.ok("db", "del", "a.db", "--prefix", "", "--table", "1", "--dry-run")
        self.db("put", "a.db", "k", "v", "--table", "8")
        self.db("put", "a.db", "k", "v", "--force")
        self.assertEqual(self.db("get", "a.db", "k"), "v")
        self.assertEqual(self.queue("pop", "a.db"), "m\n")


# ---- Bytes that a terminal would act on ---------------------------------------------------------

EVIL = "\x1b]0;mine\x07\x1b[2Jred\u009b31m"


class Terminal(QueueCase):
    def at_screen(self, *args, **env):
        """What a terminal gets that is standard output and error."""
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        process = subprocess.Popen([command_test.COMMAND, *args], cwd=self.dir, env=dict(self.env, **env),
                                   stdin=subprocess.DEVNULL, stdout=slave, stderr=slave)
        os.close(slave)
        self.addCleanup(self.finish, process)
        return self.shown(process, master)[1]

    def check_harmless(self, text):
        self.assertNotRegex(text.replace("\r\n", "\n"), r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

    def test_no_byte_of_users_moves_a_terminal(self):
        self.dead("a.db", EVIL)
        number = str(self.objects("dlq list", "a.db")[0]["seq"])
        self.queue("push", "a.db", EVIL, "--queue", EVIL, "--id", EVIL)
        self.db("put", "b.db", "k", "\\x1b[2Jred")
        for args in (["queue", "stat", "a.db"], ["queue", "peek", "a.db", "-Q", EVIL], ["queue", "dlq", "list", "a.db"],
                     ["queue", "dlq", "show", "a.db", number], ["queue", "stat", "a.db", "-Q", "x" + EVIL],
                     ["queue", "pop", "a.db", "-Q", EVIL], ["db", "get", "b.db", "k"], ["db", "scan", "b.db"],
                     ["db", "stat", EVIL + ".db"], ["db", "get", "b.db", EVIL]):
            text = self.at_screen(*args, NO_COLOR="1")
            self.check_harmless(text)
            self.assertGreater(len(text), 5, args)
        for args in (["queue", "stat", "a.db"], ["queue", "dlq", "list", "a.db"]):
            self.check_harmless(self.queue(*[args[1] if len(args) == 3 else " ".join(args[1:3])], args[-1]))

    def test_a_message_is_one_line_whatever_the_names_in_it(self):
        self.queue("push", "a.db", "m")
        for args in (["db", "stat", "no\nsapling: all is well"], ["queue", "stat", "a.db", "-Q", "no\nsapling: all is well"]):
            error = self.fails(3, r"no\\x0asapling: all is well", *args)
            self.assertNotIn("\nsapling:", error)

    def test_payloads_go_to_pipes_byte_by_byte(self):
        self.dead("a.db", EVIL)
        number = str(self.objects("dlq list", "a.db")[0]["seq"])
        self.assertIn(EVIL.encode(), self.ok("queue", "dlq", "show", "a.db", number))
        self.queue("push", "a.db", EVIL)
        self.assertEqual(self.ok("queue", "pop", "a.db"), EVIL.encode() + b"\n")

    def loading(self, columns, term):
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen([command_test.COMMAND, "db", "load", f"{columns}{term}.db", "--batch", "10"],
                                   cwd=self.dir, env=dict(self.env, TERM=term), stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=slave)
        os.close(slave)
        self.addCleanup(self.finish, process)
        for i in range(16):
            process.stdin.write(b"".join(b"%04d%04d\tx\n" % (i, j) for j in range(10)))
            process.stdin.flush()
            time.sleep(0.1)
        process.stdin.close()
        return self.shown(process, master)[1]

    def test_progress_fits_the_terminal_and_is_not_for_dumb_ones(self):
        text = self.loading(20, "xterm")
        lines = re.findall(r"\r\x1b\[K(load: [^\r]*)", text)
        self.assertTrue(lines, text)
        self.assertLess(max(map(len, lines)), 20)
        for term in ("dumb", ""):
            text = self.loading(80, term)
            self.assertNotIn("\x1b", text)
            self.assertIn("160 rows loaded", text)
