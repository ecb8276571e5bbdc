#!/usr/bin/env python3
"""The programs in docs/api.md compile as C99 and as C++, and run without memledger.

usage: test_docs_api.py API_MD INCLUDE CC [CC_ARGUMENT]...

A block marked ```c with a main() is a program; without one it is the body of a
function, given what the guide's other fragments speak of.

SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import subprocess
import sys
import tempfile

API_MD, INCLUDE, CC = sys.argv[1], sys.argv[2], sys.argv[3:]

FRAGMENT = """#include <stdlib.h>
#include "memledger/memledger.h"
void fragment(void *p, void *q, size_t bytes, memledger_space space);
void fragment(void *p, void *q, size_t bytes, memledger_space space)
{
    (void)p, (void)q, (void)bytes, (void)space;
%s
}
int main(void)
{
    return 0;
}
"""


def compile_and_run(text, folder, language, standard, *more):
    source, program = (os.path.join(folder, name) for name in ("example", "program"))
    with open(source, "w", encoding="utf-8") as f:
        f.write(text)
    subprocess.run(CC + ["-x", language, "-std=" + standard, "-Wall", "-Wextra", "-pedantic",
                         "-Werror", *more, "-I", INCLUDE, source, "-o", program], check=True)
    subprocess.run([program], check=True, cwd=folder, stdout=subprocess.DEVNULL)


def has_cxx():
    return subprocess.run(CC + ["-x", "c++", "-fsyntax-only", os.devnull],
                          stderr=subprocess.DEVNULL).returncode == 0


with open(API_MD, encoding="utf-8") as guide:
    blocks = re.findall(r"^```c\n(.*?)^```$", guide.read(), re.MULTILINE | re.DOTALL)
if not blocks:
    sys.exit("no example found")
with tempfile.TemporaryDirectory() as where:
    for block in blocks:
        program = block if "int main" in block else FRAGMENT % block
        try:
            compile_and_run(program, where, "c", "c99")
            if has_cxx():
                compile_and_run(program, where, "c++", "c++11", "-Wno-missing-field-initializers")
        except subprocess.CalledProcessError as e:
            sys.exit("%s\n%s" % (program, e))
