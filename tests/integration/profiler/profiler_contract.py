# profiler_contract.py: MXNet's profiler API in Python, name by name, as the old profiler
# documents it; test_profiler_contract.py runs this with several interpreters, with MXNet
# loaded and without.
#
#     profiler_contract.py [mxnet]
#
# Prints which names were checked. For CPython 3.9 and later.
#
# SPDX-License-Identifier: Apache-2.0
import inspect
import json
import sys
import time
import warnings

if sys.argv[1:] == ["mxnet"]:
    import mxnet  # noqa: F401  the profiler takes notice of it

from memledger.mxnet import profiler

checked = {}


def checks(*names):
    """The function checks the behaviour of these."""
    def add(function):
        checked.update(dict.fromkeys(names, function))
        return function
    return add


def load(name):
    with open(name, encoding="utf-8") as f:
        return json.load(f)["traceEvents"]


def begin(name, **settings):
    profiler.set_config(filename=f"{name}.json", **settings)
    profiler.set_state("run")
    return profiler.Domain(name)


def end(name):
    profiler.dump()
    return load(f"{name}.json")


def values(events, name):
    return [e["args"][name] for e in events if e["ph"] == "C" and e["name"] == name]


def pairs(events, name):
    return [(e["ph"], e["cat"]) for e in events if e["name"] == name and e["ph"] != "M"]


def error_of(function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except Exception as error:
        return error
    return None


def signature(function):
    return str(inspect.signature(function)).replace('"', "'")


def equal(got, wanted):
    assert got == wanted, f"{got!r}, expected {wanted!r}"


# ---- Control ----------------------------------------------------------------------


def check_first_run():
    """Before all others: nothing was set, and nothing has run."""
    assert "run" in str(error_of(profiler.dump)), "dump() before the first run"
    equal(profiler.set_state(), None)  # "stop" is the default
    profiler.set_state("run")
    counter = profiler.Domain("first").new_counter("c", 1)
    profiler.dump(False)
    equal(values(load("profile.json"), "c"), [1])  # filename
    counter += 1
    profiler.dump(finished=False)
    equal(values(load("profile.json"), "c"), [1, 2])  # continuous_dump
    assert "first" not in profiler.dumps(), "aggregate_stats is on by default"
    profiler.dump()
    profiler.set_state("stop")


@checks("set_config")
def check_set_config():
    equal(signature(profiler.set_config), "(**kwargs)")
    for value in (True, False, 1, 0, "TRUE", "False", "tRuE"):
        profiler.set_config(profile_all=value, profile_symbolic=True, profile_imperative=True,
                            profile_memory=True, profile_api=True, continuous_dump=True,
                            dump_period=1.0, aggregate_stats=True, profile_process="worker",
                            gpu_memory_profile_filename_prefix="gpu", filename="unused.json")
    for bad in ({"profile_all": "yes"}, {"dump_period": 0}, {"dump_period": -1}, {"nonsense": 1},
                {"profile_process": "scheduler"}, {"aggregate_stats": 2}):
        error = error_of(profiler.set_config, **bad)
        assert isinstance(error, RuntimeError), f"{bad}: {error!r}"
        assert next(iter(bad)) in str(error), error


@checks("set_state")
def check_set_state():
    """Stopped is also paused; running enables output and ends a pause."""
    equal(signature(profiler.set_state), "(state='stop', profile_process='worker')")
    counter = begin("states").new_counter("c", 1)
    profiler.set_state("stop")
    counter += 1
    profiler.set_state("run")
    counter += 1
    profiler.pause()
    counter += 1
    profiler.set_state("run")
    counter += 1
    equal(values(end("states"), "c"), [1, 3, 5])
    assert isinstance(error_of(profiler.set_state, "go"), ValueError)


@checks("pause", "resume")
def check_pause():
    """Not nested; drops new records."""
    equal(signature(profiler.pause), "(profile_process='worker')")
    equal(signature(profiler.resume), "(profile_process='worker')")
    counter = begin("pauses").new_counter("c", 1)
    profiler.pause()
    profiler.pause()
    counter += 1
    profiler.resume()
    counter += 1
    equal(values(end("pauses"), "c"), [1, 3])


@checks("dump")
def check_dump():
    """Continuous dumps append, one of a period comes by itself; others begin anew, and end
    the file until the next run."""
    equal(signature(profiler.dump), "(finished=True, profile_process='worker')")
    counter = begin("dumps", continuous_dump=True, dump_period=0.01).new_counter("c", 1)
    deadline = time.monotonic() + 60
    while not values(load_if_there("dumps.json"), "c") and time.monotonic() < deadline:
        time.sleep(0.005)
    counter += 1
    equal(values(end("dumps"), "c"), [1, 2])
    counter += 1
    profiler.dump()
    equal(values(load("dumps.json"), "c"), [1, 2])  # it was finished
    profiler.set_config(filename="whole.json", continuous_dump=False)
    for number in (10, 20):
        profiler.set_state("run")
        counter.set_value(number)
        profiler.dump(False)
        counter += 1  # no output any more
        equal(values(load("whole.json"), "c"), [number])
    profiler.set_config(continuous_dump=True, dump_period=1)


def load_if_there(name):
    try:
        return load(name)
    except (OSError, ValueError):
        return []


@checks("dumps")
def check_dumps():
    equal(signature(profiler.dumps),
          "(reset=False, format='table', sort_by='total', ascending=False)")
    domain = begin("table", aggregate_stats=True)
    task = domain.new_task("a task")
    for _ in range(3):
        task.start()
        task.stop()
    domain.new_counter("small", 1)
    domain.new_counter("large", 9)
    domain.new_marker("no row").mark()
    table = profiler.dumps()
    assert table.startswith("\nProfile Statistics:\n\tNote the difference in units for different "
                            "entries.\n"), table
    section = table.split("\ntable\n=================\n")[1].splitlines()
    equal(section[0], f"{'Name':<25}{'Total Count':>16}" + "".join(
        f" {title:>16}" for title in ("Time (ms)", "Min Time (ms)", "Max Time (ms)",
                                      "Avg Time (ms)")))
    equal(section[2][:41], f"{'a task':<25}{3:>16}")
    assert "no row" not in table, table
    found = json.loads(profiler.dumps(format="json"))
    equal(list(found["Time"]["table"]["a task"]), ["Count", "Total", "Min", "Max", "Avg"])
    equal([found["Unit"]["Time"], found["Unit"]["Memory"]], ["ms", "kB"])
    for key in ("total", "avg", "min", "max"):
        for ascending in (False, True):
            names = list(json.loads(profiler.dumps(format="json", sort_by=key,
                                                   ascending=ascending))["Counter"]["table"])
            equal(names, ["small", "large"] if ascending else ["large", "small"])
    assert json.loads(profiler.dumps(sort_by="count", format="json"))
    assert "a task" in profiler.dumps(reset=True), "the last before the reset"
    assert "a task" not in profiler.dumps(), "reset"
    for bad in ({"format": "xml"}, {"sort_by": "median"}):
        assert isinstance(error_of(profiler.dumps, **bad), ValueError), bad
    end("table")


@checks("set_kvstore_handle")
def check_kvstore_handle():
    equal(signature(profiler.set_kvstore_handle), "(handle)")
    profiler.set_kvstore_handle(77)
    equal(profiler.profiler_kvstore_handle, 77)


@checks("scope", "Scope")
def check_scope():
    """Appends a colon, and the enclosing scope's name before it."""
    equal(signature(profiler.scope), "(name='<unk>:', append_mode=True)")
    with profiler.scope() as name:
        equal(name, "<unk>:")
    with profiler.scope("a") as outer, profiler.scope("b:") as inner:
        with profiler.Scope("c", append_mode=False) as alone:
            equal([outer, inner, alone], ["a:", "a:b:", "c:"])


@checks("profiler_set_config", "profiler_set_state", "dump_profile")
def check_deprecated():
    equal(signature(profiler.profiler_set_config), "(mode='symbolic', filename='profile.json')")
    equal(signature(profiler.profiler_set_state), "(state='stop')")
    equal(signature(profiler.dump_profile), "()")
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        profiler.profiler_set_config("all", "old.json")
        profiler.profiler_set_state("run")
        profiler.Domain("old").new_counter("c", 4)
        profiler.dump_profile()
        profiler.profiler_set_state("stop")
    equal(values(load("old.json"), "c"), [4])
    equal(["deprecated" in str(w.message) for w in warned], [True] * 4)
    profiler.set_config(profile_all=False)


# ---- Objects ----------------------------------------------------------------------


@checks("Domain", "Domain.new_task", "Domain.new_frame", "Domain.new_counter",
        "Domain.new_marker")
def check_domain():
    equal(signature(profiler.Domain), "(name)")
    equal(signature(profiler.Domain.new_counter), "(self, name, value=None)")
    domain = begin("domain")
    equal(str(domain), "domain")
    made = [domain.new_task("t"), domain.new_frame("f"), domain.new_counter("c"),
            domain.new_marker("m")]
    equal([type(thing).__name__ for thing in made], ["Task", "Frame", "Counter", "Marker"])
    equal([str(thing) for thing in made], list("tfcm"))
    end("domain")


@checks("Task", "Task.start", "Task.stop", "Frame", "Frame.start", "Frame.stop", "Event",
        "Event.start", "Event.stop")
def check_durations():
    """A pair at the stop; absolute microseconds; each category is a process of its own."""
    domain = begin("durations")
    task, frame, event = (profiler.Task(domain, "task"), profiler.Frame(domain, "frame"),
                          profiler.Event("event"))
    before = time.time()
    for duration in (task, frame, event):
        duration.start()
        duration.stop()
    unended = domain.new_task("unended")
    unended.start()
    events = end("durations")
    equal(pairs(events, "task"), [("b", "durations"), ("e", "durations")])
    equal(pairs(events, "frame"), [("(", "durations,frame"), (")", "durations,frame")])
    equal(pairs(events, "event"), [("B", "event"), ("E", "event")])
    equal(pairs(events, "unended"), [])
    begins = [e for e in events if e["name"] == "task" and e["ph"] == "b"]
    assert "id" in begins[0] and abs(begins[0]["ts"] / 1e6 - before) < 60, begins
    processes = {e["args"]["name"]: e["pid"] for e in events if e["ph"] == "M"}
    for e in events:
        if e["ph"] in "be" and e["name"] == "task":
            equal(e["pid"], processes["durations"])
    equal(processes["cpu/0"], 0)
    assert len(set(processes.values())) == len(processes), processes


@checks("Counter", "Counter.set_value", "Counter.increment", "Counter.decrement")
def check_counter():
    equal(signature(profiler.Counter), "(domain, name, value=None)")
    equal(signature(profiler.Counter.increment), "(self, delta=1)")
    equal(signature(profiler.Counter.decrement), "(self, delta=1)")
    counter = profiler.Counter(begin("counters"), "c", 5)
    counter.set_value(10)
    counter.increment()
    counter.increment(5)
    counter.decrement()
    counter.decrement(2)
    counter += 3
    counter -= 4
    events = end("counters")
    equal(values(events, "c"), [5, 10, 11, 16, 15, 13, 16, 12])
    equal({e["cat"] for e in events if e["ph"] == "C" and e["name"] == "c"}, {"counters"})


@checks("Marker", "Marker.mark")
def check_marker():
    equal(signature(profiler.Marker.mark), "(self, scope='process')")
    marker = profiler.Marker(begin("markers"), "m")
    marker.mark()
    for scope in ("global", "process", "thread", "task", "marker"):
        marker.mark(scope)
    marks = [e for e in end("markers") if e["name"] == "m"]
    equal([(e["ph"], e["cat"], e["s"]) for e in marks],
          [("n", "markers,instant_marker", s) for s in "pgptpp"])
    assert error_of(marker.mark, "galaxy"), "a scope that does not exist"


def public_names():
    """What a program can call: names of the module, methods of its classes."""
    for name in profiler.__all__:
        yield name
        member = getattr(profiler, name)
        if inspect.isclass(member):
            yield from (f"{name}.{method}" for method, _ in
                        inspect.getmembers(member, inspect.isfunction)
                        if not method.startswith("_"))


check_first_run()
for function in dict.fromkeys(checked.values()):
    function()
print(json.dumps({"checked": sorted(checked), "public": sorted(public_names())}))
