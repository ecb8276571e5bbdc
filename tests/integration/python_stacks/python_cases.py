# python_cases.py: allocates blocks from all kinds of Python code, and writes down the stack as
# Python reports it. `python_cases.py LIBRARY FOLDER CASE,...` leaves FOLDER/PID.json for each
# process: address -> [[function, file, line], ...], innermost first.
#
# For CPython 3.9 and later, without any package.
#
# SPDX-License-Identifier: Apache-2.0
import asyncio
import contextlib
import ctypes
import functools
import importlib
import itertools
import json
import multiprocessing
import os
import sys
import threading
import traceback

LIBRARY, FOLDER, CASES = sys.argv[1:4]
ASKS = ctypes.CDLL(LIBRARY)  # lets go of the interpreter's lock in each call
ASKS_LOCKED = ctypes.PyDLL(LIBRARY)
for library in (ASKS, ASKS_LOCKED):
    library.ask.argtypes = [ctypes.c_size_t, ctypes.c_int64]
    library.ask.restype = None
FULL_NAMES = sys.version_info >= (3, 11)

told = {}
addresses = itertools.count(0x100000, 512)


def note(address, frame):
    """Where `frame` is, by the traceback module, with the full names of functions."""
    frames = [f for f, _ in traceback.walk_stack(frame)]
    summary = traceback.StackSummary.extract(traceback.walk_stack(frame), limit=None,
                                             lookup_lines=False)
    names = [f.f_code.co_qualname if FULL_NAMES else f.f_code.co_name for f in frames]
    told[address] = [[name, s.filename, s.lineno] for name, s in zip(names, summary)][:64]
    return 512


def ask(library=ASKS):
    address = next(addresses)
    return library.ask(address, note(address, sys._getframe())) or address


def write_down():
    with open(os.path.join(FOLDER, f"{os.getpid()}.json"), "w") as f:
        json.dump(told, f)


# ---- Code of all sorts -----------------------------------------------------------------


def outer(n=3):
    return ask() if not n else outer(n - 1)


def decorate(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    return wrapper


@decorate
@decorate
def decorated(x, y=2):
    return (
        x,
        ask(),
        y)


def generator():
    for _ in range(3):
        ask()
        yield ask()
    yield from (ask() for _ in range(2))


class Body:
    asked = ask()

    def __init__(self):
        self.x = ask()

    def method(self):
        return ask()

    @property
    def prop(self):
        return ask()

    @classmethod
    def of_class(cls):
        return ask()

    @staticmethod
    def of_nobody():
        return ask()

    def __enter__(self):
        ask()
        return self

    def __exit__(self, *_):
        ask()

    def __getattr__(self, name):
        return ask()

    def __lt__(self, other):
        return ask() > 1

    def __del__(self):
        ask()

    class Inner:
        def deep(self):
            return [lambda: ask()][0]()


class Derived(Body):
    def __init__(self):
        super().__init__()
        ask()


@contextlib.contextmanager
def managed():
    ask()
    try:
        yield
    finally:
        ask()


def case_plain():
    for _ in range(25):  # long enough to be specialised by the interpreter
        outer()
        ask(ASKS_LOCKED)
        decorated(1, y=3)
        body = Derived()
        body.method(), body.prop, Body.of_class(), Body.of_nobody(), body.unknown
        Body.Inner().deep()
        sorted([body, body, body])
        del body
        list(generator())
        [ask() for _ in range(2)]
        {i: ask() for i in range(2)}
        {ask() for _ in range(2)}
        list(ask() for _ in range(2))
        list(map(lambda _: ask(), range(2)))
        functools.reduce(lambda a, b: ask(), range(3))
        functools.partial(ask, ASKS)()
        with managed(), Body():
            ask()
        try:
            raise ValueError(ask())
        except ValueError:
            ask()
        finally:
            ask()
        first, \
            second = ask(), \
            ask()
    send = (lambda: (yield ask()))()
    next(send)
    send.close()


def case_made():
    """Code that is made, dies, and whose place other code takes."""
    names = {"ask": ask}
    for i in range(60):
        exec("\n" * i + "ask()", names)
        eval("(" + "\n" * (i % 7) + "ask())", names)
        exec(f"def made_{i % 3}():\n" + "    pass\n" * (i % 5) + "    ask()\nmade_%d()" % (i % 3),
             names)
        exec(compile("pass\n" * i + "ask()", f"made-{i % 4}.py", "exec"), names)
    exec(compile("def größe():\n  ask()\ngröße()", "Übung.py", "exec"), names)
    exec(compile("def 大():\n  ask()\n大()", "練習.py", "exec"), names)
    exec(compile("ask()", "\U0001f600.py", "exec"), names)
    exec(compile("ask()", "", "exec"), names)
    exec(compile("ask()", "x" * 2000, "exec"), names)
    exec(compile("\n" * 70000 + "ask()\n" + "\n" * 300 + "ask(\n\n)", "long.py", "exec"), names)
    module = os.path.join(FOLDER, "imported_by_cases.py")
    with open(module, "w") as f:
        f.write("import __main__\n\n__main__.ask()\n\n\ndef later():\n    __main__.ask()\n")
    sys.path.insert(0, FOLDER)
    importlib.import_module("imported_by_cases").later()


def case_deep():
    sys.setrecursionlimit(5000)
    for depth in (10, 62, 63, 64, 65, 200, 2000):
        outer(depth)


def in_thread(barrier):
    barrier.wait()
    for i in range(100):
        outer(i % 10)
        [ask() for _ in range(2)]


def case_threads():
    barrier = threading.Barrier(4)
    threads = [threading.Thread(target=in_thread, args=[barrier]) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


async def coroutine(n):
    await asyncio.sleep(0)
    ask()
    async for _ in ticks(2):
        ask()
    if n:
        await coroutine(n - 1)


async def ticks(n):
    for i in range(n):
        await asyncio.sleep(0)
        ask()
        yield i


async def several():
    loop = asyncio.get_running_loop()
    await asyncio.gather(*(coroutine(n) for n in range(4)))
    await loop.run_in_executor(None, outer)


def case_asyncio():
    asyncio.run(several())


def in_process(n):
    told.clear()
    for _ in range(3):
        outer(n)
        Body().method()
    write_down()


def case_processes():
    outer()
    for method in ("fork", "spawn"):
        context = multiprocessing.get_context(method)
        children = [context.Process(target=in_process, args=[n]) for n in range(1, 4)]
        for child in children:
            child.start()
        for child in children:
            child.join()
            if child.exitcode:
                sys.exit(f"a child ended with {child.exitcode}")
    outer()


def case_traced():
    """While a debugger looks on."""
    sys.settrace(lambda *_: (lambda *_: None))
    try:
        for _ in range(3):
            outer()
            decorated(1)
    finally:
        sys.settrace(None)


def case_strangers():
    """A thread that Python knows nothing of."""
    address = next(addresses)
    told[address] = []
    ASKS.ask_elsewhere(ctypes.c_size_t(address))


IN_SUBINTERPRETER = """
import ctypes
ctypes.CDLL({library!r}).ask(ctypes.c_size_t(0x200000), ctypes.c_int64(512))
"""


def case_subinterpreters():
    """Only that nothing breaks."""
    outer()
    try:
        import _interpreters as interpreters
    except ImportError:
        import _xxsubinterpreters as interpreters
    number = interpreters.create()
    try:
        interpreters.run_string(number, IN_SUBINTERPRETER.format(library=LIBRARY))
    except Exception as e:  # newer versions do not let it have ctypes
        print(e)
    interpreters.destroy(number)
    outer()


def case_end():
    """Threads that ask while the interpreter ends, without its lock."""
    outer()
    for i in range(3):
        threading.Thread(target=ASKS.ask_often, args=[0x200000 + 512 * i, 1 << 31],
                         daemon=True).start()


if __name__ == "__main__":
    for case in CASES.split(","):
        globals()[f"case_{case}"]()
    write_down()
