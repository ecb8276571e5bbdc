# SPDX-License-Identifier: Apache-2.0
"""MXNet's own profiler, and the counter of the host's memory that it keeps."""
import os
import re
import shutil
import tempfile

import mxnet as mx

# A block of a size that nothing else requests, while the engine is otherwise idle: it marks the
# end of a step in any record of MXNet's memory.
PROBE_BYTES = 7000001
VALUE = re.compile(r'"ts": (\d+),\s*"args": \{ "Memory: cpu/0": (\d+) \}')


def start_profiler(what, filename):
    """`what` is "all", or only "memory". It counts blocks allocated while it runs."""
    only = what == "all"
    mx.profiler.set_config(profile_all=only, profile_memory=True, profile_symbolic=only,
                           profile_imperative=only, profile_api=only, filename=filename,
                           continuous_dump=True)
    mx.profiler.set_state("run")


class OwnCounter:
    """Reads `Memory: cpu/0` while the program runs. Create it before the first array."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="mxnet-profile-")
        self.file = os.path.join(self.folder, "profile.json")
        self.offset, self.last = 0, 0
        start_profiler("memory", self.file)

    def live(self, step):
        """The live bytes by MXNet's count. Waits until the engine is idle."""
        mx.nd.waitall()
        size = PROBE_BYTES + step
        probe = mx.nd.zeros((size,), dtype="uint8")
        mx.nd.waitall()
        del probe
        mx.nd.waitall()
        values = self._new_values()
        before = [a for a, b in zip([self.last] + values, values) if b - a == size]
        if len(before) != 1:
            raise RuntimeError("MXNet's profiler does not show the block that was made for it")
        self.last = values[-1]
        return before[0]

    def _new_values(self):
        mx.profiler.dump(finished=False)
        with open(self.file) as f:
            f.seek(self.offset)
            text = f.read()
            self.offset = f.tell()
        return [int(value) for _, value in sorted(VALUE.findall(text), key=lambda v: int(v[0]))]

    def close(self):
        mx.profiler.set_state("stop")
        mx.profiler.dump(finished=True)
        shutil.rmtree(self.folder)
