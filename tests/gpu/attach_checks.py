# attach_checks.py: memledger attach to programs that already run on the GPU.
#
# SPDX-License-Identifier: Apache-2.0
import collections
import json
import os
import random
import statistics
import subprocess
import time

from lab import HERE, PATIENCE_S, Missed, Skip, check, execute, mib, must, need_module, \
    need_program, script

TIMES = 20
TURNS = 400
TURN_STEPS = 12
TURN_WARM = 3  # further steps at the start of a turn, which do not count
RESAMPLED = 2000
WARM_S = 5
MOST_SLOWER = 0.01
DEVICE = "cuda:0"
EQUAL_S = 20  # for the trace to show what PyTorch shows
SHOWN = 20  # blocks of each kind, where they differ
ROUNDS_TIMES = 5
ROUNDS_S = 2
MOST_UNEXPLAINED = 1  # percent
ALLOCATED = ("cuda memory", "cuda async", "cuda virtual")  # spaces of the driver's allocations


class Program:
    """A program that stops at a line, says how it stands, and goes on at the next."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.stop()
        self.go_on()

    def _write(self, line=""):
        print(line, file=self.process.stdin, flush=True)

    def ask(self, line=""):
        self._write(line)
        said = self.process.stdout.readline()
        assert said, f"the program has ended: {self.process.poll()}"
        return json.loads(said)

    def stop(self):
        """Between two steps or rounds. What it says."""
        return self.ask()

    def go_on(self):
        self._write()

    def end(self):
        self.process.stdin.close()
        return self.process.wait(PATIENCE_S)


class Training(Program):
    """attach_target.py in a process of its own."""

    def __init__(self):
        super().__init__(*script("attach_target.py"))

    def turn_ms(self):
        """The steps of a short turn, in which the other programs stand still."""
        return self.ask(TURN_WARM + TURN_STEPS)[TURN_WARM:]


def take_turns(programs, when):
    """The programs run in turns of some steps: the machine's speed drifts by some percent from
    one second to the next. The controls stand still at other times. @return for each program the
    steps of its turns"""
    programs[0].stop()
    turns = [[] for _ in programs]
    for _ in range(TURNS):
        for number in random.sample(range(len(programs)), len(programs)):
            turns[number].append(programs[number].turn_ms())
    programs[0].go_on()
    for name, own in zip(("attached to", "control", "second control"), turns):
        steps = statistics.quantiles([ms for turn in own for ms in turn], n=20)
        print(f"  a step {when}, {name}: median {steps[9]:.3f} ms ({steps[0]:.3f} to {steps[-1]:.3f})")
    return turns


def ratios(turns, number, pick):
    """Of a program to the first control, turn by turn."""
    return [pick(own) / pick(other) for own, other in zip(turns[number], turns[1])]


def change(before, after):
    """How much a ratio of turns has changed, with the range that holds 95 of 100 random draws."""
    def draw(values):
        return statistics.median(random.choices(values, k=len(values)))
    draws = sorted(draw(after) / draw(before) - 1 for _ in range(RESAMPLED))
    return (statistics.median(after) / statistics.median(before) - 1,
            draws[RESAMPLED // 40], draws[-RESAMPLED // 40])


def compare_turns(before, after, moment):
    """@return the change of the program that was attached to, beside the control"""
    for name, pick in (("the fastest of a turn", min), ("the median of a turn", statistics.median)):
        own, nothing = (change(ratios(before, number, pick), ratios(after, number, pick))
                        for number in (0, 2))
        print(f"  a step after {moment}, {name}: {own[0]:+.2%} ({own[1]:+.2%} to {own[2]:+.2%}); of "
              f"the second control, to which nothing was attached: {nothing[0]:+.2%} "
              f"({nothing[1]:+.2%} to {nothing[2]:+.2%})")
    return own[0]


def ask(lab, *words):
    """The answer of a command; None: the trace has no events yet."""
    done = execute([lab.memledger, *words])
    if done.returncode == 1 and "no memory was recorded" in done.stderr:
        return None
    assert done.returncode == 0, f"{words}: exit code {done.returncode}: {done.stderr}"
    return json.loads(done.stdout)


def live_bytes(lab, trace):
    state = ask(lab, "live", "--once", "--json", trace)
    return {d["device"]: d["bytes"] for d in state["devices"]}.get(DEVICE)


def recorded_blocks(lab, trace):
    """Address and size of each block that is live at the end of the trace, with its name."""
    blocks = ask(lab, "blocks", "--at", "end", "--device", DEVICE, "--top", "100000", "--json",
                 trace) or {"list": []}
    return {(int(b["address"], 16), b["bytes"]): f"{b['category']} {b['module']} {b['label']}"
            for b in blocks["list"]}


def differences(recorded, theirs):
    """The blocks that only one side has."""
    missing = [b for b in theirs if b not in recorded]
    extra = [b for b in recorded if b not in theirs]
    lines = [f"{len(missing)} blocks of PyTorch are not in the trace, {len(extra)} of the trace "
             "are not in PyTorch"]
    lines += [f"  missing {address:#x} {size:,}" for address, size in missing[:SHOWN]]
    lines += [f"  extra   {address:#x} {size:,} {recorded[address, size]}"
              for address, size in extra[:SHOWN]]
    return "\n".join(lines)


def wait_for_equal(lab, trace, said, moment):
    """The recorder writes a few events to the file within a second. Every step has the same total,
    so equal totals alone may be those of an earlier step."""
    end = time.monotonic() + EQUAL_S
    wanted = said["allocated"]
    theirs = {(address, size) for address, size in said["blocks"]}
    while True:
        found, recorded = live_bytes(lab, trace), recorded_blocks(lab, trace)
        if found == wanted and recorded.keys() == theirs:
            return
        if time.monotonic() > end:
            break
        time.sleep(0.05)
    raise AssertionError(f"{moment}: live bytes {found}, torch.cuda.memory_allocated() {wanted}; "
                         + differences(recorded, theirs))


def begin_attach(lab, program, trace):
    """@return the command, once it records"""
    attached = subprocess.Popen([lab.memledger, "attach", "-f", "-o", trace,
                                 str(program.process.pid)], stderr=subprocess.PIPE, text=True)
    said = attached.stderr.readline()
    assert "recording process" in said, said
    return attached


def end_attach(attached):
    attached.terminate()
    rest = attached.stderr.read()
    assert attached.wait(PATIENCE_S) == 0 and "not recorded" not in rest, rest


def first_event_s(lab, trace, began_wall_ns):
    """Seconds from the start of the command to the first block in the trace."""
    first = lab.report("events", trace, "--kind", "alloc", "-n", "1")["events"][0]
    start_ns = lab.report("summary", trace)["start_wall_ns"]
    return (start_ns + first["time_ns"] - began_wall_ns) / 1e9


def attach_once(lab, training, trace, number):
    """@return seconds until the command said that it records, and until the first event"""
    begin, began_wall_ns = time.monotonic(), time.time_ns()
    attached = begin_attach(lab, training, trace)
    took_s = time.monotonic() - begin
    wait_for_equal(lab, trace, training.stop(), f"attach {number}, at once")
    training.go_on()
    time.sleep(random.random() / 2)
    wait_for_equal(lab, trace, training.stop(), f"attach {number}, some steps later")
    training.go_on()
    end_attach(attached)
    return took_s, first_event_s(lab, trace, began_wall_ns)


@check
def attach_cuda(lab):
    """Attach to a training at random moments: live bytes equal PyTorch's at once; detach"""
    need_module("torch")
    programs = [Training() for _ in range(3)]
    training = programs[0]
    time.sleep(WARM_S)
    for control in programs[1:]:
        control.stop()
    before = take_turns(programs, "before")
    took_s = []
    for number in range(1, TIMES + 1):
        time.sleep(random.random() / 2)
        took_s.append(attach_once(lab, training, lab.path("attach-cuda.mled"), number))
        if number == 1:
            compare_turns(before, take_turns(programs, "after the first detach"), "the first detach")
    slower = compare_turns(before, take_turns(programs, "after the last detach"), "the last detach")
    codes = [program.end() for program in programs]
    print(f"  {TIMES} attaches, live bytes equal 2 x {TIMES} times")
    for what, times in zip(("the command says that it records", "the first event"), zip(*took_s)):
        print(f"  until {what}: median {statistics.median(times):.2f} s, worst {max(times):.2f} s")
    assert not any(codes), f"exit codes of the programs {codes}"
    if slower > MOST_SLOWER:
        raise Missed(f"a step takes {slower:.2%} longer after detach")


# ---- Calls of the driver ------------------------------------------------------------


def round_programs(lab):
    """(name, command) of each that this machine can run."""
    for name in ("cupy", "jax", "torch"):
        try:
            need_module(name)
            yield name, (*script("attach_rounds.py"), name)
        except Skip as reason:
            print(f"  {name} left out: {reason}")
    try:
        program = lab.path("attach_rounds")
        must([need_program("nvcc"), "-cudart", "static", "-o", program,
              os.path.join(HERE, "attach_rounds.cu")])
        yield "raw", (program,)
    except Skip as reason:
        print(f"  raw left out: {reason}")


def driver_allocations(lab, trace, first, last):
    """By space: how many the trace has between two stops of the program."""
    start_ns = lab.report("summary", trace)["start_wall_ns"]
    wanted = first.get("counted_bytes")
    found = collections.Counter()
    for event in lab.report("events", trace, "--kind", "alloc", "--device", DEVICE)["events"]:
        if (first["wall_ns"] < start_ns + event["time_ns"] < last["wall_ns"]
                and event["space"] in ALLOCATED and wanted in (None, 0, event["bytes"])):
            found[event["space"]] += 1
    return found


def attach_rounds_once(lab, program, trace, moment):
    """@return allocations that were recorded, and the part of the memory that is unexplained"""
    attached = begin_attach(lab, program, trace)
    first = program.stop()
    program.go_on()
    time.sleep(ROUNDS_S)
    last = program.stop()
    end_attach(attached)
    program.go_on()
    found = driver_allocations(lab, trace, first, last)
    made = last["allocations"] - first["allocations"]
    most = made * first.get("events_each", 1)
    least = most - min(made, first.get("older", 0))  # fewer, if some were replaced before the stop
    assert least <= sum(found.values()) <= most, (
        f"{moment}: recorded {dict(found)}, expected {least} to {most} for {made} of the program")
    assert last["wrong"] == 0, f"{moment}: {last['wrong']} rounds of the program were wrong"
    book = lab.ledger(trace, "end")
    percent = book["unexplained_percent"]
    assert book["balanced"] and abs(percent) <= MOST_UNEXPLAINED, (
        f"{moment}: {percent:.3f} % are unexplained\n{json.dumps(book, indent=1)}")
    return made, percent, {e["name"]: mib(e["bytes"]) for e in book["entries"] if e["bytes"]}


def attach_rounds(lab, name, command):
    program = Program(*command)
    try:
        attach_to_rounds(lab, name, program)
    finally:
        program.process.kill()  # one that failed would disturb the next
        program.process.wait()


def attach_to_rounds(lab, name, program):
    time.sleep(ROUNDS_S)
    results = [attach_rounds_once(lab, program, lab.path(f"attach-{name}.mled"), f"{name}, {i}")
               for i in range(1, ROUNDS_TIMES + 1)]
    time.sleep(ROUNDS_S)
    said = program.stop()
    program.go_on()
    code = program.end()
    worst = max((abs(percent) for _, percent, _ in results))
    print(f"  {name}: {ROUNDS_TIMES} attaches, {sum(made for made, _, _ in results)} allocations "
          f"of the driver, all recorded; unexplained {worst:.3f} % at most; "
          f"{said['rounds']} rounds, {said['wrong']} wrong, exit code {code}")
    print(f"    the last book: {results[-1][2]}")
    assert code == 0 and said["wrong"] == 0, f"{name}: exit code {code}, {said}"


@check
def attach_driver(lab):
    """Attach to programs that allocate all the time: the driver's calls, and the books"""
    programs = list(round_programs(lab))
    if not programs:
        raise Skip("there is no program to attach to")
    failed = []
    for name, command in programs:
        try:
            attach_rounds(lab, name, command)
        except AssertionError as error:
            print(f"  {name}: {error}")
            failed.append(name)
    assert not failed, f"failed: {', '.join(failed)}"
