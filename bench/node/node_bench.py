#!/usr/bin/env python3
"""Measure a node: node_bench.py --command SAPLING --embedded PROGRAM --dir DIR [--seconds N] [--worlds N] [--json FILE]

  sends   durable messages a second over HTTP, with 1, 16 and 64 connections of wrk, beside as many threads that
          call the library without a node; both without a worker that handles them
  steps   messages a second that a program in Python handles, until none is left
  idle    CPU time and memory of a node with --worlds worlds in which nothing happens
"""
import argparse
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time

SEND_WORLDS = 1000
STEP_WORLDS = 64
CLIENTS = 16
PROGRAM = """#!/usr/bin/env python3
import sys
for line in sys.stdin:
    print('{"id":%s,"put":{"n":1}}' % line[line.index('"id":') + 5:].split(",", 1)[0].rstrip("}"), flush=True)
"""
LUA = """wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Authorization"] = "Bearer %s"
wrk.body = '{"body":{"n":1}}'
request = function() return wrk.format(nil, "/v1/worlds/w" .. math.random(0, %d) .. "/messages") end
done = function(summary, latency)
    io.write(string.format('{"per_s":%%.0f,"p99_us":%%d,"failed":%%d}\\n',
        summary.requests / summary.duration * 1e6, latency:percentile(99),
        summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout))
end
"""


class Local(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=120)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)

    def ask(self, method, path, body=None):
        self.request(method, path, body and json.dumps(body), {"Content-Type": "application/json"})
        answer = self.getresponse()
        return answer.status, answer.read()


class Node:
    def __init__(self, args, *more):
        self.args = args
        self.where = os.path.abspath(tempfile.mkdtemp(prefix="node-", dir=args.dir))
        self.data = os.path.join(self.where, "data")
        self.program = os.path.join(self.where, "bench.py")
        with open(self.program, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        os.chmod(self.program, 0o755)
        self.start(*more)

    def start(self, *more):
        env = dict(os.environ, XDG_STATE_HOME=self.where)
        said = subprocess.run([self.args.command, "up", "--detach", "--json", "--data", self.data, "--listen", "127.0.0.1:0",
                               "--log-level", "error", *more], check=True, capture_output=True, env=env).stdout
        made = json.loads(said)
        self.pid, self.address, self.socket = made["pid"], made["address"], made["socket"]

    def local(self):
        return Local(self.socket)

    def each(self, count, method, path, body):
        """The request for each number, from several clients."""
        def run(first):
            local = self.local()
            for i in range(first, count, CLIENTS):
                status, answer = local.ask(method, path(i), body(i))
                assert status < 300, (status, answer)
        threads = [threading.Thread(target=run, args=(i,)) for i in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def make_worlds(self, count):
        status, answer = self.local().ask("PUT", "/v1/modules/bench", {"runner": "exec:" + self.program})
        assert status == 200, answer
        self.each(count, "POST", lambda _: "/v1/worlds", lambda i: {"world": f"w{i}", "module": "bench"})

    def steps(self):
        text = self.local().ask("GET", "/metrics")[1].decode()
        return int(re.search(r"(?m)^sapling_universe_steps_total (\d+)", text).group(1))

    def usage(self):
        """(CPU seconds, resident bytes, of them not of files)"""
        with open(f"/proc/{self.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
        with open(f"/proc/{self.pid}/status", encoding="utf-8") as file:
            status = dict(line.split(":", 1) for line in file)
        ticks = os.sysconf("SC_CLK_TCK")
        return ((int(fields[11]) + int(fields[12])) / ticks, int(status["VmRSS"].split()[0]) << 10,
                int(status["RssAnon"].split()[0]) << 10)

    def kill(self, number=15):
        try:
            os.kill(self.pid, number)
            while os.path.exists(f"/proc/{self.pid}"):
                time.sleep(0.02)
        except ProcessLookupError:
            pass

    def end(self):
        self.kill()
        shutil.rmtree(self.where, ignore_errors=True)


def measure_sends(args, connections):
    node = Node(args, "--role", "http")
    try:
        node.make_worlds(SEND_WORLDS)
        script = os.path.join(node.where, "send.lua")
        with open(os.path.join(node.data, "token"), encoding="utf-8") as file:
            token = file.read().strip()
        with open(script, "w", encoding="utf-8") as file:
            file.write(LUA % (token, SEND_WORLDS - 1))
        said = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{args.seconds}s", "-s", script,
                               f"http://{node.address}"], check=True, capture_output=True, text=True).stdout
        result = json.loads(said.splitlines()[-1])
    finally:
        node.end()
    with tempfile.TemporaryDirectory(dir=args.dir) as where:
        said = subprocess.run([args.embedded, os.path.join(where, "e.db"), str(SEND_WORLDS), str(connections),
                               str(args.seconds)], check=True, capture_output=True, text=True).stdout
    result["embedded"] = json.loads(said)
    return result


def measure_steps(args):
    node = Node(args)
    try:
        node.make_worlds(STEP_WORLDS)
        while node.steps() < STEP_WORLDS:
            time.sleep(0.05)
        count = 1000 * args.seconds
        begin = time.monotonic()
        node.each(count, "POST", lambda i: f"/v1/worlds/w{i % STEP_WORLDS}/messages", lambda _: {"body": {"n": 1}})
        while node.steps() < STEP_WORLDS + count:
            time.sleep(0.01)
        return {"per_s": round(count / (time.monotonic() - begin)), "messages": count, "worlds": STEP_WORLDS}
    finally:
        node.end()


def measure_idle(args):
    node = Node(args)
    try:
        node.make_worlds(args.worlds)
        while node.steps() < args.worlds:
            time.sleep(0.1)
        node.kill()
        node.start()
        time.sleep(5)
        before = node.usage()
        begin = time.monotonic()
        time.sleep(60)
        after = node.usage()
        return {"worlds": args.worlds, "cpu_percent": round(100 * (after[0] - before[0]) / (time.monotonic() - begin), 3),
                "rss_mib": round(after[1] / (1 << 20), 1), "anonymous_mib": round(after[2] / (1 << 20), 1)}
    finally:
        node.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--command", required=True)
    parser.add_argument("--embedded", required=True)
    parser.add_argument("--dir", required=True)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--worlds", type=int, default=100000)
    parser.add_argument("--only", default="", help="sends, steps or idle")
    parser.add_argument("--json")
    args = parser.parse_args()
    results = {}
    for connections in (1, 16, 64) if args.only in ("", "sends") else ():
        result = results[f"sends_{connections}"] = measure_sends(args, connections)
        print(f"sends     {connections:3} connections  {result['per_s']:>8}/s  p99 {result['p99_us'] / 1000:8.2f} ms  "
              f"failed {result['failed']}   embedded {result['embedded']['per_s']:>8}/s  "
              f"p99 {result['embedded']['p99_us'] / 1000:8.2f} ms", flush=True)
    if args.only in ("", "steps"):
        result = results["steps"] = measure_steps(args)
        print(f"steps     {result['worlds']:3} worlds       {result['per_s']:>8}/s", flush=True)
    if args.only in ("", "idle"):
        result = results["idle"] = measure_idle(args)
        print(f"idle      {result['worlds']} worlds    {result['cpu_percent']} % CPU, {result['rss_mib']} MiB resident, "
              f"{result['anonymous_mib']} MiB of it not of files", flush=True)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
