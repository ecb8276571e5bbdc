# memray_truth.py FILE: what memray's own reader says about its file, as JSON. Runs with the Python
# that memray is installed for.
#
# SPDX-License-Identifier: Apache-2.0
import json
import sys

from memray import FileReader


def stacks(records, hybrid):
    sums = {}
    for record in records:
        stack = record.hybrid_stack_trace() if hybrid else record.stack_trace()
        stack = tuple(frame[:3] for frame in stack)
        sums[stack] = sums.get(stack, 0) + record.size
    return [[stack, size] for stack, size in sums.items()]


def read(path):
    with FileReader(path) as reader:
        metadata = reader.metadata
        hybrid = metadata.has_native_traces
        # Which of the equal peaks memray takes is its own affair: the sizes decide.
        truth = {"peak_bytes": metadata.peak_memory,
                 "pid": metadata.pid,
                 "command": metadata.command_line,
                 "native": hybrid,
                 "peak": stacks(reader.get_high_watermark_allocation_records(merge_threads=True), hybrid),
                 "left": stacks(reader.get_leaked_allocation_records(merge_threads=True), hybrid)}
        if hasattr(reader, "get_temporary_allocation_records"):
            try:
                truth["temporary"] = stacks(
                    reader.get_temporary_allocation_records(merge_threads=True, threshold=1), hybrid)
            except NotImplementedError:
                pass
        try:
            records = list(reader.get_allocation_records())
        except NotImplementedError:
            return truth
        made = [r for r in records if r.size]
        names = {"FREE", "MUNMAP", "PYMALLOC_FREE"}
        from memray import AllocatorType
        made = [r for r in records if AllocatorType(r.allocator).name not in names]
        truth["allocations"] = len(made)
        truth["allocated_bytes"] = sum(r.size for r in made)
        return truth


json.dump(read(sys.argv[1]), sys.stdout)
