#!/usr/bin/env python3
# test_metrics.py: numbers of a running recording for Prometheus: its own tools accept them, it scrapes
# them, and the queries of the dashboard return data.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import urllib.error
import urllib.parse
import urllib.request

import harness
from harness import MEMLEDGER, Skip, check, contains, equal, program

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DASHBOARD = ROOT / "examples/grafana/memledger.json"


def start_training():
    process = harness.start(program("trains"), 3, "wait", stdin=subprocess.PIPE,
                            options=["--sample-hz", "20"])
    harness.read_line(process)
    for _ in range(2):  # up to the end of the first backward
        process.stdin.write("\n")
        process.stdin.flush()
        harness.read_line(process)
    harness.wait_until(lambda: 'category="gradient"' in metrics("t.mled"), "gradients")
    return process


def metrics(*operands):
    result = harness.plain(MEMLEDGER, "metrics", "--once", *operands)
    equal(result.returncode, 0, "exit code of metrics", result.stderr)
    return result.stdout


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def get(address, **headers):
    request = urllib.request.Request(address, headers=headers)
    with urllib.request.urlopen(request, timeout=harness.PATIENCE_S) as answer:
        return answer.headers["Content-Type"], answer.read().decode()


def sample(text, name, **labels):
    """The value of the one sample with these labels."""
    found = []
    for line in text.splitlines():
        if line.startswith(name + "{") and all(f'{k}="{v}"' in line for k, v in labels.items()):
            found.append(int(line.rsplit(" ", 1)[1]))
    equal(len(found), 1, f"samples of {name} {labels}", text)
    return found[0]


def test_numbers():
    process = start_training()
    harness.wait_until(lambda: "memledger_driver_used_bytes{" in metrics("t.mled"), "a sample")
    text = metrics("t.mled")
    table = harness.report("table", "t.mled", "--at", "end", "--by", "category")["groups"]
    for group in table:
        equal(sample(text, "memledger_category_live_bytes", category=group["category"]),
              group["bytes"], f"bytes of {group['category']}")
    equal(sample(text, "memledger_module_live_bytes", module="Net > layers.1.fc"), 204800,
          "bytes of a module")
    equal(sample(text, "memledger_live_bytes", device="cpu"), 614400, "bytes of the device")
    equal(sample(text, "memledger_recording"), 1, "recording")
    equal(sample(text, "memledger_lost_events_total"), 0, "lost events")
    check(sample(text, "memledger_driver_used_bytes", device="cpu") > 0, "resident memory")
    check(text.endswith("# EOF\n"), "the end", text)
    contains(metrics("-n", "1", "t.mled"), 'module="(others)"', "bounded modules")
    contains(metrics(), os.path.realpath("t.mled"), "all recordings of the machine")
    harness.finish(process)
    equal(sample(metrics("t.mled"), "memledger_recording"), 0, "recording afterwards")


def test_name_of_textfile():
    """node_exporter would ignore it."""
    result = harness.plain(MEMLEDGER, "metrics", "--once", "--textfile", "out.txt")
    equal(result.returncode, 2, "exit code", result.stderr)
    contains(result.stderr, "end in .prom", "message")


def test_ignored_options():
    for options in (["--interval", "5"], ["--once", "--listen", "127.0.0.1:9469"],
                    ["--textfile", "out.prom", "--listen", "127.0.0.1:9469"],
                    ["--textfile", "out.prom", "--once", "--interval", "5"]):
        result = harness.plain(MEMLEDGER, "metrics", *options)
        equal(result.returncode, 2, f"exit code for {options}", result.stderr)


def test_missing_folder():
    result = harness.plain(MEMLEDGER, "metrics", "--once", "--textfile", "nowhere/out.prom")
    equal(result.returncode, 1, "exit code", result.stderr)
    contains(result.stderr, "cannot write nowhere/out.prom: No such file or directory", "message")
    check(not os.path.exists("nowhere"), "the folder was created")


def test_wrong_addresses():
    """A wrong command line, not a failure."""
    for address in "abc", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:99999", "127.0.0.1:http", ":9469":
        result = harness.plain(MEMLEDGER, "metrics", "--listen", address)
        equal(result.returncode, 2, f"exit code for {address}", result.stderr)
        contains(result.stderr, f"--listen: '{address}' is not", "message")


def test_textfile():
    process = start_training()
    result = harness.plain(MEMLEDGER, "metrics", "--once", "--textfile", "out.prom", "t.mled")
    equal(result.returncode, 0, "exit code", result.stderr)
    text = pathlib.Path("out.prom").read_text()
    contains(text, "memledger_live_bytes{", "the file")
    contains(text, f'file="{os.path.realpath("t.mled")}"', "the name of the recording")
    contains(text, "# TYPE memledger_allocations_total counter\n", "the type of a counter")
    check("# EOF" not in text and "# UNIT" not in text, "OpenMetrics in a text file", text)
    if shutil.which("promtool"):
        done = subprocess.run(["promtool", "check", "metrics"], input=text, text=True,
                              capture_output=True)
        equal(done.stdout + done.stderr, "", "what promtool does not accept")
    equal(os.stat("out.prom").st_mode & 0o777, 0o644, "its mode")
    equal([f for f in os.listdir(".") if "part" in f], [], "leftovers")
    harness.finish(process)


def test_server():
    process = start_training()
    port = free_port()
    server = subprocess.Popen([MEMLEDGER, "metrics", "--listen", f"127.0.0.1:{port}", "t.mled"],
                              stderr=subprocess.PIPE, text=True)
    contains(server.stderr.readline(), f"http://127.0.0.1:{port}/metrics", "the address")
    address = f"http://127.0.0.1:{port}/metrics"
    kind, text = get(address)
    contains(kind, "application/openmetrics-text", "the type")
    equal(sample(text, "memledger_live_bytes", device="cpu"), 614400, "bytes of the device")
    get(address, Host=f"localhost:{port}")
    hosts = ("evil.example", "127.evil.example", "127.0.0.1.evil.example", "localhost.evil.example")
    for wrong, headers in (address + "x", {}), *((address, {"Host": host}) for host in hosts):
        try:
            get(wrong, **headers)
            check(False, f"{wrong} {headers} was answered")
        except urllib.error.HTTPError as error:
            check(error.code in (403, 404), "another error", error)
    second = harness.plain(MEMLEDGER, "metrics", "--listen", f"127.0.0.1:{port}", "t.mled")
    equal(second.returncode, 1, "exit code of a second server on the same port", second)
    contains(second.stderr, "choose another with --listen", "its message")
    scrape(port)
    server.send_signal(signal.SIGTERM)
    equal(server.wait(harness.PATIENCE_S), 0, "exit code of the server")
    harness.finish(process)


def scrape(port):
    """A real Prometheus, if there is one."""
    if not shutil.which("prometheus"):
        raise Skip("no prometheus here")
    own = free_port()
    pathlib.Path("prometheus.yml").write_text(
        "scrape_configs:\n- job_name: memledger\n  scrape_interval: 1s\n  static_configs:\n"
        f"  - targets: ['127.0.0.1:{port}']\n")
    prometheus = subprocess.Popen(
        ["prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=tsdb",
         f"--web.listen-address=127.0.0.1:{own}"], stderr=subprocess.DEVNULL)

    def query(text):
        try:
            answer = get(f"http://127.0.0.1:{own}/api/v1/query?query={urllib.parse.quote(text)}")
        except OSError:
            return []
        return json.loads(answer[1])["data"]["result"]

    try:
        harness.wait_until(lambda: query("memledger_live_bytes"), "the first scrape")
        equal(query('memledger_live_bytes{device="cpu"}')[0]["value"][1], "614400",
              "what Prometheus has")
        queries = re.findall(r'"expr": "((?:[^"\\]|\\.)*)"', DASHBOARD.read_text())
        check(len(queries) >= 6, "queries of the dashboard", queries)
        for text in queries:
            text = json.loads(f'"{text}"').replace("$__rate_interval", "30s").replace(
                "$file", ".*")
            harness.wait_until(lambda text=text: query(text), f"data for {text}")
    finally:
        prometheus.terminate()
        prometheus.wait(harness.PATIENCE_S)


harness.main(globals())
