# churns_tensors.py: threads that each have at most LIVE tensors of ELEMENTS floats at a time, until
# standard input ends. For test_torch_attach.py.
#
# SPDX-License-Identifier: Apache-2.0
import sys
import threading

import torch

THREADS = 4
LIVE = 3
ELEMENTS = 100000


def churn():
    while wanted:
        first = torch.ones(ELEMENTS)
        second = first * 2
        third = first + second
        del first, second, third


torch.set_num_threads(1)
wanted = True
threads = [threading.Thread(target=churn) for _ in range(THREADS)]
for thread in threads:
    thread.start()
for line in sys.stdin:
    print(THREADS * LIVE * ELEMENTS * 4, flush=True)
wanted = False
for thread in threads:
    thread.join()
