# block_story.py: the lifetimes of PyTorch's blocks from `memledger events --json`, for tests
# that compute the reports' figures themselves.
#
# SPDX-License-Identifier: Apache-2.0

NEVER = float("inf")
PHASES = ("backward", "optimizer", "recompute")


def names_of(scope):
    """The names in a scope's path, the outermost first. A phase is one of its own,
    though reports write it in front of what it begins with: "backward: GPT > head"."""
    names = []
    for part in scope.split(" > ") if scope else []:
        phase, _, rest = part.partition(": ")
        names += [phase, rest] if phase in PHASES and rest else [part]
    return names


class Block:
    def __init__(self, event, born, phase):
        self.bytes, self.device, self.pid = event["bytes"], event["device"], event["pid"]
        self.path = names_of(event["scope"])
        self.by_main_thread = event["tid"] == event["pid"]
        self.born, self.died, self.phase = born, NEVER, phase
        self.label = self.category = None

    def named(self, modules):
        """By a label, or by a module in whose call it was made, or in whose backward."""
        return self.label is not None or not modules.isdisjoint(self.path)


class Story:
    """All blocks of PyTorch in a trace. Moments are positions in the list of events."""

    def __init__(self, events):
        self.blocks, self.steps, self.pushed = [], {}, set()
        self.live, self.phases = {}, {}
        for moment, event in enumerate(events):
            getattr(self, "on_" + event["kind"], self.ignore)(moment, event)

    def ignore(self, moment, event):
        pass

    def on_alloc(self, moment, event):
        if event["space"] != "torch":
            return
        block = Block(event, moment, self.phases.get(event["pid"], ""))
        self.blocks.append(block)
        self.live[self.place(event)] = block

    on_alloc_ex = on_alloc

    def on_free(self, moment, event):
        block = self.live.pop(self.place(event), None)
        if block:
            block.died = moment

    def on_label(self, _, event):
        block = self.live.get(self.place(event))
        if block:
            block.label, block.category = event["label"], event["category"]

    def on_mark(self, moment, event):
        if event["mark"] == "phase":
            self.phases[event["pid"]] = event["name"]
        elif event["mark"] == "step":
            self.steps[event["number"]] = moment

    def on_push(self, _, event):
        self.pushed.add(names_of(event["scope"])[-1])

    @staticmethod
    def place(event):
        return event["pid"], event.get("device"), event["address"]

    def at(self, moment, device):
        return [b for b in self.blocks if b.device == device and b.born <= moment < b.died]

    def peak(self, device):
        """The blocks of the program that are alive when most of their bytes are. Workers
        make batches at times of their own, where there is no model to name anything."""
        program = [b for b in self.blocks if b.pid == self.blocks[0].pid]
        changes = []
        for block in program:
            if block.device == device:
                changes += [(block.born, block.bytes), (block.died, -block.bytes)]
        total, most, when = 0, 0, 0
        for moment, change in sorted(changes):
            total += change
            if total > most:
                most, when = total, moment
        return [b for b in self.at(when, device) if b.pid == self.blocks[0].pid]

    def born_in(self, phase, device):
        return [b for b in self.blocks if b.phase == phase and b.device == device]

    def labelled(self, device):
        """{category: [[name, bytes], ...]} of what is never freed."""
        found = {}
        for block in self.blocks:
            if block.died == NEVER and block.label is not None and block.device == device:
                found.setdefault(block.category, []).append([block.label, block.bytes])
        return {category: sorted(rows) for category, rows in found.items()}


def share_named(blocks, modules):
    """Of the bytes, and the largest that have no name."""
    total = sum(b.bytes for b in blocks)
    nameless = [b for b in blocks if not b.named(modules)]
    worst = sorted(nameless, key=lambda b: -b.bytes)[:5]
    return (1 - sum(b.bytes for b in nameless) / total if total else 1.0,
            [(b.bytes, " > ".join(b.path), b.phase) for b in worst])
