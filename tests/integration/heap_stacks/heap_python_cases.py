# heap_python_cases.py FILE: allocates blocks of different sizes in many ways, and writes the stack
# that Python reports for each of them to FILE.
#
# SPDX-License-Identifier: Apache-2.0
import asyncio
import atexit
import ctypes
import functools
import gc
import json
import os
import signal
import sys
import threading
import weakref

told = {}
sizes = iter(range(100_000, 1_000_000, 16))


def frames(frame):
    """[[function, file, line], …], innermost first."""
    found = []
    while frame:
        code = frame.f_code
        found.append([getattr(code, "co_qualname", code.co_name), code.co_filename, frame.f_lineno])
        frame = frame.f_back
    return found


def tell(size, what):
    told[size + 1] = {"what": what, "stack": frames(sys._getframe(1))}
    return size


def block(what):
    size = next(sizes)
    return (tell(size, what), bytearray(size))[1]


def deep(depth, what):
    return block(what) if depth == 0 else deep(depth - 1, what)


def count(what):
    for _ in range(3):
        yield block(what)


def count_from(what):
    yield from count(what)


class Made:
    def __init__(self, what):
        self.block = block(what)


class Ends:
    def __init__(self, what):
        self.what = what

    def __del__(self):
        block(self.what)


class Lazy:
    @property
    def value(self):
        return block("property")

    def __getattr__(self, name):
        return block("__getattr__")

    def __getitem__(self, key):
        return block("__getitem__")

    def __enter__(self):
        return block("__enter__")

    def __exit__(self, *exception):
        block("__exit__")


class Named(type):
    def __new__(mcs, *args):
        block("metaclass")
        return super().__new__(mcs, *args)


async def inner():
    await asyncio.sleep(0)
    return block("coroutine")


async def several():
    return await asyncio.gather(inner(), inner())


def through_c():
    sorted([3, 1, 2], key=lambda number: len(block("sorted")) * 0 + number)
    list(map(lambda number: block("map"), range(3)))
    functools.reduce(lambda a, b: len(block("reduce")), range(3))
    callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
    return callback(lambda number: len(block("ctypes")) * 0)(1)


def cycle():
    first, second = Ends("collected"), Ends("collected")
    first.other, second.other = second, first
    del first, second
    gc.collect()


def raises():
    try:
        with Lazy():
            raise ValueError
    except ValueError:
        block("except")
    finally:
        block("finally")


def special():
    lazy = Lazy()
    lazy.value, lazy.other, lazy[1]
    Named("Class", (), {})
    weak = Made("weak")
    kept = weakref.ref(weak, lambda _: block("weak reference"))
    del weak
    return kept


def generated():
    """Code that is freed, and other code in its place."""
    for number in range(60):
        source = "\n" * (number % 7) + "def made(what):\n    return block(what)\n"
        space = {"block": block}
        exec(compile(source, f"<made {number % 5}>", "exec"), space)
        space["made"]("generated")


def on_signal(number, frame):
    block("signal")


def child():
    pid = os.fork()
    if not pid:
        block("child")
        write(sys.argv[1] + ".child")
        os._exit(0)
    os.waitpid(pid, 0)


def write(path):
    with open(path, "w") as f:
        json.dump(told, f)


def main():
    deep(3, "deep")
    deep(100, "very deep")
    list(count("generator"))
    list(count_from("yield from"))
    [block("comprehension") for _ in range(2)]
    Made("__init__")
    asyncio.run(several())
    through_c()
    cycle()
    raises()
    special()
    generated()
    signal.signal(signal.SIGUSR1, on_signal)
    signal.raise_signal(signal.SIGUSR1)
    threads = [threading.Thread(target=deep, args=(5, "thread")) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    child()


if __name__ == "__main__":
    main()
    atexit.register(block, "at exit")
    write(sys.argv[1])
