#!/usr/bin/env python3
# test_other_machine.py: a 32-bit program. The recorder cannot be loaded into it: a note says so
# once, and the program starts without LD_PRELOAD, so that its loader does not complain.
#
# SPDX-License-Identifier: Apache-2.0
import os
import struct

import harness
from harness import check, contains, equal, plain, run

BASE = 0x08048000

# Writes its environment to stdout, each variable with its NUL, and ends with 7.
CODE = bytes.fromhex(
    "89e6"          # mov esi, esp
    "ad"            # lodsd                  number of arguments
    "8d748604"      # lea esi, [esi+eax*4+4] behind them
    "ad"            # next: lodsd            a variable
    "85c0"          # test eax, eax
    "741a"          # jz end
    "89c1"          # mov ecx, eax
    "31d2"          # xor edx, edx
    "42"            # more: inc edx
    "803c1100"      # cmp byte [ecx+edx], 0
    "75f9"          # jne more
    "42"            # inc edx
    "bb01000000"    # mov ebx, 1
    "b804000000"    # mov eax, 4             write
    "cd80"          # int 0x80
    "ebe1"          # jmp next
    "bb07000000"    # end: mov ebx, 7
    "b801000000"    # mov eax, 1             exit
    "cd80")         # int 0x80


def write_program(path):
    """The smallest ELF file for i386: one header, one segment."""
    header_bytes, segment_bytes = 52, 32
    begin = header_bytes + segment_bytes
    total = begin + len(CODE)
    header = b"\x7fELF\x01\x01\x01" + bytes(9) + struct.pack(
        "<HHIIIIIHHHHHH", 2, 3, 1, BASE + begin, header_bytes, 0, 0, header_bytes, segment_bytes,
        1, 0, 0, 0)
    segment = struct.pack("<IIIIIIII", 1, 0, BASE, BASE, total, total, 5, 4096)
    with open(path, "wb") as f:
        f.write(header + segment + CODE)
    os.chmod(path, 0o755)


def prepare():
    write_program("small")
    try:
        alone = plain("./small")
    except OSError as error:
        raise harness.Skip(f"no 32-bit program runs here: {error}", machine=True) from None
    equal(alone.returncode, 7, "exit code alone", alone.stdout)
    return alone


def variables(text):
    return dict(v.split("=", 1) for v in text.split("\0") if "=" in v)


def check_run(alone, command, options):
    result = run(*command, options=["-q", "-f", *options])
    equal(result.code, 7, f"exit code with {options}", result)
    equal(variables(result.out), variables(alone.stdout), f"its environment with {options}")
    return result


def test_program():
    alone = prepare()
    for options in ((), ("--heap",), ("--cuda", "injection")):
        result = check_run(alone, ["./small"], options)
        contains(result.err, "./small is not an x86-64 program", "message")
        equal(result.err.count("\n"), 1, "lines of messages", result)


def test_interpreter_of_a_script():
    """The first line's program is the one that runs."""
    alone = prepare()
    with open("script", "w", encoding="utf-8") as f:
        f.write(f"#!{os.path.abspath('small')}\n")
    os.chmod("script", 0o755)
    result = check_run(alone, ["./script"], ("--heap",))
    contains(result.err, "./script is not an x86-64 program", "message")


def test_sample_only():
    alone = prepare()
    result = check_run(alone, ["./small"], ("--sample-only",))
    check("x86-64" not in result.err, "a message about what was not asked for", result)


harness.main(globals())
