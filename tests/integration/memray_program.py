# memray_program.py: what memray records in the test: threads, native callers, temporaries, memory
# that is never freed, mappings.
#
# SPDX-License-Identifier: Apache-2.0
import json
import mmap
import threading

kept = []


def keep(size):
    kept.append(bytearray(size))


def temporary(size):
    return len(bytes(size))


def mapped(size):
    with mmap.mmap(-1, size) as memory:
        memory[0] = 1
        keep(size // 4)


def through_c(size):
    return sorted(range(3), key=lambda number: temporary(size) or number)


def work(base):
    for number in range(20):
        keep(base + number)
        through_c(base // 2)
        if number == 7:
            mapped(1 << 22)


thread = threading.Thread(target=work, args=(20_000,), name="worker")
thread.start()
thread.join()
work(50_000)
keep(8_000_000)
kept.pop()
json.dumps({"numbers": list(range(5000))})
