# SPDX-License-Identifier: Apache-2.0
"""A snapshot of PyTorch's CUDA allocator of any size, as PyTorch would write it.

A model of a caching allocator gives blocks out and takes them back, and notes what
PyTorch notes: entries with stacks that are shared, segments with their blocks. Python's
pickle writes it, as PyTorch does: about 80 bytes an entry.

    python3 snapshot_maker.py ENTRIES FILE
"""
import pickle
import random
import sys

SEGMENT = 1 << 30


def frames_of(rng, count, depth):
    """Stacks as PyTorch makes them: dicts of frames that many stacks share."""
    frames = [{"name": f"function_{i}", "filename": f"site-packages/torch/nn/modules/file_{i % 97}.py",
               "line": i * 7 % 1500} for i in range(count * 4)]
    root = frames[:depth // 2]
    return [[rng.choice(frames) for _ in range(depth - len(root))] + root for _ in range(count)]


class Pool:
    """Addresses in one segment after the other: blocks of like size reuse each other's."""

    def __init__(self):
        self.free, self.top, self.end = {}, 0x7f0000000000, 0x7f0000000000
        self.segments = []

    def take(self, size):
        """@return (address, the segment that had to be made for it or None)"""
        at = self.free.get(size)
        if at:
            return at.pop(), None
        made = None
        if self.top + size > self.end:
            made = (self.end, SEGMENT)
            self.top, self.end = self.end, self.end + SEGMENT
            self.segments.append(made)
        address = self.top
        self.top += size
        return address, made

    def give(self, address, size):
        self.free.setdefault(size, []).append(address)


def entries(count, seed=7):
    """Yields entries, then returns the pool and what is live."""
    rng = random.Random(seed)
    stacks = frames_of(rng, 400, 16)
    sizes = [512 * rng.randint(1, 2048) for _ in range(200)]
    pool, live, time_us, made = Pool(), {}, 1794705449712055, 0

    def entry(action, address, size, stack):
        return {"action": action, "addr": address, "size": size, "stream": 0, "time_us": time_us,
                "compile_context": "N/A", "user_metadata": "", "frames": stack}
    while made < count:
        time_us += rng.randint(1, 5)
        if len(live) < 2000 or (rng.random() < 0.4 and len(live) < 4000):
            size, stack = rng.choice(sizes), rng.choice(stacks)
            address, segment = pool.take(size)
            if segment:
                yield entry("segment_alloc", segment[0], segment[1], stack)
                made += 1
            live[address] = (size, stack)
            yield entry("alloc", address, size, stack)
            made += 1
        else:
            address = next(reversed(live)) if rng.random() < 0.5 else next(iter(live))
            size, _ = live.pop(address)
            stack = rng.choice(stacks)
            yield entry("free_requested", address, size, stack)
            yield entry("free_completed", address, size, stack)
            pool.give(address, size)
            made += 2
    return pool, live


def segments_of(pool, live):
    made = []
    for start, size in pool.segments:
        blocks = [{"address": a, "size": s, "requested_size": s, "state": "active_allocated",
                   "frames": stack} for a, (s, stack) in sorted(live.items())
                  if start <= a < start + size]
        made.append({"device": 0, "address": start, "total_size": size, "allocated_size": 0,
                     "active_size": 0, "requested_size": 0, "stream": 0, "segment_type": "large",
                     "segment_pool_id": (0, 0), "is_expandable": False, "frames": [],
                     "blocks": blocks})
    return made


def write(count, path, seed=7):
    """@return (entries, bytes alive, bytes reserved)"""
    made = list(entries_and_end(count, seed))
    pool, live = made.pop()
    with open(path, "wb") as out:
        pickle.dump({"segments": segments_of(pool, live), "device_traces": [made],
                     "allocator_settings": {"max_split_size": -1}, "external_annotations": []},
                    out, 4)
    return len(made), sum(s for s, _ in live.values()), len(pool.segments) * SEGMENT


def entries_and_end(count, seed):
    pool, live = yield from entries(count, seed)
    yield pool, live


if __name__ == "__main__":
    print(*write(int(sys.argv[1]), sys.argv[2]))
