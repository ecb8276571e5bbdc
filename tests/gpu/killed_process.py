# killed_process.py: two processes hold memory of one GPU; one is killed while the other works.
# The last reading may come before or after the killed one's end.
#
# SPDX-License-Identifier: Apache-2.0
import os
import signal
import subprocess
import sys
import time

import torch

GIB = 1 << 30


def hold():
    held = torch.empty(2 * GIB, dtype=torch.uint8, device="cuda")
    torch.cuda.synchronize()
    print(held.numel(), flush=True)
    signal.pause()


def main(after_s):
    victim = subprocess.Popen([sys.executable, __file__], stdout=subprocess.PIPE)
    kept = torch.ones(GIB // 4, dtype=torch.float32, device="cuda")
    victim.stdout.readline()
    victim.send_signal(signal.SIGKILL)
    end = time.monotonic() + after_s
    while time.monotonic() < end:
        kept.add_(1).sum().item()
    os._exit(0)


if len(sys.argv) > 1:
    main(float(sys.argv[1]))
else:
    hold()
