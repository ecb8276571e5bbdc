# SPDX-License-Identifier: Apache-2.0
"""The same counts as heaptrack's, for real programs."""
from bench_table import Row, count
from equal_programs import Recorders, programs

# A program that is not the same twice is run this often under each.
VARYING_REPEAT = 3


def _text(values):
    low, high = min(values), max(values)
    return count(low) if low == high else "%s – %s" % (count(low), count(high))


def row(ctx):
    r = Row("equal", "The same program under heaptrack and memledger",
            ["", "recorder", "allocations", "peak bytes", "never freed bytes", ""])
    if not ctx.heaptrack:
        r.note("heaptrack is not installed here; make bench installs it")
        return r
    recorders = Recorders(ctx)
    for name, (argv, env, steady) in list(programs(ctx).items())[:1 if ctx.quick else None]:
        theirs, mine = recorders.environments(env)
        times = 1 if steady else VARYING_REPEAT
        ht = [recorders.by_heaptrack(argv, theirs).values() for _ in range(times)]
        ml = [recorders.by_memledger(argv, mine).values() for _ in range(times)]
        verdict = "equal" if ht == ml else "DIFFERENT" if steady else "varies from run to run"
        for recorder, runs, last in (("heaptrack", ht, ""), ("memledger", ml, verdict)):
            r.line(name if recorder == "heaptrack" else "", recorder,
                   *[_text(values) for values in zip(*runs)], last)
        r.data[name] = {"heaptrack": ht, "memledger": ml, "verdict": verdict}
    r.note("same environment and same libraries in both; docs/benchmarks.md says how")
    return r
