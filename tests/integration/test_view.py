#!/usr/bin/env python3
# test_view.py: memledger view: the page's numbers are those of the commands, and only the browser
# that has the address gets them.
#
# SPDX-License-Identifier: Apache-2.0
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.parse

import harness
from harness import MEMLEDGER, check, contains, equal, plain

TRACES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "traces")
GPT = os.path.join(TRACES, "gpt.mled")
OOM = os.path.join(TRACES, "oom.mled")
DATA = os.path.join(TRACES, "..", "..", "data")
SNAPSHOT = os.path.join(DATA, "torch", "tinygpt.pickle")


class Viewer:
    """A running `memledger view`, and a browser that knows its address."""

    def __init__(self, *files, options=("--no-open",), env=()):
        self.temporary = os.path.abspath("tmp")
        os.makedirs(self.temporary, exist_ok=True)
        self.process = subprocess.Popen(
            [MEMLEDGER, "view", *options, *files], text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "TMPDIR": self.temporary, "XDG_STATE_HOME": os.path.abspath("state"),
                 **dict(env)})
        address = urllib.parse.urlsplit(self.process.stdout.readline().strip())
        self.fragment = address.fragment
        self.port = address.port
        self.place = address.path.rstrip("/")
        self.token = urllib.parse.parse_qs(address.query)["token"][0]
        self.host = f"127.0.0.1:{self.port}"

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.send_signal(signal.SIGINT)
        equal(self.process.wait(timeout=harness.PATIENCE_S), 0, "exit code after Ctrl-C")
        equal(os.listdir(self.temporary), [], "temporary files that are left")

    def get(self, path, method="GET", cookie=True, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=harness.PATIENCE_S)
        if cookie:
            headers["Cookie"] = f"memledger-{self.port}={self.token}"
        connection.request(method, self.place + path, headers={"Host": self.host, **headers})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer, body

    def post(self, path, body, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=harness.PATIENCE_S)
        connection.request("POST", self.place + path, body, {
            "Host": self.host, "Cookie": f"memledger-{self.port}={self.token}", **headers})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())

    def drop(self, name, body):
        return self.post(f"/api/open?name={urllib.parse.quote(name)}", body,
                         Origin=f"http://{self.host}")

    def raw(self, data, patience=harness.PATIENCE_S):
        """What the server answers to these bytes, until it closes the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=patience) as s:
            got = b""
            try:
                s.sendall(data)
                while part := s.recv(65536):
                    got += part
            except (ConnectionError, TimeoutError):
                pass
        return got

    def lives(self):
        equal(self.get("/api/files")[0].status, 200, "the server")

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


def test_a_job_of_many_files():
    os.makedirs("job", exist_ok=True)
    files = [shutil.copy(GPT, os.path.join("job", f"rank-{i:03}.mled")) for i in range(100)]
    with Viewer(*files) as viewer:
        found, _ = viewer.numbers("/api/ranks?" + "&".join(f"file={i}" for i in range(len(files))))
        equal(found, command_numbers("ranks", "--json", *files), "numbers of ranks")


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
        answer, _ = viewer.get("/api/tree?file=0&at=nowhere")
        equal(answer.getheader("X-Memledger-Command"), f"memledger tree --at=nowhere {GPT}",
              "the command that failed")


def test_only_the_browser_with_the_address():
    with Viewer(GPT) as viewer:
        token = f"/?token={viewer.token}"
        answer, body = viewer.get(token, cookie=False)
        equal(answer.status, 200, "the first request")
        contains(body.decode(), 'http-equiv="refresh" content="0;url=./"', "it leads to the page")
        check(viewer.token not in body.decode(), "the token is on the page", body)
        for word in ("HttpOnly", "SameSite=Strict", viewer.token, f"Path={viewer.place}/"):
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
    with open("text.txt", "w") as f:
        f.write("not a trace\n")
    with open("cut.mled", "wb") as out, open(GPT, "rb") as f:
        out.write(f.read(60))
    for argument, words in (("/nowhere.mled", "/nowhere.mled"), ("cut.mled", "cut.mled"),
                            ("text.txt", "not recognised as one of the formats"),
                            ("/etc", "/etc")):
        done = plain(MEMLEDGER, "view", "--no-open", argument)
        check(done.returncode != 0, "exit code", done.stdout)
        contains(done.stderr, words, "the reason")


def damage(path):
    """A copy of a trace whose last events are damaged."""
    with open(GPT, "rb") as f:
        data = bytearray(f.read())
    at = [i for i in range(len(data)) if data[i:i + 4] == b"MLBK" and data[i + 4] == 2][-1]
    data[at + 60] ^= 0xff
    with open(path, "wb") as f:
        f.write(data)


def test_a_damaged_trace_shows_what_can_be_read():
    damage("damaged.mled")
    with Viewer("damaged.mled") as viewer:
        equal(viewer.fragment, "salvage=true", "the state that the page begins with")
        answer, body = viewer.get("/api/summary?file=0")
        equal(answer.status, 422, "the whole trace")
        contains(json.loads(body)["error"], "--salvage", "the way out")
        found, _ = viewer.numbers("/api/summary?file=0&salvage=")
        equal(found["health"]["damaged_blocks"], 1, "blocks that were skipped")
        equal(found, command_numbers("summary", "--json", "--salvage", "damaged.mled"), "the rest")


def test_a_pipe_in_the_folder_does_not_block():
    os.mkfifo("pipe.mled")
    with Viewer() as viewer:
        listed, _ = viewer.numbers("/api/files")
        equal([f["name"] for f in listed["files"] if f["name"] == "pipe.mled"], [], "files")


def test_the_name_of_a_folder_is_no_pattern():
    for folder in ("run[1]", "a*b?", "back\\slash", "plain"):
        os.mkdir(folder)
        shutil.copy(GPT, os.path.join(folder, "rank-0.mled"))
    os.mkdir("axb?")
    shutil.copy(OOM, os.path.join("axb?", "other.mled"))
    for folder in ("run[1]", "a*b?", "back\\slash", "plain"):
        with Viewer(folder) as viewer:
            listed, _ = viewer.numbers("/api/files")
            equal([f["name"] for f in listed["files"]], ["rank-0.mled"], f"files of {folder}")


# ---- Other files --------------------------------------------------------------------------


def test_named_files_are_imported():
    with Viewer(SNAPSHOT, GPT) as viewer:
        listed, _ = viewer.numbers("/api/files")
        equal([f["name"] for f in listed["files"]], ["tinygpt.pickle", "gpt.mled"], "files")
        found, _ = viewer.numbers("/api/summary?file=0")
        equal(found["health"]["imported_from"], "torch-snapshot", "the import")


def test_dropped_files():
    with Viewer(GPT) as viewer, open(SNAPSHOT, "rb") as f, open(OOM, "rb") as trace:
        equal(viewer.drop("a <b>/../tinygpt.pickle", f.read()), (200, {"id": 1}), "a snapshot")
        equal(viewer.drop("oom.mled", trace.read()), (200, {"id": 2}), "a trace")
        plain(MEMLEDGER, "import", "-o", "expected.mled", SNAPSHOT)
        found, _ = viewer.numbers("/api/summary?file=1")
        expected = command_numbers("summary", "--json", "expected.mled")
        equal(found["peak_bytes"], expected["peak_bytes"], "the peak")
        listed, _ = viewer.numbers("/api/files")
        equal(listed["files"][1]["name"], "a <b>/../tinygpt.pickle", "the name")
        inside = os.path.realpath(viewer.temporary)
        for file in listed["files"][1:]:
            check(os.path.realpath(file["path"]).startswith(inside), "the place", file)
            equal(os.stat(file["path"]).st_mode & 0o077, 0, "rights of other users")
        for folder in os.listdir(inside):
            equal(os.stat(os.path.join(inside, folder)).st_mode & 0o777, 0o700, "the folder's rights")
        status, answer = viewer.drop("notes.txt", b"nothing that an import knows")
        equal(status, 422, "a text", answer)
        contains(answer["error"], "notes.txt: not recognised as one of the formats", "the reason")
        check(inside not in answer["error"], "the path of a temporary file is shown", answer)
        status, answer = viewer.drop("cut.pickle", b"\x80\x04\x95")
        equal(status, 422, "a damaged pickle", answer)


def test_recent_traces():
    os.makedirs("elsewhere")
    env = {**os.environ, "XDG_STATE_HOME": os.path.abspath("state")}
    done = plain(MEMLEDGER, "run", "-q", "-o", "elsewhere/run.mled", "true", env=env)
    equal(done.returncode, 0, "run", done.stderr)
    shutil.copy(GPT, "here.mled")
    with open("not-a-trace.mled", "w") as f:
        f.write("x" * 1000)
    harness.wait_until(lambda: os.path.exists("state/memledger/recent"), "the list of recent traces")
    equal(os.stat("state/memledger/recent").st_mode & 0o077, 0, "rights of other users")
    with Viewer() as viewer:
        listed, _ = viewer.numbers("/api/files")
        equal([(f["id"], f["name"], f["listed"]) for f in listed["files"]],
              [(1, "run.mled", True), (2, "here.mled", True)], "recent traces")
        found, _ = viewer.numbers("/api/summary?file=2")
        equal(found["peak_bytes"], command_numbers("summary", "--json", GPT)["peak_bytes"], "peak")
        answer, _ = viewer.get("/api/summary?file=0")
        equal(answer.status, 400, "the number without a file")


def test_no_list_of_recent_traces_harms_no_run():
    with open("state", "w") as f:
        f.write("a file, not a folder")
    for state in (os.path.abspath("state"), "/proc/nowhere", ""):
        done = plain(MEMLEDGER, "run", "-q", "-f", "-o", "x.mled", "sh", "-c", "exit 3",
                     env={**os.environ, "XDG_STATE_HOME": state, "HOME": "/nowhere"})
        equal(done.returncode, 3, "exit code", done.stderr)


# ---- A file that changes --------------------------------------------------------------------


def test_state_of_a_file():
    shutil.copy(GPT, "a.mled")
    with Viewer("a.mled") as viewer:
        before, _ = viewer.numbers("/api/state?file=0")
        equal(before["bytes"], os.path.getsize(GPT), "bytes")
        equal(before["recording"], False, "recording")
        shutil.copy(OOM, "b.mled")
        os.replace("b.mled", "a.mled")
        after, _ = viewer.numbers("/api/state?file=0")
        check(after["inode"] != before["inode"], "another file", before, after)
        os.remove("a.mled")
        answer, body = viewer.get("/api/state?file=0")
        equal(answer.status, 422, "a file that is gone", body)
        contains(json.loads(body)["error"], "the file is gone", "the reason")


def wait_for_trace(path):
    """Until a recording has begun."""
    harness.wait_until(lambda: os.path.exists(path) and os.path.getsize(path), path)


def test_recording_is_noticed():
    run = subprocess.Popen([MEMLEDGER, "run", "-q", "-o", "a.mled", "sleep", "1000"])
    try:
        wait_for_trace("a.mled")
        with Viewer("a.mled") as viewer:
            found, _ = viewer.numbers("/api/state?file=0")
            equal(found["recording"], True, "recording")
            run.send_signal(signal.SIGTERM)
            run.wait(timeout=harness.PATIENCE_S)
            found, _ = viewer.numbers("/api/state?file=0")
            equal(found["recording"], False, "recording")
    finally:
        run.kill()
        run.wait()


# ---- Hostile requests -------------------------------------------------------------------------


def test_the_cookie_does_not_go_to_other_ports():
    """A browser sends the cookies of a host to all its ports, but only below their paths."""
    with Viewer(GPT) as other:
        pass
    with Viewer(GPT) as viewer:
        check(len(viewer.place) == 17 and viewer.place != other.place, "the places", viewer.place)
        cookie = f"memledger-{viewer.port}={viewer.token}"
        for path in ("/", "/api/files", other.place + "/api/files", viewer.place,
                     viewer.place + "0/api/files", viewer.place[:-1] + "/api/files",
                     "/../" + viewer.place + "/api/files", viewer.place + "/../api/files"):
            request = f"GET {path} HTTP/1.1\r\nHost: {viewer.host}\r\nCookie: {cookie}\r\n"
            got = viewer.raw(request.encode() + b"Connection: close\r\n\r\n")
            check(got.split(b" ")[1] in (b"403", b"404"), path, got[:300])


def test_a_file_that_breaks_off_leaves_nothing():
    with Viewer(GPT) as viewer:
        request = (f"POST {viewer.place}/api/open?name=x HTTP/1.1\r\nHost: {viewer.host}\r\n"
                   f"Origin: http://{viewer.host}\r\nContent-Length: 100000\r\n"
                   f"Cookie: memledger-{viewer.port}={viewer.token}\r\n\r\n")

        def stored():
            return [name for _, _, names in os.walk(viewer.temporary) for name in names]
        with socket.create_connection(("127.0.0.1", viewer.port), timeout=harness.PATIENCE_S) as s:
            s.sendall(request.encode() + b"a" * 5000)
            harness.wait_until(stored, "the beginning of the file")
            equal(len(stored()), 1, "the beginning of the file is stored")
        harness.wait_until(lambda: not stored(), "the beginning of the file is removed")


def test_raw_requests():
    with Viewer(GPT) as viewer:
        host = f"Host: {viewer.host}\r\n".encode()
        cookie = f"Cookie: memledger-{viewer.port}={viewer.token}\r\n".encode()
        origin = f"Origin: http://{viewer.host}\r\n".encode()
        place = viewer.place.encode()
        close = b"Connection: close\r\n\r\n"
        post = b"POST " + place + b"/api/open?name=x HTTP/1.1\r\n"
        for name, request, status in (
                ("no host", b"GET " + place + b"/api/files HTTP/1.1\r\n" + cookie + close, b"40"),
                ("HTTP/1.0 without a host", b"GET " + place + b"/api/files HTTP/1.0\r\n" + cookie + close, b"403"),
                ("two hosts", b"GET " + place + b"/ HTTP/1.1\r\nHost: evil.example\r\n" + host + cookie + close,
                 b"40"),
                ("no cookie", b"GET " + place + b"/api/files HTTP/1.1\r\n" + host + close, b"403"),
                ("a body without a cookie", post + host + origin
                 + b"Content-Length: 99999999999\r\n" + close, b"403"),
                ("a body without an origin", post + host + cookie
                 + b"Content-Length: 4\r\n" + close + b"abcd", b"403"),
                ("a body of another site", post + host + cookie
                 + b"Origin: http://evil.example\r\nContent-Length: 4\r\n" + close + b"abcd", b"403"),
                ("a file of 5 GB", post + host + cookie + origin
                 + b"Content-Length: 5000000000\r\n" + close, b"413"),
                ("a preflight", b"OPTIONS " + place + b"/api/open HTTP/1.1\r\n" + host
                 + b"Origin: http://evil.example\r\n" + close, b"403"),
                ("another method", b"DELETE " + place + b"/api/files HTTP/1.1\r\n" + host + cookie + close, b"405"),
                ("a long header", b"GET " + place + b"/ HTTP/1.1\r\n" + host + b"X: " + b"a" * 200000 + b"\r\n" + close,
                 b"4"),
                ("a long address", b"GET /" + b"a" * 200000 + b" HTTP/1.1\r\n" + host + close, b"4")):
            got = viewer.raw(request)
            check(got.startswith(b"HTTP/1.") and got.split(b" ")[1].startswith(status) or
                  (status == b"4" and got == b""), name, got[:300])
            check(b"Access-Control" not in got and viewer.token.encode() not in got, name, got[:900])
        for garbage in (b"\x00" * 5000, b"\x16\x03\x01\x02\x00" + b"\xff" * 500, b"GET\r\n\r\n"):
            viewer.raw(garbage, patience=3)
        viewer.lives()


def test_half_requests_do_not_block():
    with Viewer(GPT) as viewer:
        held = [socket.create_connection(("127.0.0.1", viewer.port)) for _ in range(100)]
        for s in held:
            s.sendall(b"GET /api/files HTTP/1.1\r\nHost: ")
        viewer.lives()
        for s in held:
            s.close()


def test_the_token_is_in_no_command_line():
    """Other users of the machine can read the arguments of every process."""
    os.makedirs("bin")
    with open("bin/xdg-open", "w") as f:
        f.write('#!/bin/sh\nprintf "%s" "$1" > opened.part\nmv opened.part opened\n'
                'while test -d bin; do sleep 0.1; done\n')
    os.chmod("bin/xdg-open", 0o755)
    path = os.path.abspath("bin") + ":" + os.environ["PATH"]
    with Viewer(GPT, options=(), env={"PATH": path}) as viewer:
        harness.wait_until(lambda: os.path.exists("opened"), "a browser")
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as f:
                    check(viewer.token.encode() not in f.read(), f"process {pid} has the token")
            except OSError:
                pass
        with open("opened") as f:
            page = f.read()
        check(viewer.token not in page, "the browser's argument", page)
        equal(os.stat(page).st_mode & 0o077, 0, "rights of other users")
        equal(os.stat(os.path.dirname(page)).st_mode & 0o077, 0, "rights of other users")
        with open(page) as f:
            contains(f.read(), f"http://{viewer.host}{viewer.place}/?token={viewer.token}", "the page")


def test_another_user_gets_nothing():
    if os.geteuid() != 0:
        raise harness.Skip("only root can become another user", machine=True)
    asks = """
import os, socket, sys
os.setgroups([]); os.setgid(65534); os.setuid(65534)
for root in sys.argv[2:]:
    for folder, _, files in os.walk(root):
        for name in files:
            try:
                open(os.path.join(folder, name)).close()
            except OSError:
                continue
            sys.exit(f"{name} can be read")
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
s.sendall(f"GET /api/files HTTP/1.1\\r\\nHost: 127.0.0.1:{sys.argv[1]}\\r\\nConnection: close\\r\\n\\r\\n".encode())
sys.exit(0 if b" 403 " in s.recv(100) else "an answer")
"""
    with Viewer(SNAPSHOT) as viewer:
        os.chmod(".", 0o755)
        os.chmod(viewer.temporary, 0o1777)
        done = plain(sys.executable, "-c", asks, viewer.port, viewer.temporary)
        equal(done.returncode, 0, "another user", done.stderr)


def command_of(pid):
    with open(f"/proc/{pid}/cmdline", "rb") as f:
        return f.read().split(b"\0")


def test_ends_while_a_command_runs():
    for number in (signal.SIGINT, signal.SIGTERM):
        library = os.path.abspath("library.so")
        with Viewer(GPT, env={"LD_PRELOAD": library}) as viewer:
            os.mkfifo(library)  # programs that start from now on wait for a writer
            connection = http.client.HTTPConnection("127.0.0.1", viewer.port, timeout=harness.PATIENCE_S)
            connection.request("GET", viewer.place + "/api/leaks?file=0", headers={
                "Host": viewer.host, "Cookie": f"memledger-{viewer.port}={viewer.token}"})
            child = harness.wait_until(
                lambda: next((pid for pid in harness.children(viewer.process.pid)
                              if b"leaks" in command_of(pid)), None), "a command")
            os.kill(child, signal.SIGSTOP)  # only SIGKILL ends it
            viewer.process.send_signal(number)
            viewer.process.wait(timeout=harness.PATIENCE_S)
            check(not harness.runs(child), "the command is left")
        os.unlink(library)


# ---- In a browser ---------------------------------------------------------------------------------

GROWS = """
import os, time
kept = []
while os.path.isdir("files") and not os.path.exists("stop"):  # the folder goes with the test
    kept.append(bytearray(1 << 16))
    time.sleep(0.1)
"""


def test_in_a_browser():
    folder, browser = os.environ["WEB_FOLDER"], shutil.which("chromium")
    if not browser or not os.path.isdir(os.path.join(folder, "node_modules", "playwright-core")):
        raise harness.Skip("there is no Chromium")
    shutil.copy(GPT, "recent.mled")
    os.makedirs("files")
    shutil.copy(OOM, "files/other.mled")
    shutil.copy(SNAPSHOT, "files/snapshot.pickle")
    with open("files/wrong.txt", "w") as f:
        f.write("nothing\n")
    growing = subprocess.Popen([MEMLEDGER, "run", "-q", "--heap", "-o", "growing.mled",
                                sys.executable, "-c", GROWS])
    try:
        wait_for_trace("growing.mled")
        with Viewer() as viewer:
            with open("files/address.html", "w") as f:
                f.write('<meta http-equiv="refresh" '
                        f'content="0;url=http://{viewer.host}{viewer.place}/?token={viewer.token}">')
            seen = subprocess.Popen(["node", "tests/browser/opened.mjs", os.path.abspath("files")],
                                    cwd=folder, env={**os.environ, "CHROMIUM": browser}, text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            output = ""
            for line in seen.stdout:
                if line == "stop\n":
                    open("stop", "w").close()
                elif line == "replace\n":
                    shutil.copy(GPT, "new.mled")
                    os.replace("new.mled", "growing.mled")
                output += line
            equal(seen.wait(timeout=harness.PATIENCE_S), 0, "in the browser", output)
    finally:
        growing.kill()
        growing.wait()


def test_many_requests_at_once():
    with Viewer(GPT) as viewer:
        connections = [http.client.HTTPConnection("127.0.0.1", viewer.port,
                                                  timeout=harness.PATIENCE_S)
                       for _ in range(24)]
        headers = {"Host": viewer.host, "Cookie": f"memledger-{viewer.port}={viewer.token}"}
        for connection in connections:
            connection.request("GET", viewer.place + "/api/summary?file=0", headers=headers)
        answers = [connection.getresponse().read() for connection in connections]
        equal(len(set(answers)), 1, "different answers")


harness.main(globals())
