# start_ranks.py: starts two ranks as torchrun does. That of PyTorch 1.13 fails on Python 3.11.
#
# SPDX-License-Identifier: Apache-2.0
import os
import socket
import subprocess
import sys

RANKS = 2


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main():
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free_port(), "WORLD_SIZE": RANKS}
    started = []
    for rank in range(RANKS):
        own = {name: str(value) for name, value in {**shared, "RANK": rank}.items()}
        started.append(subprocess.Popen([sys.executable, *sys.argv[1:]], env={**os.environ, **own}))
    sys.exit(max(process.wait() for process in started))


main()
