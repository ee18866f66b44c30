"""`sapling store`: stores in files and on a PostgreSQL server of the test's own. Run by run.py."""
import contextlib
import glob
import json
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import time
import unittest

from command_test import Case, ROOT

HOWTO = "docs/howto/use-postgresql.md"


def server_programs():
    """The directory of the newest PostgreSQL; None, with a line, where there is none."""
    found = glob.glob("/usr/lib/postgresql/*/bin/initdb")
    if os.geteuid() == 0:
        try:
            pwd.getpwnam("postgres")
        except KeyError:
            found = []
    if not found:
        print("SKIPPED: no PostgreSQL server found (install postgresql-15)", flush=True)
        return None
    return os.path.dirname(max(found, key=lambda path: int(path.split("/")[4].split(".")[0])))


# ---- Files --------------------------------------------------------------------------------------

class StoreFiles(Case):
    def init(self, *more):
        return self.run_("store", "init", "sapling:a.db", *more).stderr.decode()

    def test_init_makes_a_file_and_says_what_was_there(self):
        said = self.init("--tables", "16-18,64", "--schema", "orders@1")
        self.assertEqual(said, "sapling:a.db: made tables 8-10,16-18,64, the marker; there were tables none\n")
        said = self.init("--tables", "16-20", "--schema", "orders@1")
        self.assertEqual(said, "sapling:a.db: made tables 19-20; there were tables 8-10,16-18,64\n")
        before = self.read("a.db")
        made = json.loads(self.ok("store", "init", "sapling:a.db", "--tables", "16", "--schema", "orders@1", "--json"))
        self.assertEqual(made, {"store": "sapling:a.db", "made": {"tables": [], "marker": False},
                                "there": {"tables": [8, 9, 10, 16, 17, 18, 19, 20, 64]}})
        self.fails(4, 'holds schema "orders@1", not "orders@2"', "store", "init", "sapling:a.db", "--tables", "16",
                   "--schema", "orders@2")
        self.assertEqual(self.read("a.db"), before)

    def test_init_makes_a_universe(self):
        said = self.init("--universe")
        self.assertRegex(said, r"^sapling:a\.db: made tables 8-10,16-\d+, the marker; there were tables none\n$")
        self.assertEqual(self.init("-u"), re.sub("made tables (.*), the marker; there were tables none",
                                                 r"made tables none; there were tables \1", said))
        found = json.loads(self.ok("store", "check", "sapling:a.db", "--json"))
        self.assertEqual(found["marker"]["schema"], "sapling:universe@1")
        for option in ("--tables=16", "--schema=x@1"):
            self.fails(2, "--universe stands for --tables and --schema: leave these out", "store", "init",
                       "sapling:b.db", "--universe", option)
        self.assertEqual(self.files(), ["a.db"])
        self.ok("store", "init", "sapling:c.db", "--tables", "16", "--schema", "orders@1")
        self.fails(4, 'holds schema "orders@1", not "sapling:universe@1"', "store", "init", "sapling:c.db", "--universe")

    def test_check_shows_marker_and_tables_and_changes_nothing(self):
        self.init("--tables", "16-17", "--schema", "orders@1")
        before = self.read("a.db")
        result = self.run_("store", "check", "sapling:a.db")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stdout.decode(), r"(?m)^marker +present yes, format 1, schema orders@1$")
        self.assertRegex(result.stdout.decode(), r"(?m)^table +number 16, rows 0$")
        self.assertRegex(result.stdout.decode(), r"(?m)^time +lease 1\.0 s, due 20..-..-..T..:..:..Z, stored \d")
        self.assertEqual(result.stderr, b"check every page: sapling db verify a.db\n")
        found = json.loads(self.ok("store", "check", "sapling:a.db", "--json"))
        self.assertEqual((found["ok"], found["findings"], found["marker"]["schema"]), (True, [], "orders@1"))
        self.assertEqual([table["number"] for table in found["tables"]], [8, 9, 10, 16, 17])
        self.assertEqual((self.read("a.db"), self.files()), (before, ["a.db"]))

    def test_check_refuses_what_is_not_a_store(self):
        self.fails(3, r"there is no store a\.db\nmake one: sapling store init sapling:a\.db", "store", "check",
                   "sapling:a.db")
        self.ok("queue", "push", "q.db", "m")
        self.fails(6, "table 0 has rows", "store", "check", "sapling:q.db")
        self.db("put", "d.db", "k", "v", "--table", "20")
        self.fails(6, "table 20 has rows, but there is no marker", "store", "check", "sapling:d.db")
        found = json.loads(self.run_("store", "check", "sapling:d.db", "--json").stdout)
        self.assertEqual((found["ok"], found["findings"][0]["line"], found["findings"][0]["exit"]), (False, "table", 6))
        self.fails(6, "has rows", "store", "init", "sapling:q.db", "--tables", "16", "--schema", "x")
        self.write("text", "not a database\n" * 1000)
        self.fails(6, "sapling: text: ", "store", "check", "sapling:text")

    def test_wrong_arguments(self):
        init = ("store", "init")
        for pattern, *args in (
                ("memory: lasts as long as a program", *init, "memory:"),
                ("memory:x lasts as long", "store", "check", "memory:x"),
                ("is not a store: use sapling:PATH or postgres:", "store", "check", "a.db"),
                ("'mysql://me@h/d' is not a store", "store", "check", "mysql://me:hidden@h/d"),
                ("sapling: names no file", "store", "check", "sapling:"),
                ("made with --tables and --schema", *init, "sapling:a.db"),
                ("made with --tables and --schema", *init, "sapling:a.db", "--tables", "16"),
                ("which, by --tables", *init, "postgres://h/d", "--schema", "x"),
                ("at most 64 bytes", *init, "sapling:a.db", "--tables", "16", "--schema", "x" * 65),
                ("something is missing: URL", *init),
                *((f"--tables {text}: it is numbers from 16 to 1023", *init, "sapling:a.db", f"--tables={text}")
                  for text in ("15", "1024", "x", "16,", "20-16", "16-", "-16", "16;17", "", "99999999999999999999"))):
            error = self.fails(2, re.escape(pattern), *args)
            self.assertNotIn("hidden", error)
        self.assertEqual(self.files(), [])


# ---- A server -----------------------------------------------------------------------------------

class Server:
    """A PostgreSQL server that ends with this process."""

    def __init__(self, where, programs):
        self.where = where
        self.programs = programs
        self.process = None
        self.data = os.path.join(where, "data")
        os.mkdir(where, 0o755)
        self.own(where)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.env = dict(os.environ, PGHOST=where, PGPORT=str(self.port), PGUSER="postgres", LC_ALL="C.UTF-8")
        self.env.pop("LD_PRELOAD", None)

    def own(self, path):
        if os.geteuid() == 0:
            shutil.chown(path, "postgres", "postgres")

    def words(self, name, *args):
        user = ["--reuid=postgres", "--regid=postgres", "--init-groups"] if os.geteuid() == 0 else []
        return ["setpriv", *user, "--pdeathsig", "QUIT", os.path.join(self.programs, name), *args]

    def run(self, name, *args, **more):
        return subprocess.run(self.words(name, *args), cwd=self.where, env=self.env, check=True, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more).stdout

    def make(self, *access):
        self.run("initdb", "-D", self.data, "-A", "trust", "-U", "postgres", "-N", "--no-instructions")
        with open(os.path.join(self.data, "pg_hba.conf"), "w", encoding="utf-8") as file:
            file.write("\n".join([*access, "local all all trust", "host all all 127.0.0.1/32 trust",
                                  "local replication all trust", "host replication all 127.0.0.1/32 trust", ""]))

    def start(self, *settings):
        words = ["-D", self.data, "-k", self.where, "-p", str(self.port), "-c", "listen_addresses=127.0.0.1"]
        for setting in settings:
            words += ["-c", setting]
        log = open(os.path.join(self.where, "log"), "a", encoding="utf-8")
        with log:
            self.process = subprocess.Popen(self.words("postgres", *words), cwd=self.where, env=self.env,
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        end = time.monotonic() + 60
        while subprocess.run([os.path.join(self.programs, "pg_isready"), "-q"], env=self.env, check=False).returncode:
            if time.monotonic() > end or self.process.poll() is not None:
                with open(os.path.join(self.where, "log"), encoding="utf-8", errors="replace") as file:
                    raise AssertionError(f"the server does not start: {file.read()[-2000:]}")
            time.sleep(0.02)

    def stop(self):
        if self.process is not None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                self.process.send_signal(signal.SIGQUIT)
                self.process.wait()
            self.process = None

    def sql(self, text, database="shop"):
        return subprocess.run(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", database, "-f", "-"],
                              env=dict(self.env, PATH=self.programs + ":" + os.environ["PATH"]), input=text, text=True,
                              check=True, timeout=60, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout.strip()


class StoreServer(Case):
    ACCESS = ()
    SETTINGS = ()

    def setUp(self):
        super().setUp()
        programs = server_programs()
        if programs is None:
            raise unittest.SkipTest("no PostgreSQL server")
        self.server = Server(self.path("pg"), programs)
        self.addCleanup(self.server.stop)
        self.server.make(*self.ACCESS)
        self.server.start(*self.SETTINGS)
        self.server.sql("CREATE DATABASE shop", "postgres")
        self.env.update(PGHOST=self.server.where, PGPORT=str(self.server.port), PGUSER="postgres")
        self.url = "postgres:///shop"

    def init(self, *more, url=None):
        result = self.run_("store", "init", url or self.url, *more)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stderr.decode()

    def check(self, url=None, code=0):
        """The object of --json, and the exit code."""
        result = self.run_("store", "check", url or self.url, "--json")
        self.assertEqual(result.returncode, code, (result.stdout, result.stderr))
        return json.loads(result.stdout)

    def refused(self, code, line, pattern, url=None):
        """A check whose first finding is so, as text and as JSON."""
        found = self.check(url, code)
        first = found["findings"][0]
        self.assertEqual((found["ok"], first["line"], first["exit"]), (False, line, code), first)
        self.assertRegex(first["message"], pattern)
        self.assertRegex(self.fails(code, pattern, "store", "check", url or self.url), "(?m)^sapling: postgres:")
        return found


class StoreInit(StoreServer):
    def test_init_makes_what_is_missing_and_check_shows_it(self):
        self.refused(3, "schema", 'no schema "sapling".*sapling store init')
        self.assertEqual(self.init("--tables", "16-18"),
                         "postgres:///shop: made the schema, tables 8-10,16-18; there were tables none\n")
        found = self.check()
        self.assertEqual((found["ok"], found["marker"]), (True, {"present": False}))
        self.assertNotIn("time", found)
        self.assertEqual(self.init("--tables", "16-20,64", "--schema", "orders@2"),
                         "postgres:///shop: made tables 19-20,64, the marker; there were tables 8-10,16-18\n")
        self.assertEqual(self.init("--tables", "16-20,64", "--schema", "orders@2"),
                         "postgres:///shop: made tables none; there were tables 8-10,16-20,64\n")
        made = json.loads(self.ok("store", "init", self.url + "?schema=other", "--json"))
        self.assertEqual(made, {"store": "postgres:///shop?schema=other", "there": {"tables": []},
                                "made": {"tables": [8, 9, 10], "schema": True, "marker": False}})
        self.fails(4, 'holds schema "orders@2", not "orders@3"', "store", "init", self.url, "--tables", "16",
                   "--schema", "orders@3")
        self.assertRegex(self.init("--universe", url=self.url + "?schema=worlds"),
                         "made the schema, tables 8-10,16-[0-9]+, the marker; there were tables none")

        self.server.sql("INSERT INTO sapling.t16 SELECT int4send(i), 'v' FROM generate_series(1, 500) i; "
                        "ANALYZE sapling.t16")
        found = self.check()
        self.assertTrue(found["ok"])
        self.assertEqual((found["findings"], found["marker"]),
                         ([], {"present": True, "format": 1, "schema": "orders@2"}))
        self.assertEqual([table["number"] for table in found["tables"]], [8, 9, 10, 16, 17, 18, 19, 20, 64])
        table = found["tables"][3]
        self.assertEqual(table["rows"], 500)
        self.assertGreater(table["bytes"], 20000)
        self.assertEqual((found["server"]["role"], found["server"]["read_only"]), ("primary", "off"))
        self.assertEqual(found["session"], {"user": "postgres", "database": "shop", "tls": "no"})
        self.assertEqual(found["durability"],
                         {"synchronous_commit": "on", "fsync": "on", "synchronous_standby_names": ""})
        self.assertEqual((found["connections"]["max"], found["connections"]["pool"]), (100, 32))
        self.assertGreaterEqual(found["connections"]["used"], 1)
        self.assertEqual((found["time"]["lease_s"], found["rights"]),
                         (1, {"usage": True, "read_write": True, "create": True}))
        self.assertLess(found["time"]["stored_s"], 60)
        text = self.ok("store", "check", self.url).decode()
        for line in (r"server       version \d+.*, role primary, read_only off",
                     "durability   synchronous_commit on, fsync on, synchronous_standby_names ''",
                     r"connections  used \d+, max 100, reserved 3, pool 32", "schema       name sapling, present yes",
                     r"table        number 16, rows 500, \d+\.\d KiB, dead_rows 0",
                     r"vacuum       autovacuum on, dead_rows \d+, last \S+",
                     "rights       usage yes, read_write yes, create yes",
                     "marker       present yes, format 1, schema orders@2",
                     r"time         lease 1\.0 s, due 20\S+Z, stored \d.*"):
            self.assertRegex(text, f"(?m)^{line}$")

    def test_check_and_a_refused_init_change_nothing(self):
        self.init("--tables", "16", "--schema", "x@1")
        dump = ("SELECT relname, relfilenode FROM pg_class WHERE relnamespace = 'sapling'::regnamespace ORDER BY 1; "
                "SELECT * FROM sapling.t8 ORDER BY 1")
        before = self.server.sql(dump)
        self.check()
        self.fails(4, "holds schema", "store", "init", self.url, "--tables", "16-30", "--schema", "y@1")
        self.assertEqual(self.server.sql(dump), before)


class StoreRefusals(StoreServer):
    ACCESS = ("local all locked scram-sha-256", "local all gone reject")

    def test_a_server_that_cannot_be_used(self):
        self.fails(1, "No such file or directory.*start it, or correct the url", "store", "check",
                   "postgres:///shop?host=/nowhere")
        self.fails(1, "refused.*start it, or correct the url", "store", "init", "postgres://127.0.0.1:1/shop")
        self.fails(1, 'database "shoop" does not exist.*create it, or correct the url', "store", "check",
                   "postgres:///shoop")
        self.fails(1, "pg_hba.conf", "store", "check", "postgres://gone@/shop")
        self.fails(1, "no parameter `colour`", "store", "check", self.url + "?colour=red")
        self.fails(1, "`pool` is a number", "store", "check", self.url + "?pool=0")
        self.server.sql("CREATE ROLE locked LOGIN PASSWORD 'right'")
        for verb in ("check", "init"):
            for more in ((), ("--json",)):
                result = self.run_("store", verb, "postgres://locked:w0rdle@/shop", *more)
                self.assertEqual(result.returncode, 1)
                self.assertIn(b"password authentication failed", result.stderr)
                self.assertNotIn(b"w0rdle", result.stdout + result.stderr)
        self.fails(1, "give a password, in the url or by PGPASSWORD", "store", "check", "postgres://locked@/shop")
        result = self.run_("store", "check", "postgres://locked@/shop", "--json",
                           env=dict(self.env, PGPASSWORD="right"))
        self.assertEqual((result.returncode, json.loads(result.stdout)["session"]["user"]), (3, "locked"))
        result = self.run_("store", "check", "postgres://locked:right@/shop?password=w0rdle")
        self.assertNotIn(b"w0rdle", result.stdout + result.stderr)

    def test_settings_that_lose_commits_and_standbys(self):
        self.init("--tables", "16", "--schema", "x@1")
        for setting, line, pattern in (
                ("synchronous_commit = off", "durability", "commits asynchronously.*set synchronous_commit to on"),
                ("default_transaction_read_only = on", "server", "set to read-only.*set it to off")):
            self.server.sql(f"CREATE ROLE shop LOGIN SUPERUSER; ALTER ROLE shop SET {setting}")
            found = self.refused(1, line, pattern, "postgres://shop@/shop")
            self.assertEqual(found["marker"]["schema"], "x@1")
            self.fails(1, pattern, "store", "init", "postgres://shop@/shop", "--tables", "16-17")
            self.server.sql("DROP ROLE shop")
        self.server.run("pg_basebackup", "-D", os.path.join(self.server.where, "copy"), "-X", "stream", "-c", "fast")
        self.server.stop()
        self.server.data = os.path.join(self.server.where, "copy")
        open(os.path.join(self.server.data, "standby.signal"), "w", encoding="utf-8").close()
        self.server.start()
        found = self.refused(1, "server", "is a standby: connect to the primary")
        self.assertEqual((found["server"]["role"], found["marker"]["schema"]), ("standby", "x@1"))
        self.fails(1, "is a standby", "store", "init", self.url, "--tables", "16")
        self.server.stop()
        os.unlink(os.path.join(self.server.data, "standby.signal"))
        self.server.start("fsync=off")
        self.refused(1, "durability", "fsync off.*set fsync to on")

    def test_tables_and_rows_that_are_not_a_stores(self):
        self.init("--tables", "16-17", "--schema", "x@1")
        change = self.server.sql
        change("CREATE ROLE shop LOGIN")
        shop = "postgres://shop@/shop"
        found = self.refused(1, "rights", "may not use it: GRANT USAGE ON SCHEMA", shop)
        self.assertEqual(found["rights"], {"usage": False, "read_write": False, "create": False})
        self.assertEqual(len(found["findings"]), 1)
        change("GRANT USAGE ON SCHEMA sapling TO shop; GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA sapling TO "
               "shop")
        self.refused(1, "rights", "may not use it", shop)
        change("GRANT DELETE ON ALL TABLES IN SCHEMA sapling TO shop")
        self.assertTrue(self.check(shop)["ok"])
        change("ALTER TABLE sapling.t17 SET UNLOGGED")
        self.refused(6, "table", 't17.*UNLOGGED')
        change("ALTER TABLE sapling.t17 SET LOGGED; ALTER TABLE sapling.t17 ADD COLUMN more int")
        self.refused(6, "table", "t17.*not made by a store")
        self.fails(6, "t17.*not made by a store", "store", "init", self.url, "--tables", "16-17")
        change("DROP TABLE sapling.t17, sapling.t9")
        self.refused(3, "table", 'no table "sapling".t9.*sapling store init')
        self.init("--tables", "16-17")
        marker = change("SELECT encode(v, 'hex') FROM sapling.t8 WHERE k = '\\x00'")
        change("UPDATE sapling.t8 SET v = 'x' WHERE k = '\\x00'")
        self.refused(6, "marker", "marker is damaged.*restore a backup")
        change(f"UPDATE sapling.t8 SET v = set_byte('\\x{marker}', 8, 2) WHERE k = '\\x00'")
        self.refused(6, "marker", "has format 2, this library reads format 1")
        change(f"UPDATE sapling.t8 SET v = '\\x{marker}' WHERE k = '\\x00'; DELETE FROM sapling.t8 WHERE k = '\\x01'")
        self.refused(6, "time", "time is damaged .it is missing")
        change("DELETE FROM sapling.t8; INSERT INTO sapling.t16 VALUES ('a', 'b')")
        self.refused(6, "marker", "rows in table 16, but no marker")

    def test_what_needs_attention_is_a_note_and_no_failure(self):
        self.init("--tables", "16", "--schema", "x@1")
        found = self.check(self.url + "?pool=1000")
        self.assertEqual((found["ok"], found["notes"][0]["line"]), (True, "connections"))
        self.assertRegex(found["notes"][0]["message"], "raise max_connections, or lower `pool`")
        result = self.run_("store", "check", self.url + "?pool=1000")
        self.assertEqual((result.returncode, b"raise max_connections" in result.stderr), (0, True))
        self.server.sql("ALTER SYSTEM SET autovacuum = off; SELECT pg_reload_conf(); "
                        "INSERT INTO sapling.t16 SELECT int4send(i), 'v' FROM generate_series(1, 20000) i; "
                        "DELETE FROM sapling.t16")

        def many():
            return any("dead rows" in note["message"] for note in self.check()["notes"])

        self.await_("the server's statistics", many)
        self.assertIn("autovacuum is off", " ".join(note["message"] for note in self.check()["notes"]))


# ---- The page -----------------------------------------------------------------------------------

class StorePage(StoreServer):
    """Runs the blocks of the page in order: ```sql as the server's superuser, ```sh as whoever follows it."""

    SETTINGS = ("ssl=on", "max_wal_senders=10")

    def setUp(self):
        if shutil.which("openssl") is None:
            print("SKIPPED: no openssl to make a certificate with", flush=True)
            raise unittest.SkipTest("no openssl")
        make = Server.make

        def with_certificate(server, *access):
            make(server, *access)
            key, crt = (os.path.join(server.data, name) for name in ("server.key", "server.crt"))
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=db.example",
                            "-addext", "subjectAltName=DNS:db.example", "-keyout", key, "-out", crt],
                           check=True, capture_output=True)
            os.chmod(key, 0o600)
            server.own(key)

        with contextlib.ExitStack() as stack:
            stack.callback(setattr, Server, "make", make)
            Server.make = with_certificate
            super().setUp()
        shutil.copy(os.path.join(self.server.data, "server.crt"), self.path("ca.pem"))
        self.server.sql("DROP DATABASE shop", "postgres")
        self.env["PATH"] = self.env["PATH"] + ":" + self.server.programs
        self.env.update(PGHOSTADDR="127.0.0.1")
        for name in ("PGHOST", "PGUSER"):
            self.env.pop(name)

    def test_every_line_of_the_page_runs(self):
        with open(os.path.join(ROOT, HOWTO), encoding="utf-8") as file:
            blocks = re.findall(r"^```(sql|sh)\n(.*?)^```$", file.read(), re.M | re.S)
        self.assertGreaterEqual(len(blocks), 10)
        database = "postgres"
        for kind, block in blocks:
            if kind == "sql":
                self.server.sql(block, database)
                database = "shop"
                continue
            result = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", block], cwd=self.dir, env=self.env, check=False,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120,
                                    stdin=subprocess.DEVNULL)
            self.assertEqual(result.returncode, 0, (block, result.stdout))
