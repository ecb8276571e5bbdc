# profiler_defects.py: provokes the known defects of MXNet's own profiler, with that profiler or
# with memledger's; test_profiler_contract.py names them and compares.
#
#     profiler_defects.py mxnet|memledger
#
# SPDX-License-Identifier: Apache-2.0
import json
import shutil
import sys

import mxnet

if sys.argv[1] == "mxnet":
    from mxnet import profiler
else:
    from memledger.mxnet import profiler

LARGE = 3000000000  # above 2^31


def copy(name):
    shutil.copy(f"{name}.json", f"{name}.{sys.argv[1]}.json")


def continuous():
    """A dump that does not finish the file, and names that need care."""
    profiler.set_config(filename="unfinished.json", continuous_dump=True)
    profiler.set_state("run")
    domain = profiler.Domain("d")
    domain.new_counter("c", 1)
    profiler.dump(finished=False)
    copy("unfinished")
    domain.new_counter('a "quote"', 1)
    domain.new_counter("x" * 200, 1)
    profiler.dump()
    shutil.move("unfinished.json", "names.json")
    copy("names")


def second():
    """A second dump that is not continuous."""
    profiler.set_config(filename="second.json", continuous_dump=False)
    counter = profiler.Domain("d").new_counter("c")
    for i in range(2):
        profiler.set_state("run")
        counter.set_value(i)
        profiler.dump()
    copy("second")


def counters():
    profiler.set_config(filename="counters.json", continuous_dump=False, aggregate_stats=True)
    profiler.set_state("run")
    domain = profiler.Domain("counters")
    for value in (2, 10):
        domain.new_counter("average", value)
    domain.new_counter("large", LARGE)
    found = json.loads(profiler.dumps(format="json"))
    rows = {**found["Time"].get("counters", {}), **found.get("Counter", {}).get("counters", {})}
    return {"average": rows["average"]["Avg"], "least": rows["large"]["Min"]}


def freed():
    """A block that is older than the profile is given back."""
    old = mxnet.nd.ones((100, 100))
    old.wait_to_read()
    profiler.set_config(profile_all=True, continuous_dump=False, filename="freed.json")
    profiler.set_state("run")
    del old
    mxnet.nd.waitall()
    profiler.set_state("stop")
    profiler.dump()
    copy("freed")


def reset():
    """Statistics are reset that were never gathered; MXNet's ends here."""
    profiler.set_config(filename="reset.json", continuous_dump=False, aggregate_stats=False)
    profiler.set_state("run")
    profiler.dumps(reset=True)
    return True


continuous()
second()
told = counters()
freed()
print(json.dumps(told), flush=True)
reset()
print("reset", flush=True)
