# SPDX-License-Identifier: Apache-2.0
"""How long a program ran and computed under a recorder, apart from the recorder's own processes."""
import os


class Times:
    """One run of a program under a recorder, in seconds.

    start_s    from the start of the command to that of the program
    wall_s     from the start of the program to its end
    after_s    from its end to that of the command: closing files, looking up functions
    cpu_s      CPU time of the program's processes, with the recorder's part inside them
    beside_s   CPU time of all other processes of the command
    """

    def __init__(self, start_s, wall_s, after_s, cpu_s, beside_s):
        self.start_s, self.wall_s, self.after_s = start_s, wall_s, after_s
        self.cpu_s, self.beside_s = cpu_s, beside_s


def environment(ctx, argv, name):
    """For a command that runs argv, whose times go to the file of that name."""
    path = ctx.file(name)
    with open(path, "w", encoding="ascii"):
        os.chmod(path, 0o666)  # a server may give up its rights
    return dict(os.environ, LD_PRELOAD=ctx.program("libprocess_times.so"), PROCESS_TIMES=path,
                PROCESS_TIMES_OF=os.path.basename(argv[0]))


def read(ctx, name, begin_s, end_s, tree_cpu_s):
    """@begin_s, @end_s  of the whole command, CLOCK_MONOTONIC
    @return Times, or None if the program left no note"""
    with open(ctx.file(name), encoding="ascii") as f:
        lines = [[int(word) for word in line.split()] for line in f]
    first = [line for line in lines if line[0]]
    if not first:
        return None
    began, ended = first[0][1] / 1e9, max(line[2] for line in first) / 1e9
    cpu = sum(line[3] for line in lines) / 1e9
    return Times(began - begin_s, ended - began, end_s - ended, cpu, max(tree_cpu_s - cpu, 0.0))
