# python_many.py: more lines of Python than a program in little address space has room for.
#
#     python_many.py LIBRARY ROOM_KIB BLOCKS
#
# Each block is allocated through its own generated functions, as code from a template is. The
# program limits its address space before the first block: to what it has and that much more.
#
# SPDX-License-Identifier: Apache-2.0
import ctypes
import resource
import sys

DEPTH = 4  # functions that call each other


def function(block, level):
    body = f"f{block}_{level + 1}" if level + 1 < DEPTH else "ask"
    return f"def f{block}_{level}(address): {body}(address)\n"


def main(library, room_kib, blocks):
    asks = ctypes.CDLL(library)
    asks.ask.argtypes = [ctypes.c_size_t, ctypes.c_int64]
    asks.ask.restype = None
    names = {"ask": lambda address: asks.ask(address, 512)}
    source = "".join(function(block, level) for block in range(blocks) for level in range(DEPTH))
    exec(compile(source, "generated.py", "exec"), names)
    with open("/proc/self/statm") as f:
        pages = int(f.read().split()[0])
    bytes_most = (pages << 12) + (room_kib << 10)
    resource.setrlimit(resource.RLIMIT_AS, (bytes_most, bytes_most))
    for block in range(blocks):
        names[f"f{block}_0"](0x100000 + 512 * block)
    print(blocks, "blocks")


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
