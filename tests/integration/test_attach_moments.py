#!/usr/bin/env python3
# test_attach_moments.py: memledger attach at random moments never harms the program. TEST_ATTACHES
# sets how often for each program; scripts/attach-moments.sh does it fifty times.
#
# SPDX-License-Identifier: Apache-2.0
import collections
import contextlib
import importlib.util
import os
import random
import shutil
import socket
import subprocess
import sys
import threading
import time

import harness
from attaching import begin, end
from container import Container
from harness import Skip, equal, program

TIMES = int(os.environ.get("TEST_ATTACHES", "10"))
SLOW_TIMES = int(os.environ.get("TEST_ATTACHES", "1"))  # where an attach takes a second
HERE = os.path.dirname(os.path.abspath(__file__))


@contextlib.contextmanager
def running(*command):
    """With its standard error in a file."""
    with open("err.txt", "w") as err:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=err, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def read(path):
    with open(path) as file:
        return file.read()


def attach_briefly(process, *options):
    """At some moment, for a moment."""
    time.sleep(random.random() / 50)
    end(begin(process.pid, *options))
    equal(process.poll(), None, "exit code of the program, which must go on")


def test_threads():
    with running(program("churns")) as process:
        equal(harness.read_line(process), "ready", "first line")
        for i in range(TIMES):
            attach_briefly(process, *["--heap"][:i % 3])
        out, _ = process.communicate(timeout=harness.PATIENCE_S)
        equal((out, process.returncode), ("ok\n", 0), "end of the program")


def need_pytorch():
    found = importlib.util.find_spec("torch")
    if not found or not found.origin:  # the folder beside this file is no package
        raise Skip("no PyTorch")
    return found.origin


def test_pytorch():
    need_pytorch()
    with running(sys.executable, f"{HERE}/torch/trains_again.py") as process:
        wanted = harness.read_line(process)
        warned = os.path.getsize("err.txt")
        for i in range(SLOW_TIMES):
            print("100", file=process.stdin, flush=True)
            attach_briefly(process, *["--heap"][:i % 2])
            equal(harness.read_line(process), wanted, "weights of a training that was recorded")
        process.stdin.close()
        equal(process.wait(harness.PATIENCE_S), 0, "exit code of the training")
        equal(read("err.txt")[warned:], "", "what PyTorch or memledger says meanwhile")


def need_root():
    if os.geteuid() != 0:
        raise Skip("only root enters a container", machine=True)


def attach_to_container(container, *options):
    time.sleep(random.random() / 50)
    end(begin(container.pid(), *options))
    equal(container.left(), [], "what memledger has left in the container")


def test_threads_in_a_container():
    """Under a filter like those of container engines."""
    need_root()
    container = Container("churns", within=["contained"], user=1234)
    equal(harness.read_line(container.process), "ready", "first line")
    for i in range(TIMES):
        attach_to_container(container, *["--heap"][:i % 3])
    equal(container.end(), ("ok\n", 0), "end of the program")


def test_pytorch_in_a_container():
    need_root()
    if not all(path.startswith("/usr/") for path in (sys.executable, need_pytorch())):
        raise Skip("PyTorch is not in /usr, the only folder that the container sees", machine=True)
    os.makedirs("root/home")
    shutil.copy(f"{HERE}/torch/trains_again.py", "root/home")
    container = Container(sys.executable, "/home/trains_again.py", within=["contained"])
    wanted = harness.read_line(container.process)
    for i in range(SLOW_TIMES):
        print("100", file=container.process.stdin, flush=True)
        attach_to_container(container, *["--heap"][:i % 2])
        equal(harness.read_line(container.process), wanted,
              "weights of a training that was recorded")
    equal(container.end(), ("", 0), "end of the training")


def ask(replies, number):
    """Puts and gets until `replies` ends, and counts the right answers."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect("server.sock")
        lines = connection.makefile("rw")
        while not replies["end"]:
            text = "x" * random.randrange(1, 4000)
            for said, wanted in ((f"put {number} {text}", "ok"), (f"get {number}", text),
                                 (f"get {number}?", "none")):
                print(said, file=lines, flush=True)
                replies[number, "asked"] += 1
                replies[number, "right"] += lines.readline() == wanted + "\n"


def test_server():
    """In C++, with a thread for each connection and exceptions."""
    if not os.path.exists(program("serves")):
        raise Skip("no C++ compiler")
    replies = collections.Counter()
    with running(program("serves"), "server.sock") as process:
        equal(harness.read_line(process), "ready", "first line")
        clients = [threading.Thread(target=ask, args=(replies, n), daemon=True) for n in range(3)]
        for client in clients:
            client.start()
        for i in range(TIMES):
            attach_briefly(process, *["--heap"][:i % 3])
        replies["end"] = 1
        for client in clients:
            client.join(harness.PATIENCE_S)
        for n, client in enumerate(clients):
            harness.check(not client.is_alive(), f"client {n} waits for an answer")
            harness.check(replies[n, "asked"] > 0, f"client {n} had no answer")
            equal(replies[n, "right"], replies[n, "asked"], f"right answers to client {n}")
        out, _ = process.communicate(timeout=harness.PATIENCE_S)
        equal((out, process.returncode), ("ok\n", 0), "end of the server")


def redis(*command):
    return subprocess.run([command[0], "-s", "redis.sock", *command[1:]], capture_output=True,
                          text=True, timeout=harness.PATIENCE_S).stdout


def test_redis():
    if not shutil.which("redis-server") or not shutil.which("redis-benchmark"):
        raise Skip("no Redis")
    with running("redis-server", "--port", "0", "--unixsocket", "redis.sock", "--save",
                 "") as process:
        harness.wait_until(lambda: redis("redis-cli", "ping") == "PONG\n", "an answer of Redis")
        load = subprocess.Popen(["redis-benchmark", "-s", "redis.sock", "-q", "-n", "20000", "-t",
                                 "lpush"], stdout=subprocess.DEVNULL)
        for _ in range(SLOW_TIMES):
            attach_briefly(process, "--heap")
        equal(load.wait(harness.PATIENCE_S), 0, "exit code of the load")
        equal(redis("redis-cli", "llen", "mylist"), "20000\n", "elements of the list")
        redis("redis-cli", "shutdown", "nosave")
        equal(process.wait(harness.PATIENCE_S), 0, "exit code of Redis")


if __name__ == "__main__":
    harness.main(globals())
