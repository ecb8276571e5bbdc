# mxnet_profiler_cases.py: programs that use memledger.mxnet.profiler as they would MXNet's own;
# test_mxnet_profiler.py checks the results.
#
#     mxnet_profiler_cases.py CASE
#
# SPDX-License-Identifier: Apache-2.0
import inspect
import json
import os
import shutil
import subprocess
import sys
import threading
import warnings

from memledger.mxnet import profiler


def tell(**found):
    print(json.dumps(found))


def use_all(domain_name="dom"):
    """One of each, made as programs make them."""
    domain = profiler.Domain(domain_name)
    made = (domain.new_task("task"), domain.new_frame("frame"), profiler.Event("event"))
    for duration in made:
        duration.start()
        duration.stop()
    counter = domain.new_counter("counter", 5)
    counter += 3
    counter -= 1
    counter.increment()
    counter.increment(10)
    counter.decrement()
    counter.decrement(2)
    counter.set_value(100)
    marker = domain.new_marker("marker")
    marker.mark()
    for scope in ("global", "process", "thread", "task", "marker"):
        marker.mark(scope)
    return domain, *made, counter, marker


def everything():
    profiler.set_config(profile_all=True, aggregate_stats=True, filename="all.json")
    profiler.set_state("run")
    made = use_all()
    tell(names=[str(thing) for thing in made], handles=[thing.handle > 0 for thing in made[:-1]],
         constructed=[str(kind(made[0], "x")) for kind in (profiler.Task, profiler.Frame,
                                                           profiler.Counter, profiler.Marker)])
    profiler.dump()


def defaults():
    """As SEEDS.md writes them."""
    functions = (profiler.set_state, profiler.dump, profiler.dumps, profiler.pause,
                 profiler.resume, profiler.scope, profiler.profiler_set_config,
                 profiler.profiler_set_state, profiler.dump_profile, profiler.Counter,
                 profiler.Domain.new_counter, profiler.Marker.mark, profiler.Counter.increment,
                 profiler.Counter.decrement, profiler.set_kvstore_handle)
    tell(**{function.__qualname__: [str(p) for p in inspect.signature(function).parameters.values()
                                    if p.name != "self"] for function in functions})


def default_file():
    """Nothing is set: the file has its default name, and is whole without a dump."""
    profiler.set_state("run")
    profiler.Domain("d").new_counter("c", 7)
    tell(statistics=profiler.dumps())


def dumps():
    """The file after each dump, continuous and not."""
    counter = profiler.Domain("d").new_counter("c")
    for continuous in (True, False):
        name = "growing" if continuous else "whole"
        profiler.set_config(filename=f"{name}.json", continuous_dump=continuous)
        for i in range(3):
            profiler.set_state("run")
            counter.set_value(i)
            profiler.dump(False)
            shutil.copy(f"{name}.json", f"{name}{i}.json")
        profiler.dump()
        profiler.dump(True)  # of a file that is finished: nothing to do
        profiler.set_state("stop")


def statistics():
    profiler.set_config(aggregate_stats=True)
    profiler.set_state("run")
    domain = profiler.Domain("d")
    for name, values in {"a": [1, 9], "b": [4], "c": [2, 2, 2]}.items():
        counter = domain.new_counter(name)
        for value in values:
            counter.set_value(value)
    order = {}
    for key in ("total", "avg", "min", "max", "count"):
        for ascending in (False, True):
            rows = json.loads(profiler.dumps(format="json", sort_by=key, ascending=ascending))
            order[f"{key} {ascending}"] = "".join(rows["Counter"]["d"])
    table, default, text = (profiler.dumps(), profiler.dumps(False, "table", "total", False),
                            profiler.dumps(reset=True, format="json"))
    tell(order=order, table=table, same=table == default, json=json.loads(text),
         after=profiler.dumps(), after_json=json.loads(profiler.dumps(format="json")))


def states():
    profiler.set_config(filename="states.json", aggregate_stats=True)
    counter = profiler.Domain("d").new_counter("c", 1)  # before it runs
    profiler.set_state("run")
    counter += 1
    profiler.pause()
    counter += 1
    profiler.pause()
    profiler.resume()  # pauses do not nest
    counter += 1
    profiler.set_state("stop")
    counter += 1
    profiler.set_state()  # "stop", once more
    profiler.set_state("run")
    counter += 1
    profiler.dump()


def error_of(function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except Exception as error:
        return [type(error).__name__, str(error)]
    return None


def wrong():
    domain = profiler.Domain("d")
    counter = domain.new_counter("c", 3)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        domain.new_task("t").stop()
    tell(dump=error_of(profiler.dump), key=error_of(profiler.set_config, filname="x"),
         value=error_of(profiler.set_config, filename="never.json", profile_all="maybe"),
         period=error_of(profiler.set_config, dump_period=0),
         whose=error_of(profiler.set_config, profile_process="scheduler"),
         state=error_of(profiler.set_state, "go"),
         process=error_of(profiler.pause, "scheduler"),
         format=error_of(profiler.dumps, format="xml"),
         sort=error_of(profiler.dumps, sort_by="median"),
         scope=error_of(domain.new_marker("m").mark, "galaxy"),
         negative=error_of(counter.set_value, -1), large=error_of(counter.set_value, 1 << 63),
         mode=error_of(profiler.profiler_set_config, "none"),
         stop=[str(w.message) for w in warned])
    for value in (True, "TRUE", 1, "1", False, "false", 0, "0"):
        profiler.set_config(continuous_dump=value, dump_period=0.5)
    profiler.set_state("run")
    profiler.dump()


def deprecated():
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        profiler.profiler_set_config(mode="all", filename="old.json")
        profiler.profiler_set_state("run")
        profiler.Domain("d").new_counter("c", 1)
        profiler.dump_profile()
        profiler.profiler_set_state()
    tell(warnings=[[str(w.message), w.category.__name__, os.path.basename(w.filename)]
                   for w in warned])


def scopes():
    names, kept = [], []
    with profiler.scope() as name:
        names.append(name)
    with profiler.scope("encoder") as outer:
        with profiler.scope("attention:") as inner, profiler.scope("alone", False) as alone:
            names += [outer, inner, alone]
            kept.append(bytearray(3 << 20))
        with profiler.Scope("again", append_mode=True) as again:
            names.append(again)
    try:
        with profiler.scope("fails"):
            raise KeyError
    except KeyError:
        pass
    with profiler.scope("after") as after:
        names.append(after)
    tell(names=names)


def threads():
    """Dumps and objects of several threads at once."""
    profiler.set_config(filename="threads.json", aggregate_stats=True)
    profiler.set_state("run")
    domain = profiler.Domain("d")

    def work(number):
        counter, task = domain.new_counter(f"thread {number}"), domain.new_task("work")
        for _ in range(50):
            task.start()
            counter.increment()
            task.stop()
        profiler.dump(False)

    workers = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    tell(count=json.loads(profiler.dumps(format="json"))["Time"]["d"]["work"]["Count"])


def names():
    """Those that need care in JSON, or in C."""
    profiler.set_config(filename="names.json")
    profiler.set_state("run")
    for name in ('a "quote" \\ and\ttab', "größer", "x" * 200, "nul\0l", "half \ud800"):
        profiler.Domain(name).new_counter(name, 1)
    profiler.dump()


def parts():
    """Memory and operators, as PyTorch makes them here, each switched on and off."""
    import torch
    for memory, symbolic, imperative in ((1, 0, 1), (0, 1, 0), (1, 0, 0)):
        name = f"{memory}{symbolic}{imperative}.json"
        profiler.set_config(filename=name, profile_memory=memory, profile_symbolic=symbolic,
                            profile_imperative=imperative, aggregate_stats=True)
        profiler.set_state("run")
        torch.ones(1000) + 1
        profiler.dump()
        profiler.set_state("stop")
    tell(table=profiler.dumps())


SERVER = """
import sys
from memledger.mxnet import profiler
counter = profiler.Domain("kvstore").new_counter("served")
print("ready", flush=True)
for line in sys.stdin:
    counter += 1
    print("served", flush=True)
"""


def servers():
    """A worker drives the profile of a server, as through a kvstore."""
    server = subprocess.Popen([sys.executable, "-c", SERVER], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True,
                              env=os.environ | {"DMLC_ROLE": "server"})

    def serve():
        server.stdin.write("\n")
        server.stdin.flush()
        assert server.stdout.readline() == "served\n"

    assert server.stdout.readline() == "ready\n"
    profiler.set_kvstore_handle(12345)
    profiler.set_config(filename="server.json", profile_process="server")
    profiler.set_state("run", profile_process="server")
    serve()
    profiler.pause(profile_process="server")
    serve()
    profiler.resume("server")
    serve()
    profiler.dump(finished=False, profile_process="server")
    profiler.set_state("stop", "server")
    server.stdin.close()
    server.wait()
    tell(handle=profiler.profiler_kvstore_handle)


def mode():
    """MXNET_PROFILER_MODE holds until the first set_config()."""
    from memledger import _native
    sent = []
    _native.profiler_config, send = sent.append, _native.profiler_config
    profiler._obey_environment()
    profiler.set_config(profile_api=False)
    profiler.set_config(filename="x.json")
    _native.profiler_config = send
    tell(sent=[dict(settings) for settings in sent])


def autostarted():
    tell(variable=os.environ.get("MXNET_PROFILER_AUTOSTART"))
    profiler.Domain("d").new_counter("c", 3)


def late():
    """Objects, values and settings from before the first run, which begins a recording."""
    profiler.set_config(filename="late.json", aggregate_stats=True)
    os.mkdir("elsewhere")
    os.chdir("elsewhere")
    domain = profiler.Domain("d")
    counter, task = domain.new_counter("c", 5), domain.new_task("t")
    counter += 1
    task.start()
    before = [profiler.dumps(), counter.handle, error_of(profiler.dump),
              error_of(profiler.set_config, filname="x")]
    profiler.pause()
    profiler.resume()
    domain.new_marker("m").mark()
    profiler.set_state("run")
    task.stop()
    counter += 1
    task.start()
    task.stop()
    tell(before=before, table=profiler.dumps(), path=os.getcwd())
    profiler.dump()
    profiler.set_state("stop")


def again():
    """A second recording, and a child, know what was set and made."""
    import memledger
    profiler.set_config(filename="again.json", aggregate_stats=True)
    counter = profiler.Domain("d").new_counter("c")
    profiler.set_state("run")
    counter += 1
    memledger.stop()
    os.rename("again.json", "first.json")
    profiler.set_state("run")
    counter += 1
    text = profiler.dumps()
    child = os.fork()
    if not child:
        profiler.set_config(filename="child.json")
        profiler.set_state("run")
        counter += 5
        profiler.dump()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    tell(text=text, child=status)


def untouched():
    """Without a run there is no recording."""
    profiler.set_config(filename="never.json", profile_process="server")
    use_all()
    profiler.set_state("stop")
    profiler.set_state("run", "server")
    with profiler.scope("s") as name:
        tell(name=name, dumps=profiler.dumps())


def orphaned():
    """The collector is killed: dumps warn, nothing raises."""
    import signal
    profiler.set_config(aggregate_stats=True)
    profiler.set_state("run")
    from memledger import _recording
    os.kill(_recording._current.collector, signal.SIGKILL)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        use_all()
        profiler.dump(False)
        text = profiler.dumps()
    tell(text=text, warnings=len(warned))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
