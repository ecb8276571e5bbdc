#!/usr/bin/env python3
# test_recorder_calls.py: the table of the recorder's system calls (src/base/recorder_calls.h) has
# all of them: those that its sources name, and those behind the functions that its libraries may
# import (symbols/*.imports.txt).
#
# SPDX-License-Identifier: Apache-2.0
import os
import re

import harness
from harness import check

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "..", "..", "src")
SHARED = ("base/proc_stat.c", "base/seccomp_state.h")  # of other folders, inside the target too
# Make the program's own calls for it.
PASS_ON = ("exit_hooks.c", "seccomp_hooks.c")
# Make calls only in a process that has no filter.
WITHOUT_FILTERS = ("exit_copy.c",)

# What libc's functions ask of the kernel.
CALLS_OF = {
    "clock_gettime": ["clock_gettime"], "close": ["close"], "connect": ["connect"],
    "fcntl": ["fcntl"], "fstat": ["fstat", "newfstatat"], "ftruncate": ["ftruncate"],
    "getcwd": ["getcwd"], "geteuid": ["geteuid"], "getpid": ["getpid"], "getppid": ["getppid"],
    "getrlimit": ["getrlimit", "prlimit64"], "getsockopt": ["getsockopt"], "madvise": ["madvise"],
    "mincore": ["mincore"], "open": ["openat"], "pthread_mutex_lock": ["futex"],
    "pthread_mutex_unlock": ["futex"], "pthread_once": ["futex"], "read": ["read"],
    "readlink": ["readlink"], "sendmsg": ["sendmsg"], "sendto": ["sendto"],
    "setsockopt": ["setsockopt"], "socket": ["socket"], "write": ["write"],
}
# Functions that make none, or only those that malloc, the loader, and the CUDA driver when it
# starts make for the program anyway.
NO_CALLS = set("""
    __cxa_atexit __environ __errno_location __progname_full __pthread_key_create __register_atfork
    _dl_find_object _r_debug abort dl_iterate_phdr dladdr dladdr1 dlclose dlerror dlopen dlvsym
    environ free getauxval getenv malloc memcmp memcpy memmove memset on_exit program_invocation_name
    pthread_attr_destroy pthread_attr_init pthread_attr_setdetachstate pthread_attr_setstacksize
    pthread_create pthread_key_create pthread_setcancelstate pthread_setspecific snprintf strchr
    strcmp strcpy
    strcspn strlen strncmp strncpy strnlen strpbrk strrchr strstr
    """.split())


def text_of(*path):
    with open(os.path.join(SOURCES, *path)) as f:
        return f.read()


def table():
    return set(re.findall(r"SYS_([a-z]\w*)", text_of("base", "recorder_calls.h")))


def test_sources():
    names = [os.path.relpath(os.path.join(folder, name), SOURCES)
             for folder, _, files in os.walk(os.path.join(SOURCES, "capture")) for name in files
             if name.endswith((".c", ".h")) and name not in PASS_ON + WITHOUT_FILTERS]
    for name in [*names, *SHARED]:
        lacking = set(re.findall(r"SYS_([a-z]\w*)", text_of(name))) - table()
        check(not lacking, f"{name} makes calls that base/recorder_calls.h lacks: {lacking}")


def test_imports():
    for library in "libmemledger", "libmemledger-heap":
        with open(os.path.join(HERE, "symbols", f"{library}.imports.txt")) as f:
            imports = {line.strip() for line in f if not line.startswith("#")} - {""}
        for name in imports - NO_CALLS:
            check(name in CALLS_OF, f"{library}.so imports {name}: which system calls does it make?")
            lacking = set(CALLS_OF[name]) - table()
            check(not lacking, f"{name} makes calls that base/recorder_calls.h lacks: {lacking}")


harness.main(globals())
