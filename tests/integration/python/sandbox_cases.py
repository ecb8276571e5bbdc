# sandbox_cases.py: a Python program that sandboxes itself and is recorded by the package.
#
#     sandbox_cases.py WHEN NUMBER...
#
# It is killed for system calls with these numbers, from WHEN on: before the recording is first
# started, between two recordings, during one, or never. Prints what start() said.
#
# SPDX-License-Identifier: Apache-2.0
import ctypes
import os
import struct
import sys

import memledger

PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, MODE_FILTER = 22, 38, 2
LOAD, JUMP_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, KILL_PROCESS = 0x7fff0000, 0x80000000


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def sandbox(numbers):
    code = [(LOAD, 0, 0, 0)]
    code += [(JUMP_EQUAL, len(numbers) - i, 0, number) for i, number in enumerate(numbers)]
    code += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, KILL_PROCESS)]
    words = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
    program = Program(len(code), ctypes.addressof(words))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.prctl(PR_SET_SECCOMP, MODE_FILTER, ctypes.byref(program), 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def start():
    try:
        memledger.start("t.mled", force=True)
        print("recording")
    except RuntimeError as error:
        print(error)


def main(when, *numbers):
    numbers = list(map(int, numbers))
    if when == "before":
        sandbox(numbers)
    start()
    if when == "between":
        memledger.stop()
        sandbox(numbers)
        start()
    if when == "during":
        sandbox(numbers)
        child = os.fork()
        if not child:
            os._exit(0)
        print("child", os.waitpid(child, 0)[1])
    memledger.stop()
    print("end")


main(*sys.argv[1:])
