# mxnet_profiled.py: a small program under MXNet's own profiler or memledger's; it prints the
# statistics of the profiler that it used.
#
#     mxnet_profiled.py mxnet|memledger CASE
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import sys
import threading

import mxnet

if sys.argv[1] == "mxnet":
    from mxnet import profiler
else:
    from memledger.mxnet import profiler


def work(size=100):
    """Two operators, one wait; what they made is given back."""
    a = mxnet.nd.ones((size, size))
    mxnet.nd.dot(a, a).wait_to_read()
    del a
    mxnet.nd.waitall()


def use_objects():
    domain = profiler.Domain("dom")
    counter = domain.new_counter("counter", 5)
    for duration in (domain.new_task("task"), domain.new_frame("frame"), profiler.Event("event")):
        for _ in range(2):
            duration.start()
            counter += 3
            duration.stop()
    domain.new_marker("marker").mark("thread")
    profiler.pause()
    counter += 100
    domain.new_marker("unheard of").mark()
    work()
    profiler.resume()
    counter += 1


def tell(**more):
    found = json.loads(profiler.dumps(format="json"))
    print(json.dumps({"time": {c: {n: v["Count"] for n, v in rows.items()}
                               for c, rows in found["Time"].items()},
                      "memory": found["Memory"], **more}))


def everything():
    work()  # before the profiler runs
    profiler.set_config(profile_all=True, aggregate_stats=True, filename=f"{sys.argv[1]}.json")
    profiler.set_state("run")
    work()
    use_objects()
    profiler.set_state("stop")
    work()
    tell()
    profiler.dump()


def late():
    """A block that is older than the recording is given back in it, and what 2.0's pools
    kept of it."""
    old = mxnet.nd.ones((300, 300))
    old.wait_to_read()
    profiler.set_config(profile_all=True, aggregate_stats=True, filename="late.json")
    profiler.set_state("run")
    work()
    profiler.pause()
    del old
    mxnet.nd.waitall()
    mxnet.cpu().empty_cache()
    profiler.resume()
    tell()
    profiler.dump()


def network():
    """Function that runs a network forward and backward: a symbol bound to an executor, which
    2.0 no longer has, or a block whose graph is static."""
    if hasattr(mxnet.symbol.Symbol, "simple_bind"):
        net = mxnet.symbol.FullyConnected(mxnet.symbol.var("data"), num_hidden=8, name="fc1")
        net = mxnet.symbol.Activation(net, act_type="relu", name="relu1")
        net = mxnet.symbol.SoftmaxOutput(net, name="softmax")
        executor = net.simple_bind(mxnet.cpu(), data=(4, 10))

        def step():
            executor.forward(is_train=True)
            executor.backward()
        return step
    block = mxnet.gluon.nn.HybridSequential()
    block.add(mxnet.gluon.nn.Dense(8, activation="relu"), mxnet.gluon.nn.Dense(4))
    block.initialize()
    block.hybridize(static_alloc=True, static_shape=True)
    data = mxnet.np.ones((4, 10))

    def step():
        with mxnet.autograd.record():
            result = block(data)
        result.backward()
    return step


def training():
    """Symbolic and imperative operators, then each kind alone."""
    told = {}
    for kinds in (("profile_symbolic", "profile_imperative"), ("profile_symbolic",),
                  ("profile_imperative",)):
        profiler.set_config(profile_symbolic="profile_symbolic" in kinds, profile_api=False,
                            profile_imperative="profile_imperative" in kinds,
                            profile_memory=False, aggregate_stats=True,
                            filename=f"{sys.argv[1]}.json")
        profiler.set_state("run")
        step = network()
        for _ in range(3):
            step()
        work()
        profiler.set_state("stop")
        found = json.loads(profiler.dumps(reset=True, format="json"))["Time"]
        told[" ".join(kinds)] = {name: row["Count"]
                                 for name, row in found.get("operator", {}).items()}
        del step
        mxnet.nd.waitall()
    print(json.dumps(told))


def dots():
    """Ten operators, twenty times: those that the program waited for have ended. Those of before
    are still running when the profiler starts."""
    profiler.set_config(aggregate_stats=True, filename="dots.json")
    large, small = mxnet.nd.ones((700, 700)), mxnet.nd.ones((50, 50))
    mxnet.nd.waitall()
    told = []
    for _ in range(20):
        before = mxnet.nd.dot(large, large)
        profiler.set_state("run")
        kept = [mxnet.nd.dot(small, small) for _ in range(10)]
        mxnet.nd.waitall()
        profiler.set_state("stop")
        found = json.loads(profiler.dumps(reset=True, format="json"))["Time"]
        told.append(found["operator"]["dot"]["Count"])
        del before, kept
        mxnet.nd.waitall()
    print(json.dumps(told))


def memory_profile():
    """The memory profile is rewritten at every dump."""
    profiler.set_config(gpu_memory_profile_filename_prefix="held", filename="held.json")
    profiler.set_state("run")
    kept = [mxnet.nd.ones((1000, size)) for size in (10, 30)]
    mxnet.nd.waitall()
    profiler.dump(False)
    with open(f"held-pid_{os.getpid()}.csv") as file:
        first = file.read()
    kept += [mxnet.nd.ones((1000, 50))]
    mxnet.nd.waitall()
    profiler.dump()
    with open(f"held-pid_{os.getpid()}.csv") as file:
        print(json.dumps({"first": first, "second": file.read(), "pid": os.getpid()}))


def named_memory():
    """The memory profile of a model that is built and trained after the profiler started."""
    profiler.set_config(gpu_memory_profile_filename_prefix="named", filename="named.json")
    profiler.set_state("run")
    arrays = mxnet.np if mxnet.__version__.startswith("2") else mxnet.nd
    net = mxnet.gluon.nn.Dense(8, in_units=16)
    net.initialize()
    trainer = mxnet.gluon.Trainer(net.collect_params(), "sgd", {"momentum": 0.9})
    with mxnet.autograd.record():
        out = net(arrays.ones((4, 16)))
    out.backward()
    trainer.step(4)
    mxnet.nd.waitall()
    profiler.dump()
    with open(f"named-pid_{os.getpid()}.csv") as file:
        print(json.dumps(file.read()))


def parts():
    """Each part switched on alone."""
    names = ("profile_symbolic", "profile_imperative", "profile_api", "profile_memory")
    for name in names:
        profiler.set_config(**{n: n == name for n in names}, filename=f"{name}.json")
        profiler.set_state("run")
        work()
        profiler.set_state("stop")
        profiler.dump()


def threads():
    """Calls that overlap have a task each."""
    profiler.set_config(profile_all=True, aggregate_stats=True, filename="threads.json")
    profiler.set_state("run")
    workers = [threading.Thread(target=lambda: [work() for _ in range(20)]) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    tell()
    profiler.set_state("stop")
    profiler.dump()


def fails():
    """A call that fails ends too."""
    profiler.set_config(profile_all=True, aggregate_stats=True, filename="fails.json")
    profiler.set_state("run")
    said = []
    for _ in range(20):
        try:
            mxnet.nd.dot(mxnet.nd.ones((2, 3)), mxnet.nd.ones((2, 3)))
        except mxnet.base.MXNetError as error:
            said.append(str(error).splitlines()[0])
    work()
    tell(said=len(said))


def forks():
    """A child's profile does not run until the child says so."""
    profiler.set_config(profile_all=True, filename="forks.json")
    profiler.set_state("run")
    work()
    sys.stdout.flush()
    child = os.fork()
    if not child:
        domain = profiler.Domain("child")
        domain.new_counter("c", 1)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    work()
    profiler.dump()
    print(json.dumps({"status": status}))


def unprofiled():
    work()
    profiler.Domain("dom").new_counter("counter", 5)
    print(json.dumps({}))


{f.__name__: f for f in (everything, training, dots, memory_profile, named_memory, late, parts,
                         threads, fails, forks, unprofiled)}[sys.argv[2]]()
