# heap_python_ends.py: allocates while the interpreter ends, in daemon threads and subinterpreters.
#
# SPDX-License-Identifier: Apache-2.0
import atexit
import sys
import threading
import zlib

DATA = bytes(100_000)


def forever(has_allocated):
    while True:
        zlib.compress(DATA, 1)  # allocates without the interpreter's lock
        has_allocated.set()


class Late:
    def __del__(self):
        bytearray(20_000)


def subinterpreters():
    try:
        import _interpreters as interpreters
    except ImportError:
        try:
            import _xxsubinterpreters as interpreters
        except ImportError:
            return
    for _ in range(3):
        number = interpreters.create()
        interpreters.run_string(number, "import json; x = [bytearray(i) for i in range(5000)]")
        interpreters.destroy(number)


subinterpreters()
allocated = [threading.Event() for _ in range(4)]
for event in allocated:
    threading.Thread(target=forever, args=(event,), daemon=True).start()
late = Late()
sys.late = Late()
atexit.register(bytearray, 30_000)
for event in allocated:
    event.wait()
print("done")
