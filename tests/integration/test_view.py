#!/usr/bin/env python3
# test_view.py: memledger view: the page's numbers are those of the commands, and only the browser
# that has the address gets them.
#
# SPDX-License-Identifier: Apache-2.0
import http.client
import json
import os
import signal
import subprocess
import urllib.parse

import harness
from harness import MEMLEDGER, check, contains, equal, plain

TRACES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "traces")
GPT = os.path.join(TRACES, "gpt.mled")
OOM = os.path.join(TRACES, "oom.mled")


class Viewer:
    """A running `memledger view`, and a browser that knows its address."""

    def __init__(self, *files):
        self.process = subprocess.Popen([MEMLEDGER, "view", "--no-open", *files], text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        address = urllib.parse.urlsplit(self.process.stdout.readline().strip())
        self.port = address.port
        self.token = urllib.parse.parse_qs(address.query)["token"][0]
        self.host = f"127.0.0.1:{self.port}"

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.send_signal(signal.SIGINT)
        equal(self.process.wait(timeout=30), 0, "exit code after Ctrl-C")

    def get(self, path, method="GET", cookie=True, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        if cookie:
            headers["Cookie"] = f"memledger-{self.port}={self.token}"
        connection.request(method, path, headers={"Host": self.host, **headers})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer, body

    def numbers(self, path):
        answer, body = self.get(path)
        equal(answer.status, 200, path, body)
        return json.loads(body), answer.getheader("X-Memledger-Command")


def command_numbers(*arguments):
    done = plain(MEMLEDGER, *arguments)
    equal(done.returncode, 0, arguments, done.stderr)
    return json.loads(done.stdout)


def test_numbers_are_the_commands():
    with Viewer(GPT, OOM) as viewer:
        listed, _ = viewer.numbers("/api/files")
        equal([f["name"] for f in listed["files"]], ["gpt.mled", "oom.mled"], "files")
        equal(listed["files"][0]["bytes"], os.path.getsize(GPT), "size")
        for verb, query in (("summary", ""), ("tree", "&at=step:1&min=0"), ("steps", ""),
                            ("table", "&by=label,category&at=end"), ("ledger", "&at=end"),
                            ("plot", "&by=module&from=20ms&to=60ms&width=400"), ("layers", ""),
                            ("leaks", ""), ("stats", ""), ("blocks", "&from=20ms&to=60ms&width=50"),
                            ("blocks", "&at=peak&address=0x20106400000"), ("events", "&kind=alloc&limit=5")):
            found, command = viewer.numbers(f"/api/{verb}?file=0{query}")
            options = [f"--{part}" for part in query.split("&") if part]
            equal(found, command_numbers(verb, "--json", *options, GPT), f"numbers of {verb}")
            equal(command, " ".join(["memledger", verb, *options, GPT]), "the command")
        found, _ = viewer.numbers("/api/compare?file=0&file=1")
        equal(found, command_numbers("compare", "--json", GPT, OOM), "numbers of compare")
        found, _ = viewer.numbers("/api/oom?file=1")
        equal(found, command_numbers("oom", "--json", OOM), "numbers of oom")


def test_errors_say_why():
    with Viewer(GPT) as viewer:
        for path, status, words in (
                ("/api/tree?file=0&at=nowhere", 422, "is neither peak, end"),
                ("/api/tree?file=7", 400, "no file of that number"),
                ("/api/tree", 400, "no file was chosen"),
                ("/api/tree?file=0&output=/tmp/x", 400, "no setting of that name"),
                ("/api/export?file=0", 404, "no view 'export'"),
                ("/nowhere.js", 404, "no such page"),
                ("/../../etc/passwd", 404, "no such page")):
            answer, body = viewer.get(path)
            equal(answer.status, status, path, body)
            contains(json.loads(body)["error"], words, path)


def test_only_the_browser_with_the_address():
    with Viewer(GPT) as viewer:
        token = f"/?token={viewer.token}"
        answer, _ = viewer.get(token, cookie=False)
        equal((answer.status, answer.getheader("Location")), (303, "/"), "the first request")
        for word in ("HttpOnly", "SameSite=Strict", viewer.token):
            contains(answer.getheader("Set-Cookie"), word, "the cookie")
        for path, headers in (("/", {}), ("/api/files", {}), ("/?token=" + "0" * 32, {}),
                              ("/api/files?token=" + viewer.token, {}),
                              (token, {"Host": "evil.example"}),
                              (token, {"Origin": "http://evil.example"})):
            answer, body = viewer.get(path, cookie=False, **headers)
            equal(answer.status, 403, f"{path} {headers}", body)
            check(viewer.token not in body.decode() and not answer.getheader("Set-Cookie"),
                  "the token is given away", body)
        answer, _ = viewer.get("/api/files", Origin="http://evil.example")
        equal(answer.status, 403, "a page of another site")
        answer, _ = viewer.get("/api/files", method="POST")
        equal(answer.status, 405, "POST")


def test_headers():
    with Viewer(GPT) as viewer:
        answer, body = viewer.get("/")
        equal(answer.status, 200, "the page")
        contains(body.decode(), "<!doctype html>", "the page")
        policy = answer.getheader("Content-Security-Policy")
        for part in ("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"):
            contains(policy, part, "what the page may load")
        check("unsafe" not in policy, "scripts inside of pages", policy)
        equal(answer.getheader("Access-Control-Allow-Origin"), None, "other sites")
        equal(answer.getheader("X-Content-Type-Options"), "nosniff", "types")


def test_files_that_do_not_open():
    for arguments, words in ((["/nowhere.mled"], "/nowhere.mled"), ([], "no trace given")):
        done = plain(MEMLEDGER, "view", "--no-open", *arguments)
        check(done.returncode != 0, "exit code", done.stdout)
        contains(done.stderr, words, "the reason")


def test_many_requests_at_once():
    with Viewer(GPT) as viewer:
        connections = [http.client.HTTPConnection("127.0.0.1", viewer.port, timeout=120)
                       for _ in range(24)]
        headers = {"Host": viewer.host, "Cookie": f"memledger-{viewer.port}={viewer.token}"}
        for connection in connections:
            connection.request("GET", "/api/summary?file=0", headers=headers)
        answers = [connection.getresponse().read() for connection in connections]
        equal(len(set(answers)), 1, "different answers")


harness.main(globals())
