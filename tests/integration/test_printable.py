#!/usr/bin/env python3
# test_printable.py: control sequences in file names, names of programs and names in a trace,
# through every command: none reaches the terminal. And CSV for spreadsheets.
#
# SPDX-License-Identifier: Apache-2.0
import csv
import io
import os
import pty
import re
import shutil
import subprocess

import harness
from harness import MEMLEDGER, check, equal, program

# Colour, a bell, a line that looks like ours, a tab, a C1 control in both spellings, a mark that
# turns the rest around, an isolate, bytes that are no UTF-8, DEL.
ODD = (b"e\x1b[31mr\x07d\nmemledger: all is well\ty\x9bz\xc2\x9b31m\xe2\x80\xaetxt\xe2\x81\xa6"
       b"\xff\xc3(\x7f\xe2\x80\xa8\r")
UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
TEXT_FORMATS = ["csv", "mxnet-csv", "mxnet-pool-csv", "mxnet-log", "tbd-log", "tbd-analysis",
                "nvidia-smi", "chrome", "json", "speedscope"]


def memledger(*arguments, **settings):
    return subprocess.run([MEMLEDGER, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=harness.PATIENCE_S, check=False, **settings)


def harmless(bytes_, what, rows=False):
    """`rows`: of a file, whose cells may have tabs and several lines."""
    if rows:
        bytes_ = bytes_.replace(b"\t", b" ").replace(b"\nmemledger: all", b" ")
    try:
        text = bytes_.decode()
    except UnicodeDecodeError as error:
        raise harness.Failure(f"{what}: no UTF-8: {error}\n{bytes_[-500:]!r}") from None
    found = UNSAFE.search(text)
    check(not found, f"{what} prints {found and found.group()!r}:", repr(text[-2000:]))
    for line in text.splitlines():
        check(not line.startswith("memledger: all is well"), f"{what} prints a line of another's")


def ask(*arguments, json=False):
    done = memledger(*arguments)
    what = "memledger " + " ".join(str(a) for a in arguments)
    harmless(done.stderr, f"{what}: stderr")
    if not json:
        harmless(done.stdout, f"{what}: stdout")
    return done


def on_terminal(*arguments):
    """What a terminal gets, which is standard output only."""
    main, end = pty.openpty()
    done = subprocess.Popen([MEMLEDGER, *arguments], stdin=subprocess.DEVNULL, stdout=end,
                            stderr=subprocess.PIPE, env=os.environ | {"TERM": "dumb"})
    os.close(end)
    text = b""
    while True:
        try:
            piece = os.read(main, 65536)
        except OSError:  # all is closed
            break
        text += piece
        if not piece:
            break
    os.close(main)
    err = done.communicate(timeout=harness.PATIENCE_S)[1]
    equal(done.returncode, 0, f"exit code of {arguments}", err)
    return text.replace(b"\r\n", b"\n")


def odd_trace():
    """A recording of an odd program into an odd file."""
    name = b"t" + ODD.replace(b"/", b"") + b".mled"
    runner = b"./p" + ODD
    shutil.copy(program("odd_names"), runner)
    done = memledger("run", "-f", "-o", name, "--", runner, ODD)
    equal(done.returncode, 0, "the program", done.stderr)
    harmless(done.stderr, "memledger run")
    return name


KEYS = ["module", "category", "label", "scope", "class", "phase", "thread", "stack", "line",
        "device", "space", "process"]


def test_reports():
    trace = odd_trace()
    for verb in ("summary", "ledger", "tree", "layers", "table", "groups", "steps", "leaks", "oom",
                 "fragmentation", "stats", "events"):
        ask(verb, trace)
        ask(verb, trace, "--json", json=True)
    for verb in ("summary", "tree", "layers", "table", "leaks", "stats", "events", "steps"):
        equal(ask(verb, trace).returncode, 0, f"memledger {verb}")
    for key in KEYS:
        equal(ask("table", "--by", key, trace).returncode, 0, f"table --by {key}")
    ask("table", "--temporary", "--within", "1s", trace)
    shutil.copy(trace, b"other" + ODD)
    for options in ((), ("--by", "label"), ("--by", "thread"), ("--by", "device"), ("--fail=1",)):
        ask("compare", *options, trace, b"other" + ODD)
    for question in ("SELECT * FROM allocations", "SELECT * FROM run", "SELECT * FROM threads",
                     ".tables"):
        equal(ask("sql", trace, question).returncode, 0, question)


def test_errors():
    trace = odd_trace()
    with open(b"no" + ODD, "wb") as f:
        f.write(b"what is this " + ODD)
    for verb in ("summary", "ledger", "tree", "layers", "table", "groups", "steps", "leaks", "oom",
                 "fragmentation", "stats", "events", "compare", "sql", "plot", "import"):
        for file in (b"missing" + ODD, b"no" + ODD):
            check(ask(verb, file).returncode != 0, f"memledger {verb} of no trace worked")
        check(ask(verb, b"--odd" + ODD, trace).returncode == 2, f"memledger {verb} --odd")
    ask(ODD)
    ask("run", "-o", b"no" + ODD + b"/" + ODD, "--", "true")
    ask("run", "--", b"./missing" + ODD)
    ask("export", "--format", ODD, trace)
    ask("export", "--format", "csv", "--table", ODD, trace)
    ask("export", "--format", "csv", "-o", b"no" + ODD + b"/" + ODD, trace)
    ask("export", "--format", "csv", "-o", trace, trace)
    ask("plot", "-o", b"no" + ODD + b"/" + ODD + b".svg", trace)
    ask("table", "--by", ODD, trace)
    ask("table", "--at", ODD, trace)
    ask("sql", trace, b"SELECT '" + ODD.replace(b"'", b""))
    ask("sql", trace, b"SELECT \"" + ODD + b"\" FROM nowhere")
    ask("groups", "--dictionary", ODD, trace)
    ask("events", "--device", ODD, trace)
    ask("help", ODD)


def test_imports():
    """What a file of another program says is wrong with it, in its own words."""
    for suffix, text in ((b".json", b'{"traceEvents": [{"ph": "' + ODD + b'"}]}'),
                         (b".txt", b"[mem] " + ODD + b"\n"),
                         (b".csv", b"memory.used [MiB], " + ODD + b"\n" + ODD + b", 1\n"),
                         (b".csv", b'"Attribute Name","Requested Size",' + ODD + b"\n" + ODD),
                         (b".pickle", b"\x80\x04c" + ODD.replace(b"\n", b"") + b"\nx\n.")):
        name = b"import" + ODD + suffix
        with open(name, "wb") as f:
            f.write(text)
        ask("import", "-f", "-o", "i.mled", name)
        for form in ("chrome", "tbd-log", "nvidia-smi", "mxnet-csv", "torch-snapshot", "pprof"):
            ask("import", "-f", "--format", form, "-o", "i.mled", name)


def test_files():
    """CSV and paths are for other programs: they are as they are, but on a terminal."""
    trace = odd_trace()
    for kind in TEXT_FORMATS:
        done = memledger("export", "--format", kind, "-o", "-", trace)
        harmless(done.stderr, f"export {kind}: stderr")
        if done.returncode == 0:
            harmless(on_terminal("export", "--format", kind, "-o", "-", trace), f"export {kind}",
                     rows=True)
    raw = memledger("export", "--format", "csv", "-o", "-", trace).stdout
    check(b"\x1b[31m" in raw, "CSV is not what was recorded any more")
    path = b"x" + ODD + b".csv"
    equal(memledger("export", "-f", "-o", path, trace).stdout, path + b"\n", "the path")
    harmless(on_terminal("export", "-f", "-o", path, trace), "the path on a terminal")
    harmless(on_terminal("plot", "-o", path + b".svg", trace), "that of a picture")
    for command in (("table", "--csv"), ("table", "--csv", "--temporary", "--within", "1s"),
                    ("layers", "--csv"), ("steps", "--csv")):
        equal(memledger(*command, trace).returncode, 0, f"{command}")
        harmless(on_terminal(*command, trace), f"{command}", rows=True)
    harmless(on_terminal("sql", "--csv", trace, "SELECT * FROM allocations"), "sql --csv",
             rows=True)
    for verb in ("summary", "tree", "table", "events", "stats"):
        harmless(on_terminal(verb, trace), f"{verb} on a terminal")


# ---- Formulas --------------------------------------------------------------

FORMULAS = ["=1+1", "+1", "-1", "@sum(a1)", "\tx", "\r=1"]


def cells(*command):
    done = memledger(*command)
    equal(done.returncode, 0, f"{command}", done.stderr)
    return {cell for row in csv.reader(io.StringIO(done.stdout.decode(), newline="")) for cell in row}


def test_formulas():
    for formula in FORMULAS:
        done = memledger("run", "-f", "-q", "-o", "t.mled", "--", program("odd_names"), formula)
        equal(done.returncode, 0, "the program", done.stderr)
        for command, name in ((("table", "--csv", "--by", "label", "t.mled"), "label"),
                              (("table", "--csv", "--temporary", "--within", "1s", "--by", "label",
                                "t.mled"), "label"),
                              (("layers", "--csv", "t.mled"), "module"),
                              (("sql", "--csv", "t.mled", "SELECT label FROM allocations"), "label"),
                              (("export", "--format", "csv", "-o", "-", "t.mled"), "label")):
            check(f"{formula} {name}" in cells(*command), f"{command} has changed {formula!r}")
            safe = cells(*command[:-1], "--safe-csv", command[-1])
            check(f"'{formula} {name}" in safe, f"{command} --safe-csv lacks {formula!r}", safe)
            wrong = [cell for cell in safe if cell[:1] in ("=", "+", "-", "@", "\t", "\r")]
            equal(wrong, [], f"{command} --safe-csv")
    equal(memledger("sql", "--csv", "--safe-csv", "t.mled", "SELECT -1, -1.5, '-1'").stdout,
          b"\"'-1\",\"'-1.5\",'-1'\n-1,-1.5,\"'-1\"\n", "numbers stay numbers")


if __name__ == "__main__":
    harness.main(globals())
