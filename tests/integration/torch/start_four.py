# start_four.py: starts four ranks as torchrun does. That of PyTorch 1.13 fails on Python 3.11.
#
# SPDX-License-Identifier: Apache-2.0
import os
import socket
import subprocess
import sys

RANKS = 4


def main():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(RANKS),
              "TORCHELASTIC_RUN_ID": "four"}
    started = [subprocess.Popen([sys.executable, *sys.argv[1:]],
                                env={**os.environ, **shared, "RANK": str(rank)})
               for rank in range(RANKS)]
    sys.exit(max(process.wait() for process in started))


main()
