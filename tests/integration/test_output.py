#!/usr/bin/env python3
# test_output.py: where `memledger run` writes, what it rejects before it starts the program,
# and its messages.
#
# SPDX-License-Identifier: Apache-2.0
import os
import re
import socket
import stat
import subprocess

import harness
from harness import check, contains, equal, program, run


def refused(code, message, *command, **settings):
    """Nothing ran, one clear line was printed."""
    result = run(*command, **settings)
    equal(result.code, code, "exit code", result)
    check(re.fullmatch(f"memledger: .*{message}.*\n", result.err), f"message lacks {message!r}",
          result)
    equal(result.out, "", "output of a program that must not have run")
    return result


def broken_script():
    with open("broken", "w") as f:
        f.write("#!/no/such/interpreter\n")
    os.chmod("broken", 0o755)


def test_not_found():
    refused(127, "no such program in PATH", "no-such-program-here")
    refused(127, "no such program", "./no-such-program-here")
    equal(os.listdir(), [], "files left behind")


def test_python_script():
    """For a script that is no program, the message names the way: python3."""
    with open("train.py", "w") as f:
        f.write("print()\n")
    refused(126, "memledger run -- python3 ./train.py", "./train.py")
    refused(126, "memledger run -- python3 train.py", "train.py")


def test_not_runnable():
    with open("data", "w") as f:
        f.write("text\n")
    refused(126, "./data is not an executable file", "./data")
    os.mkdir("folder")
    refused(126, "./folder is a directory; name a program", "./folder")
    os.symlink("/bin/true", "mine")
    refused(127, "no such program in PATH; use ./mine", "mine")
    with open("old.mled", "w") as f:
        f.write("text\n")
    refused(127, "no such program in PATH; memledger summary shows a trace", "old.mled")
    broken_script()
    refused(126, "cannot run ./broken: No such file", "./broken")
    check(not os.path.exists("t.mled"), "a trace of nothing was left")


def test_no_program():
    done = harness.plain(harness.MEMLEDGER, "run")
    equal(done.returncode, 2, "exit code")
    contains(done.stderr, "name the program", "message")


def test_templates():
    result = run(program("ends"), "exit", 0, trace="%n-%h-%p-%%.mled")
    name = os.listdir()[0]
    check(re.fullmatch(f"ends-{re.escape(socket.gethostname())}-[0-9]+-%\\.mled", name),
          f"unexpected name {name}", result)
    pid = int(name.split("-")[-2])
    equal(harness.dump(name)["processes"][0]["pid"], pid, "%p is the program's pid")


def test_templates_of_a_job():
    env = {key: value for key, value in os.environ.items() if "RANK" not in key}
    run(program("ends"), "exit", 0, trace="%q{JOB}-%r.mled", env=env | {"JOB": "a", "RANK": "12"})
    equal(sorted(os.listdir()), ["a-12.mled", "a-12.mled.digest"], "the names")
    for name, message in (("%r.mled", "no launcher gave this process a rank"),
                          ("%q{NOT_SET}.mled", "%q{NOT_SET}, but that variable is not set"),
                          ("%qx", "write %q{NAME}"), ("%q{x", "write %q{NAME}"),
                          ("%x", "%q{NAME} (a variable")):
        refused(1, re.escape(message), program("ends"), "exit", 0, trace=name, env=env)


def test_default_name():
    result = run(program("ends"), "exit", 0, trace=None)
    check(re.fullmatch(r"memledger-ends\.[0-9]+\.mled", os.listdir()[0]), os.listdir())
    contains(result.err, f"next: memledger summary {os.listdir()[0]}", "closing note")


def test_folder():
    os.mkdir("traces")
    for name in ("traces", "traces/"):
        run(program("ends"), "exit", 0, trace=name)
    equal(len(os.listdir("traces")), 2, "traces in the folder")
    open("file", "w").close()
    refused(1, "file/t.mled", program("ends"), "exit", 0, trace="file/t.mled")


def test_unknown_template():
    refused(1, "unknown '%x'", program("ends"), "exit", 0, trace="a%x")
    refused(1, "ends with a '%'", program("ends"), "exit", 0, trace="a%")
    equal(os.listdir(), [], "files left behind")


def test_existing_file():
    with open("t.mled", "w") as f:
        f.write("precious")
    refused(1, "t.mled exists; .* -f", "touch", "ran")
    check(not os.path.exists("ran"), "the program was started")
    equal(open("t.mled").read(), "precious", "the file that was there")
    result = run(program("ends"), "exit", 4, options=["-f"])
    equal(result.code, 4, "exit code with -f", result)
    check(result.dump()["has_index"], "no footer")


def test_private():
    run(program("ends"), "exit", 0)
    equal(stat.S_IMODE(os.stat("t.mled").st_mode), 0o600, "mode of the trace")


def test_modes():
    """What is recorded is its owner's; what is exported follows the umask."""
    for mask, shared in ((0o022, 0o644), (0o077, 0o600), (0o002, 0o664)):
        before = os.umask(mask)
        try:
            open("t.mled", "w").close()  # with a mode of its own
            run(program("emit"), "10", options=["-f"])
            for name in ("csv", "json", "sqlite", "chrome", "pprof", "speedscope"):
                harness.plain(harness.MEMLEDGER, "export", "-f", "--format", name, "-o", f"x.{name}", "t.mled")
            harness.plain(harness.MEMLEDGER, "plot", "-f", "-o", "x.svg", "t.mled")
            harness.plain(harness.MEMLEDGER, "import", "-f", "-q", "-o", "i.mled", "x.chrome")
        finally:
            os.umask(before)
        for name in os.listdir("."):
            wanted = 0o600 if name.endswith(".mled") else shared
            equal(stat.S_IMODE(os.stat(name).st_mode), wanted, f"mode of {name} with {mask:o}")
        equal(sorted(os.listdir(".")), sorted(["t.mled", "i.mled", "x.svg"] + [
            f"x.{name}" for name in ("csv", "json", "sqlite", "chrome", "pprof", "speedscope")]),
            "the files")
        for name in os.listdir("."):
            os.unlink(name)


def test_unwritable_folder():
    os.mkdir("locked")
    os.chmod("locked", 0o555)
    if os.access("locked", os.W_OK):
        # Root may write anywhere but here.
        refused(1, "cannot create /proc/t.mled: .* -o", "touch", "ran", trace="/proc/t.mled")
        folder = "/sys/missing"
    else:
        refused(1, "cannot create locked/t.mled: .* -o", "touch", "ran", trace="locked/t.mled")
        folder = "locked/missing"
    reason = "(Permission denied|Operation not permitted|Read-only file system)"
    refused(1, f"cannot create the folder of {folder}/t.mled: {reason}; .* -o", "touch", "ran",
            trace=f"{folder}/t.mled")
    check(not os.path.exists("ran"), "the program was started")
    run("true")
    done = harness.plain(harness.MEMLEDGER, "export", "-o", f"{folder}/t.csv", "t.mled")
    check(re.search(f"{folder}/t.csv.*{reason}", done.stderr), "the reason of export", done.stderr)


def test_devices():
    """A file that is not ours is not deleted, whatever goes wrong."""
    refused(1, "/dev/full exists", "touch", "ran", trace="/dev/full")
    refused(1, "cannot write /dev/full: No space left", "touch", "ran", trace="/dev/full",
            options=["-f"])
    check(not os.path.exists("ran"), "the program was started")
    broken_script()
    equal(run("./broken", trace="/dev/null", options=["-f"]).code, 126, "exit code")
    equal(run(program("ends"), "exit", 6, trace="/dev/null", options=["-f"]).code, 6,
          "exit code with the trace thrown away")
    for device in ("/dev/full", "/dev/null"):
        check(stat.S_ISCHR(os.stat(device).st_mode), f"{device} is no device any more")


def test_quiet():
    result = run(program("ends"), "exit", 0, options=["-q"])
    equal(result.err, "", "what a quiet run says")


def test_closing_note():
    result = run(program("ends"), "exit", 0, options=["--sample-hz", "0"])
    lines = result.err.splitlines()
    check(re.fullmatch(r"memledger: 4 events of 1 process in t\.mled \([0-9]+ B\)", lines[0]),
          "first line of the note", result)
    equal(lines[1:], ["memledger: next: memledger summary t.mled"], "rest of the note")
    result = run("true", options=["-f"])
    contains(result.err, "the program reported nothing by itself; --heap records malloc", "note")


def test_never_started_cuda():
    result = run("true", options=["-f", "--cuda", "injection"])
    contains(result.err, "nothing was recorded: the program never started CUDA", "note")


def test_note_with_gpu_memory():
    result = run(program("cuda_steps_linked"), "init", "retain", options=["-f"],
                 env=harness.with_standin())
    contains(result.err, "next: memledger summary t.mled\nmemledger:   or: memledger ledger t.mled",
             "closing note")


def test_streams_untouched():
    """What the program reads and prints passes through unchanged."""
    data = bytes(range(256)) * 64
    done = subprocess.run([harness.MEMLEDGER, "run", "-o", "t.mled", "cat"], input=data,
                          capture_output=True, timeout=harness.PATIENCE_S)
    equal(done.stdout == data, True, "output is the input")


def test_two_at_once():
    processes = [harness.start(program("emit"), 1000, 1000, stdin=subprocess.PIPE,
                               trace=f"{i}.mled") for i in range(2)]
    for process in processes:
        equal(harness.read_line(process), "1000", "events so far")
    for i, process in enumerate(processes):
        process.stdin.write("\n")
        result = harness.finish(process)
        equal(result.code, 7, "exit code", result)
        trace = result.dump()
        equal(trace["kinds"]["alloc"], 1000, f"allocations in {i}.mled")
        equal(len(trace["processes"]), 1, f"processes in {i}.mled")


def test_session_folder_removed():
    os.environ["XDG_RUNTIME_DIR"] = os.getcwd()
    run(program("ends"), "exit", 0)
    run("./no-such-program", trace="2.mled")
    run(program("ends"), "exit", 0)
    equal(os.listdir(), ["t.mled"], "what is left in the folder for sessions")
    del os.environ["XDG_RUNTIME_DIR"]


harness.main(globals())
