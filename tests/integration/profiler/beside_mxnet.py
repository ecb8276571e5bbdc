# beside_mxnet.py: one program for MXNet's own profiler and for memledger's, which prints what
# they have in common; MXNet is loaded in both.
#
#     beside_mxnet.py mxnet|memledger
#
# SPDX-License-Identifier: Apache-2.0
import json
import sys

import mxnet

if sys.argv[1] == "mxnet":
    from mxnet import profiler
else:
    from memledger.mxnet import profiler


def is_mxnet_error(function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except mxnet.base.MXNetError:
        return True
    return False


def category(table, name):
    """The lines below a category's name."""
    return table.partition(f"\n{name}\n=====")[2].partition("\n\n")[0].splitlines()[1:]


def scopes():
    """What MXNet itself takes for the scope; 1.9.1 has none."""
    current = getattr(mxnet.profiler, "_current_scope", None)
    if not current:
        return None
    found = []
    with profiler.scope("encoder") as outer:
        found += [outer, current.get()]
        with profiler.scope("attention:") as inner:
            found += [inner, current.get()]
    return found + [current.get()]


errors = [is_mxnet_error(profiler.dump), is_mxnet_error(profiler.set_config, nonsense=1)]
profiler.set_config(profile_all=True, aggregate_stats=True, filename=f"{sys.argv[1]}.json")
profiler.set_state("run")
domain = profiler.Domain("dom")
for duration in (domain.new_task("task"), domain.new_frame("frame"), profiler.Event("event")):
    for _ in range(2):
        duration.start()
        duration.stop()
counter = domain.new_counter("counter", 5)
counter += 3
counter -= 1
for scope in ("process", "thread", "global", "task", "marker"):
    domain.new_marker("marker").mark(scope)
errors.append(is_mxnet_error(domain.new_marker("marker").mark, "galaxy"))
profiler.pause()
counter += 1
profiler.resume()
counter += 1
mxnet.nd.ones((10, 10)).wait_to_read()
table = profiler.dumps()
found = json.loads(profiler.dumps(format="json"))
print(json.dumps({
    "scopes": scopes(),
    "head": table.splitlines()[:3],
    "columns": category(table, "dom,frame")[:2],
    "members": {f"{cat} {name}": list(found["Time"][cat][name])
               for cat, name in (("dom", "task"), ("dom,frame", "frame"), ("event", "event"))},
    "units": {key: found["Unit"][key] for key in ("Time", "Memory")},
    "errors": errors,
}))
profiler.set_state("stop")
profiler.dump()
