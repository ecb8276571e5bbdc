# memcached.py: a server that drops its rights before it starts most of its threads, where the
# suite runs as root.
#
# SPDX-License-Identifier: Apache-2.0
import os
import signal
import socket

from stage import PATIENCE_S, Server, free_port


def connected(port):
    try:
        return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
    except OSError:
        return None


def store(port):
    """The answers to a few thousand commands over several connections."""
    answers = []
    for name in range(12):
        with connected(port) as s, s.makefile("rwb") as f:
            for i in range(300):
                f.write(b"set k%d.%d 0 0 100\r\n%b\r\n" % (name, i, b"x" * 100))
                f.flush()
                answers.append(f.readline())
            f.write(b"get k%d.7\r\n" % name)
            f.flush()
            answers.append(f.readline() + f.readline())
    return answers


def play(record, path):
    port = free_port()
    command = ["memcached", "-l", "127.0.0.1", "-p", str(port), "-t", "24", "-m", "16"]
    if os.getuid() == 0:
        command += ["-u", "nobody"]
    with Server(record("memcached", command), path, as_started=True) as server:
        server.wait_until(lambda: connected(port))
        return {"answers": store(port), "stop": server.stop(signal.SIGTERM)}
