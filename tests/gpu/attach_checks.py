# attach_checks.py: memledger attach to a training that already runs on the GPU.
#
# SPDX-License-Identifier: Apache-2.0
import json
import random
import statistics
import subprocess
import time

from lab import PATIENCE_S, Missed, check, execute, need_module, script

TIMES = 20
MEASURED_S = 3
WINDOWS = 8
MOST_SLOWER = 0.01
DEVICE = "cuda:0"
EQUAL_S = 20  # for the trace to show what PyTorch shows
SHOWN = 20  # blocks of each kind, where they differ


class Training:
    """attach_target.py in a process of its own."""

    def __init__(self):
        self.process = subprocess.Popen(script("attach_target.py"), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.stop()
        self.go_on()

    def _line(self):
        print(file=self.process.stdin, flush=True)

    def stop(self):
        """Between two steps. What it says."""
        self._line()
        said = self.process.stdout.readline()
        assert said, f"the training has ended: {self.process.poll()}"
        return json.loads(said)

    def go_on(self):
        self._line()

    def steps_ms(self):
        """The median of each of some windows of time, which differ by some percent."""
        medians = []
        for _ in range(WINDOWS):
            self.stop()
            self.go_on()
            time.sleep(MEASURED_S)
            medians.append(self.stop()["step_ms"])
            self.go_on()
        return sorted(medians)

    def end(self):
        self.process.stdin.close()
        return self.process.wait(PATIENCE_S)


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


def attach_once(lab, training, trace, number):
    """@return seconds until the recording had begun"""
    begin = time.monotonic()
    attached = subprocess.Popen([lab.memledger, "attach", "-f", "-o", trace,
                                 str(training.process.pid)], stderr=subprocess.PIPE, text=True)
    said = attached.stderr.readline()
    took_s = time.monotonic() - begin
    assert "recording process" in said, said
    wait_for_equal(lab, trace, training.stop(), f"attach {number}, at once")
    training.go_on()
    time.sleep(random.random() / 2)
    wait_for_equal(lab, trace, training.stop(), f"attach {number}, some steps later")
    training.go_on()
    attached.terminate()
    rest = attached.stderr.read()
    assert attached.wait(PATIENCE_S) == 0 and "not recorded" not in rest, rest
    return took_s


@check
def attach_cuda(lab):
    """Attach to a training at random moments: live bytes equal PyTorch's at once; detach"""
    need_module("torch")
    training = Training()
    training.steps_ms()  # warm
    before_ms = training.steps_ms()
    took_s = []
    for number in range(1, TIMES + 1):
        time.sleep(random.random() / 2)
        took_s.append(attach_once(lab, training, lab.path("attach-cuda.mled"), number))
    after_ms = training.steps_ms()
    code = training.end()
    took_s.sort()
    print(f"  {TIMES} attaches, live bytes equal 2 x {TIMES} times; until it records: median "
          f"{took_s[TIMES // 2]:.2f} s, worst {took_s[-1]:.2f} s")
    for when, medians in (("before", before_ms), ("after the last detach", after_ms)):
        print(f"  a step {when}: " + " ".join(f"{ms:.3f}" for ms in medians) + " ms")
    assert code == 0, f"exit code of the training {code}"
    slower = statistics.median(after_ms) / statistics.median(before_ms) - 1
    if slower > MOST_SLOWER:
        raise Missed(f"a step takes {slower:.2%} longer after detach")
