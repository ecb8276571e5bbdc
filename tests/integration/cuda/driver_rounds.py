# driver_rounds.py THREADS: each thread allocates and frees memory of the CUDA driver in rounds,
# through functions that ctypes found at the beginning, until standard input ends. For each line it
# stops between two rounds, says how many allocations it has made and how many bytes it holds, and
# goes on at the next line.
#
# SPDX-License-Identifier: Apache-2.0
import ctypes
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from line_reader import Lines

HELD = 8
MIB = 1 << 20

cuda = ctypes.CDLL("libcuda.so.1")
allocate, release = cuda.cuMemAlloc_v2, cuda.cuMemFree_v2
context = ctypes.c_void_p()
running = threading.Event()
ended = threading.Event()


def must(result):
    assert result == 0, result


class Worker(threading.Thread):
    def __init__(self):
        super().__init__()
        self.allocations = self.bytes = 0
        self.held = []
        self.at_rest = threading.Event()
        self.start()

    def allocate(self):
        address, size = ctypes.c_uint64(), MIB * (1 + self.allocations % 5)
        must(allocate(ctypes.byref(address), ctypes.c_size_t(size)))
        self.held.append((address, size))
        self.allocations += 1
        self.bytes += size

    def free_oldest(self):
        address, size = self.held.pop(0)
        must(release(address))
        self.bytes -= size

    def run(self):
        must(cuda.cuCtxSetCurrent(context))
        for _ in range(HELD):
            self.allocate()
        while not ended.is_set():
            if not running.is_set():
                self.at_rest.set()
                running.wait()
            self.free_oldest()
            self.allocate()
            time.sleep(0.0005)


def main():
    lines = Lines()
    must(cuda.cuInit(0))
    must(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    running.set()
    workers = [Worker() for _ in range(int(sys.argv[1]))]
    while lines.next():
        for worker in workers:
            worker.at_rest.clear()
        running.clear()
        for worker in workers:
            worker.at_rest.wait()
        print(sum(w.allocations for w in workers), sum(w.bytes for w in workers), flush=True)
        if not lines.next():
            break
        running.set()
    ended.set()
    running.set()
    for worker in workers:
        worker.join()


main()
