#!/usr/bin/env python3
# test_attach.py: recordings of a process that already runs.
#
# SPDX-License-Identifier: Apache-2.0
import contextlib
import os
import shutil
import signal
import subprocess
import sys

import attaching
import harness
from attaching import begin, end
from harness import MEMLEDGER, Skip, check, contains, equal, program


class Program:
    """on_request, without memledger: see on_request.c."""

    def __init__(self, *before):
        self.process = subprocess.Popen([*before, program("on_request")], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.ask("nothing")

    def ask(self, *requests):
        for request in requests:
            self.process.stdin.write(request + "\n")
            self.process.stdin.flush()
            equal(harness.read_line(self.process), "ok", request)

    def end(self):
        self.process.stdin.close()
        equal(self.process.wait(), 0, "exit code of the program")


def test_malloc():
    p = Program()
    p.ask("malloc 1 1000", "malloc 2 2000")
    attached = begin(p.process.pid, "--heap")
    p.ask("malloc 3 300", "malloc 4 400", "free 4", "free 1")
    done = harness.plain(MEMLEDGER, "detach", p.process.pid)
    equal(done.returncode, 0, "exit code of detach", done.stderr)
    equal(attached.wait(harness.PATIENCE_S), 0, "exit code of attach")
    p.ask("malloc 5 5000", "free 3", "free 2")
    p.end()
    summary = harness.report("summary", "t.mled")
    equal(summary["allocations"], 2, "allocations", summary)
    equal(summary["live_bytes"], 300, "bytes live at the end", summary)
    equal(summary["health"]["unknown_frees"], 0, "frees that need a warning", summary)
    check(summary["health"].get("went_on"), "the program ran on", summary["health"])
    text = harness.plain(MEMLEDGER, "summary", "t.mled").stdout
    contains(text, "began while the program ran", "summary")
    contains(text, "live at end", "summary")
    checked = harness.plain(MEMLEDGER, "check", "--max-leaks", "100B", "t.mled")
    equal((checked.returncode, checked.stdout), (1, ""), "check --max-leaks of a running program")
    contains(checked.stderr, "leaks on cpu cannot be checked: the program was still running when "
             "the recording ended", "check --max-leaks")
    checked = harness.plain(MEMLEDGER, "check", "--max-leaks", "300B", "t.mled")
    equal(checked.returncode, 0, "check --max-leaks with less live than allowed", checked.stderr)


def test_began_late():
    """Every report says so, also without malloc."""
    p = Program()
    p.ask("malloc 1 1000")
    end(begin(p.process.pid))
    p.end()
    done = harness.plain(MEMLEDGER, "summary", "t.mled")
    contains(done.stdout, "the recording began while the program ran; memledger help attach",
             "summary")
    contains(done.stdout, "memledger attach --heap records malloc", "summary")
    check(harness.report("summary", "t.mled")["health"]["attached"], "the JSON object says so, too")
    done = harness.plain(MEMLEDGER, "table", "t.mled")
    contains(done.stdout + done.stderr, "memledger attach --heap records malloc", "table")


def test_end_of_the_program():
    """What is live when the program ends was never freed."""
    p = Program()
    attached = begin(p.process.pid, "--heap")
    p.ask("malloc 1 1000")
    p.end()
    equal(attached.wait(harness.PATIENCE_S), 0, "exit code of attach")
    contains(harness.plain(MEMLEDGER, "summary", "t.mled").stdout, "never freed", "summary")
    leaks = harness.plain(MEMLEDGER, "leaks", "t.mled").stdout
    contains(leaks, "does not contain earlier blocks of malloc", "what leaks cannot know")
    lines = harness.plain(MEMLEDGER, "table", "--by", "line", "--at", "end", "t.mled").stdout
    contains(lines, "memledger attach records no stacks; memledger run --stacks does", "the hint")


def last_words(attached, code=0):
    """What it says after its first line."""
    said = attached.communicate(timeout=harness.PATIENCE_S)[1]
    equal(attached.returncode, code, "exit code of attach", said)
    return said


def test_closing_note():
    """Says how the process ended, or that it goes on, and what is in the trace."""
    for how, words in {"exit 0": "process {} ended with exit code 0",
                       "exit 3": "process {} ended with exit code 3",
                       "kill -SEGV $$": "signal 11 (Segmentation fault) ended process {}",
                       "kill -KILL $$": "signal 9 (Killed) ended process {}, as when"}.items():
        shell = subprocess.Popen(["sh"], stdin=subprocess.PIPE, text=True)
        attached = begin(shell.pid)
        shell.communicate(how + "\n", timeout=harness.PATIENCE_S)
        said = last_words(attached)
        contains(said, words.format(shell.pid), f"note after {how}")
        contains(said, "of 1 process", "contents of the trace")
        contains(said, "next: memledger summary t.mled", "next step")
    p = Program()
    words = f"process {p.process.pid} goes on and is no longer recorded"
    attached = begin(p.process.pid)
    attached.send_signal(signal.SIGINT)
    contains(last_words(attached), words, "note after Ctrl-C")
    contains(last_words(begin(p.process.pid, "--for", "10ms")), words, "note after --for")
    attached = begin(p.process.pid)
    equal(harness.plain(MEMLEDGER, "detach", p.process.pid).returncode, 0, "exit code of detach")
    contains(last_words(attached), words, "note after detach")
    p.end()


def test_process_that_nobody_waits_for():
    """It has ended, even though it stays a zombie."""
    shell = subprocess.Popen(["sh"], stdin=subprocess.PIPE, text=True)
    attached = begin(shell.pid)
    shell.stdin.write("exit 5\n")
    shell.stdin.close()
    contains(last_words(attached), f"process {shell.pid} ended with exit code 5", "note")
    equal(shell.wait(), 5, "exit code of the shell")


def test_children_that_stay():
    """The recording goes on until they end, too; Ctrl-C ends it."""
    for ending in "by itself", "by Ctrl-C":
        p = Program()
        attached = begin(p.process.pid, "--heap")
        p.ask("stay 1 1000")
        child = harness.wait_until(lambda: child_of(p.process.pid), "the child")
        p.end()
        said = attached.stderr.readline()
        contains(said, "ended with exit code 0; 1 process that it started is still recorded", ending)
        if ending == "by itself":
            os.kill(child, signal.SIGKILL)
        else:
            attached.send_signal(signal.SIGINT)
        contains(last_words(attached), "of 2 processes", ending)
        if ending != "by itself":
            os.kill(child, signal.SIGKILL)
        equal(harness.report("summary", "t.mled")["peak_bytes"], 1000, "bytes of the child")


def test_another_program():
    """A process that has called exec has no recorder; the next attach begins with it."""
    shell = subprocess.Popen(["sh"], stdin=subprocess.PIPE, text=True)
    attached = begin(shell.pid)
    shell.stdin.write("exec sleep 60\n")
    shell.stdin.flush()
    harness.wait_until(lambda: "sleep" in os.readlink(f"/proc/{shell.pid}/exe"), "another program")
    attached.terminate()
    contains(last_words(attached), "has started another program in its place", "note")
    with open(f"/proc/{shell.pid}/maps") as maps:
        check("libmemledger" not in maps.read(), "the recorder was not loaded to end it")
    contains(last_words(begin(shell.pid, "--for", "10ms")), "goes on", "the next attach")
    shell.kill()
    shell.communicate()


def collector_for(pid):
    """The process that writes the trace."""
    for number in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{number}/cmdline") as file:
            if {"collect", f"--pid={pid}"} <= set(file.read().split("\0")):
                return int(number)
    return 0


def test_killed_collector():
    """The trace ends there, and the command says so."""
    p = Program()
    attached = begin(p.process.pid, "--heap")
    p.ask("malloc 1 1000")
    os.kill(collector_for(p.process.pid), signal.SIGKILL)
    contains(last_words(attached, code=1), "the collector was killed", "note")
    p.ask("malloc 2 1000")
    p.end()


def kill_and_clean_up(attached, pid):
    """Kills the collector. Another recording removes its session before the command looks."""
    attached.send_signal(signal.SIGSTOP)
    os.kill(collector_for(pid), signal.SIGKILL)
    harness.wait_until(lambda: not collector_for(pid), "the end of the collector")
    equal(harness.plain(MEMLEDGER, "run", "-qfo", "other.mled", "true").returncode, 0, "exit code of run")
    attached.send_signal(signal.SIGCONT)


def test_killed_collector_that_another_recording_cleans_up():
    """The command does not take the session that is gone for one that was completed."""
    p = Program()
    attached = begin(p.process.pid)
    kill_and_clean_up(attached, p.process.pid)
    contains(last_words(attached, code=1), "the collector was killed", "note")
    p.end()


# See hanging_disk.c.
HANGING_DISK = {"LD_PRELOAD": program("libhanging_disk.so")}


def test_collector_killed_before_the_last_bytes():
    """The trace has no end then, although the collector takes no more events."""
    p = Program()
    attached = attaching.start(p.process.pid, "-o", "endless.mled", env=os.environ | HANGING_DISK)
    attaching.has_begun(attached)
    attached.terminate()
    harness.wait_until(lambda: os.path.exists("ending"), "the last bytes of the trace")
    kill_and_clean_up(attached, p.process.pid)
    contains(last_words(attached, code=1), "the collector was killed", "note")
    check(not harness.dump("endless.mled")["has_index"], "the trace has an end")
    p.end()


def test_running_children():
    """Those that ran before are not recorded, and the command says so and names them. Later ones
    are recorded."""
    p = Program()
    attached = begin(p.process.pid)
    attached.terminate()
    check("child process" not in last_words(attached), "a note about children without any")
    p.ask("stay 1 1000")
    before = harness.wait_until(lambda: child_of(p.process.pid), "the child")
    attached = begin(p.process.pid, "--heap")
    contains(attached.stderr.readline(), "1 child process started before the attach is not "
             f"recorded; attach to each: {before}\n", "the second line")
    p.ask("stay 2 200")
    attached.terminate()
    contains(last_words(attached), "of 2 processes", "note")
    equal(harness.report("summary", "t.mled")["peak_bytes"], 200, "bytes of the later child")
    for child in harness.children(p.process.pid):
        os.kill(child, signal.SIGKILL)
    p.end()


def waiting_in(call):
    """See waits_in.c."""
    process = subprocess.Popen([program("waits_in"), call], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    equal(harness.read_line(process), "ready", "first line")
    return process


def test_sigsuspend():
    """As nginx's first process waits: with a signal mask that holds for the wait only."""
    process = waiting_in("sigsuspend")
    for _ in range(3):
        end(begin(process.pid, "--heap"))
    equal(process.poll(), None, "exit code of the program, which must go on waiting")
    process.send_signal(signal.SIGUSR1)
    equal(process.communicate(timeout=harness.PATIENCE_S)[0], "-1 handled blocked\n", "its end")


def test_file_of_another_attach():
    """The message names the command that writes it."""
    first, second = Program(), Program()
    attached = begin(first.process.pid)
    contains(refused("attach", "-f", "-o", "t.mled", second.process.pid),
             f"(memledger attach {first.process.pid})", "message")
    end(attached)
    first.end()
    second.end()


def test_two_at_once():
    """The second one names the first, or has come late enough to be refused."""
    p = Program()
    both = [attaching.start(p.process.pid, "-o", f"{name}.mled") for name in ("a", "b")]
    said = [attached.stderr.readline() for attached in both]
    attaching.need_tracing(said[0])
    check(any("recording process" in line for line in said), "one records", *said)
    for attached, line in zip(both, said):
        attached.terminate()
        line += attached.communicate(timeout=harness.PATIENCE_S)[1]
        check("another user" not in line, "the reason", line)
    p.end()


def test_again_and_again():
    """Other commands find each recording as soon as attach says that there is one."""
    p = Program()
    for i in range(5):
        attached = begin(p.process.pid, "--heap")
        done = harness.plain(MEMLEDGER, "live", "--once", p.process.pid)
        equal(done.returncode, 0, "exit code of live", done.stderr)
        p.ask(f"malloc {i} {100 + i}")
        end(attached)
        equal(harness.report("summary", "t.mled")["live_bytes"], 100 + i, "bytes live at the end")
    p.end()


FORKS = """
import os, select, sys
print("ready", flush=True)
while not select.select([0], [], [], 0.001)[0]:
    pass
sys.stdin.readline()
if os.fork() == 0:
    print(os.getpid(), flush=True)
    held = [bytearray(1000) for _ in range(int(sys.argv[1]))]
    os.read(0, 1)
    while True:
        held.append(bytearray(1 << 20))
        del held[-1]
os.wait()
"""


def test_child_of_an_ended_recording():
    """It can be recorded by itself, whether it has recorded anything for its parent or not."""
    for blocks, options in ((0, []), (100, ["--heap"])):
        process = subprocess.Popen([sys.executable, "-c", FORKS, str(blocks)], text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        harness.read_line(process)
        attached = begin(process.pid, *options)
        print(file=process.stdin, flush=True)
        child = int(harness.read_line(process))
        end(attached)
        print(file=process.stdin, flush=True)
        attached = begin(child, "--heap")
        harness.wait_until(lambda: harness.report("summary", "t.mled")["events"] > 1000,
                           "events of the child")
        end(attached)
        os.kill(child, signal.SIGKILL)
        process.communicate(timeout=harness.PATIENCE_S)
        summary = harness.report("summary", "t.mled")
        equal([p["pid"] for p in summary["processes"]], [child], "processes")
        equal(summary["health"]["unknown_frees"], 0, "frees that need a warning", summary)


RENAMED = """
import ctypes, select, sys
ctypes.CDLL(None).prctl(15, b"pt_main_thread")
sys.stdin.readline()
print("ready", flush=True)
while not select.select([0], [], [], 0.001)[0]:
    pass
"""


def name_of_trace(*command, **settings):
    """What `%n` is for a process that was started like that."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                               **settings)
    process.stdin.write("nothing\n")
    process.stdin.flush()
    harness.read_line(process)
    attached = begin(process.pid, "-o", "named-%n.mled")
    end(attached)
    process.communicate(timeout=harness.PATIENCE_S)
    names = [name for name in os.listdir(".") if name.startswith("named-")]
    equal(len(names), 1, "traces", names)
    os.remove(names[0])
    return names[0].removeprefix("named-").removesuffix(".mled")


def test_names():
    """The name that the user typed, as ps shows it, whatever file it leads to and whatever the
    process calls itself."""
    os.symlink(program("on_request"), "my-server")
    equal(name_of_trace("./my-server"), "my-server", "a link")
    equal(name_of_trace("-my-server", executable="./my-server"), "my-server", "as login names it")
    equal(name_of_trace("something else", executable="./my-server"), "on_request",
          "a name that nothing confirms")
    equal(name_of_trace("python3", "-c", RENAMED, executable=sys.executable), "python3",
          "a process that renames its thread")
    os.mkdir("my folder")
    shutil.copy(program("on_request"), "my folder/served")
    equal(name_of_trace("my folder/served"), "served", "a folder with a blank")


def child_of(pid):
    """As far as it has started one."""
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        children = file.read().split()
    return int(children[0]) if children else 0


def test_other_namespaces():
    """A process with its own process ids and mounts, which sees the same files."""
    own = ["unshare", "--pid", "--mount", "--fork", "--kill-child", "--mount-proc"]
    if not shutil.which("unshare") or subprocess.run([*own, "true"], capture_output=True).returncode:
        raise Skip("no namespaces here", machine=True)
    p = Program(*own)
    attached = begin(harness.wait_until(lambda: child_of(p.process.pid), "the program"), "--heap")
    p.ask("malloc 1 1000", "malloc 2 200", "free 1")
    end(attached)
    p.ask("malloc 3 300")
    p.end()
    equal(harness.report("summary", "t.mled")["live_bytes"], 200, "bytes live at the end")


def test_other_user():
    """Root records a process of a user who cannot see memledger's files."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        raise Skip("only root acts for other users", machine=True)
    os.chmod(".", 0o755)
    p = Program("setpriv", "--reuid", "1234", "--regid", "1234", "--clear-groups")
    attached = begin(p.process.pid, "--heap")
    p.ask("malloc 1 1000")
    end(attached)
    p.end()
    equal(harness.report("summary", "t.mled")["live_bytes"], 1000, "bytes live at the end")


def test_other_root():
    """A process in an empty root goes on, and the message names the way out; in a root with a
    folder for temporary files it can be recorded."""
    if os.geteuid() != 0:
        raise Skip("only root changes its root", machine=True)
    os.makedirs("root", exist_ok=True)
    os.chmod("root", 0o755)
    process = subprocess.Popen([sys.executable, "-c", "import os, select; os.chroot('root'); "
                                "print('in', flush=True)\n"
                                "while not select.select([0], [], [], 0.001)[0]: pass"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    harness.read_line(process)
    done = harness.plain(MEMLEDGER, "attach", process.pid)
    equal(done.returncode, 1, "exit code", done.stderr)
    contains(done.stderr, "none of /dev/shm, /tmp, /run and /var/tmp", "message")
    os.mkdir("root/tmp")
    attached = begin(process.pid, "--heap")
    contains(attached.stderr.readline(), "sees no /proc", "the second line")
    end(attached)
    equal(os.listdir("root/tmp"), [], "what is left there")
    process.communicate("\n", timeout=harness.PATIENCE_S)
    equal(process.returncode, 0, "exit code of the program")


def large_program():
    """The kernel takes a while to free its memory."""
    p = Program()
    p.ask(f"fill 1 {200 << 20}")
    return p.process


def test_ended():
    """A process that has just been killed has ended; it is no kernel thread."""
    for _ in range(10):
        process = large_program()
        process.kill()
        said = harness.plain(MEMLEDGER, "attach", process.pid).stderr
        process.wait()
        contains(said, "has ended", "message")


def ends_while_the_trace_is_opened():
    """What attach says."""
    process = subprocess.Popen(["sleep", "60"])
    attached = subprocess.Popen([MEMLEDGER, "attach", "-o", "waiting.mled", str(process.pid)],
                                stderr=subprocess.PIPE, text=True, env=os.environ | HANGING_DISK)
    harness.wait_until(lambda: os.path.exists("opening"), "the trace to be opened")
    process.kill()
    process.wait()
    open("go", "w").close()
    return last_words(attached, code=1)


def test_ends_before_it_joins():
    """That is the reason, whatever fails then. Nothing is left."""
    said = ends_while_the_trace_is_opened()
    check(said.startswith("memledger: process ") and said.endswith(" has ended\n"), "message", said)
    equal(sorted(os.listdir()), ["go", "opening"], "files")


def test_ends_when_something_else_fails():
    """That is not the reason."""
    open("waiting.mled", "w").close()
    said = ends_while_the_trace_is_opened()
    contains(said, "waiting.mled exists", "message")
    check("has ended" not in said, "message", said)


def test_ends_at_the_same_time():
    """A process whose memory the kernel just frees has started no other program."""
    for _ in range(5):
        process = large_program()
        attached = begin(process.pid)
        process.kill()
        attached.terminate()
        said = attached.communicate(timeout=harness.PATIENCE_S)[1]
        process.wait()
        check("another program" not in said, "what attach says", said)


def tracer_of(pid):
    """The process that traces it, 0: none."""
    with open(f"/proc/{pid}/status") as file:
        return int(next(line.split()[1] for line in file if line.startswith("TracerPid:")))


def kill_while_it_waits(pid):
    """Begins an attach that can interrupt no thread, and kills it: the command, and its child that
    asks for a thread. @return whether the child still asked, which it does for 5 s"""
    attached = attaching.start(pid, env=os.environ | {"XDG_RUNTIME_DIR": os.path.abspath("sessions")})
    harness.wait_until(lambda: tracer_of(pid) or attached.poll() is not None,
                       "a child that waits for a safe moment")
    asks, collector = tracer_of(pid), collector_for(pid)
    attached.kill()
    attached.wait(harness.PATIENCE_S)
    waited = asks and tracer_of(pid) == asks
    if waited:
        check(collector and os.path.exists("t.mled") and os.listdir("sessions"), "a recording that waits")
        os.kill(asks, signal.SIGKILL)
    harness.wait_until(lambda: not collector_for(pid), "the end of the collector")
    if not waited:
        attaching.need_tracing(attached.stderr.readline())
    return waited


def test_killed_before_the_process_joins():
    """The collector gives up, and leaves no file; the process goes on."""
    os.mkdir("sessions")
    process = waiting_in("vfork")
    check(any(kill_while_it_waits(process.pid) for _ in range(10)), "attach waits for a safe moment")
    equal((os.listdir("."), os.listdir("sessions")), (["sessions"], []), "what is left")
    equal(process.communicate("\n", timeout=harness.PATIENCE_S)[0], "ok\n", "its last line")
    equal(process.returncode, 0, "exit code of the program")


def test_older_trace():
    """An attach that fails leaves the file that it was to replace as it was."""
    with open("older.mled", "w") as file:
        file.write("older")
    process = subprocess.Popen(["sleep", "60"])
    attached = begin(process.pid)
    done = harness.plain(MEMLEDGER, "attach", "-f", "-o", "older.mled", process.pid)
    equal(done.returncode, 1, "exit code", done.stderr)
    contains(done.stderr, "already being recorded", "message")
    end(attached)
    with open("older.mled") as file:
        equal(file.read(), "older", "the file")
    done = harness.plain(MEMLEDGER, "attach", "-f", "--for", "10ms", "-o", "older.mled",
                         process.pid)
    equal(done.returncode, 0, "exit code of an attach that replaces it", done.stderr)
    equal(sorted(os.listdir(".")), ["older.mled", "t.mled"], "files")
    process.kill()
    process.wait()


def test_program_that_waits_for_the_command():
    """Another try would end likewise; the message says what helps."""
    code = "import os, sys; sys.exit(os.waitstatus_to_exitcode(os.system(sys.argv[1])))"
    done = harness.plain(sys.executable, "-c", code,
                         f"{MEMLEDGER} attach -o t.mled $PPID; exit $?")
    equal(done.returncode, 1, "exit code", done.stderr)
    contains(done.stderr, "waits for this command, which it has started", "message")
    contains(done.stderr, "in another terminal", "message")
    equal(os.listdir("."), [], "files")


LOADS = "import ctypes, sys; ctypes.CDLL(sys.argv[1]); print('ready', flush=True); sys.stdin.read()"


def test_recorder_of_another_version():
    """Neither limits nor users are the reason. Recorders of old answered with EIO."""
    library = program("libmemledger-other.so")
    for answer, words in (("EPROTO", ["another version of memledger", library, "restart"]),
                          ("EIO", ["if memledger was updated since, restart the program"])):
        process = subprocess.Popen([sys.executable, "-c", LOADS, library], text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   env=os.environ | {"OTHER_RECORDER_ANSWERS": answer})
        harness.read_line(process)
        done = harness.plain(MEMLEDGER, "attach", "-o", "t.mled", process.pid)
        equal(done.returncode, 1, f"exit code after {answer}", done.stderr)
        for word in words:
            contains(done.stderr, word, f"message after {answer}")
        process.communicate(timeout=harness.PATIENCE_S)
        equal(process.returncode, 0, "exit code of the program")


def refused(*arguments, code=1):
    done = harness.plain(MEMLEDGER, *arguments)
    equal(done.returncode, code, f"exit code of {arguments}", done.stderr)
    return done.stderr


def test_refusals():
    contains(refused("attach", 999999999), "no process 999999999", "message")
    contains(refused("detach", os.getpid()), "not being recorded", "message")
    refused("attach", 2)
    contains(refused("attach", "redis-server", code=2), "pgrep finds", "message for a name")
    contains(refused("attach", code=2), "no process given", "message without a process")
    contains(refused("attach", "1", "2", code=2), "got '1' and '2'", "message for two")
    contains(refused("attach", "--for", "30sec", "1", code=2), "30s, 1.5m, 2h", "message")
    contains(refused("attach", "--for", "0", os.getpid(), code=2), "too short", "message for 0")


def test_time_without_unit():
    """Counts seconds."""
    p = Program()
    done = harness.plain(MEMLEDGER, "attach", "--for", "0.1", "-o", "t.mled", p.process.pid)
    equal(done.returncode, 0, "exit code", done.stderr)
    p.end()


def test_detach_from_run():
    """It has begun by other means, and the message says so."""
    run = harness.start("sleep", "60")
    pid = harness.wait_until(lambda: next((child for child in harness.children(run.pid)
                                           if child != harness.collector_of(run)), None), "sleep")
    said = harness.wait_until(lambda: (lambda text: "not being" not in text and text)(
        refused("detach", pid)), "a recorder in the process")
    contains(said, f"memledger pause {pid}", "message")
    contains(refused("attach", "-o", "other.mled", pid), f"memledger live {pid} shows it", "message")
    os.kill(pid, signal.SIGTERM)
    harness.finish(run)


if __name__ == "__main__":
    harness.main(globals())
