#!/usr/bin/env python3
# test_completion.py: bash's completions of a partial command line.
#
# SPDX-License-Identifier: Apache-2.0
import harness
from harness import MEMLEDGER, check, equal, plain

ASK = """
compopt() { :; }                       # it works in a terminal alone
source <("$1" completion bash)
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_memledger
printf '%s\\n' "${COMPREPLY[@]}"
"""


def offers(*words):
    done = plain("bash", "-c", ASK, "bash", MEMLEDGER, "memledger", *words)
    equal((done.returncode, done.stderr), (0, ""), f"completion of {words}")
    return done.stdout.split()


def test_commands_and_options():
    equal(offers("summ"), ["summary"], "commands")
    check("--dictionary=" in offers("groups", "--d"), "no option of groups")
    equal(offers("plot", "--kind", "ca"), ["categories"], "kinds of pictures")
    equal(offers("plot", "-k", "ca"), ["categories"], "kinds of pictures, by the letter")
    equal(offers("plot", "--kind", "=", "ca"), ["categories"], "kinds, as bash splits them")


def test_topics():
    equal(offers("help", "summ"), ["summary"], "commands to explain")
    equal(sorted(offers("help", "py")), ["pytest", "python", "python-read", "pytorch"], "pages")
    equal(offers("help", "topi"), ["topics"], "the list of pages")


def test_formats_and_dictionaries():
    equal(sorted(offers("export", "--format", "mxnet-")),
          ["mxnet-csv", "mxnet-log", "mxnet-pool-csv"],
          "formats to export")
    check({"mxnet-csv", "nvidia-smi"} <= set(offers("import", "--format", "")),
          "formats to import")
    equal(offers("groups", "--show", "mxnet-l"), ["mxnet-lstm"], "dictionaries to show")
    open("mxnet-mine.txt", "w").close()
    equal(sorted(offers("groups", "-d", "mxnet-")), ["mxnet-lstm", "mxnet-mine.txt"],
          "dictionaries and files")
    equal(offers("plot", "--dictionary", "mxnet-m"), ["mxnet-mine.txt"], "dictionaries of plot")


harness.main(globals())
