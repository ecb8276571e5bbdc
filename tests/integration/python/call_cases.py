# call_cases.py CASE: calls of modules, as torch.nn.Module and mxnet.gluon.Block make them,
# through the package's own callables, without a framework. Prints its findings as JSON.
#
# SPDX-License-Identifier: Apache-2.0
import json
import sys
import threading

from memledger import _native

THREADS, ROUNDS = 4, 500


def say(**found):
    print(json.dumps(found))


def interrupt(*_):
    raise KeyboardInterrupt


def name_tree(module, prefix=""):
    path = prefix + module.name
    _native.name_module(module, path, type(module).__name__)
    for inner in module.inner:
        name_tree(inner, path + ".")


class Module:
    namer = staticmethod(name_tree)

    def __init__(self, name, *inner, forward=None):
        self.name, self.inner, self.forward = name, inner, forward

    def call(self, *args):
        result = self.forward(*args) if self.forward else args
        for inner in self.inner:
            inner(*args)
        return result

    # The namer is looked up when it is needed, so that a case can have its own.
    __call__ = _native.scoped_module(call, lambda root: Module.namer(root))


def raised(function, *args):
    try:
        function(*args)
    except BaseException as error:
        return type(error).__name__
    return None


def exceptions():
    """Scopes end however the call does, and the next one is outermost again."""
    def fail():
        raise ZeroDivisionError
    say(raised=[raised(Module("outer", Module("inner", forward=fail))) for _ in range(3)])


def interrupts():
    """One that comes while names are given ends the call before it began."""
    calls = []
    module = Module("late", forward=lambda: calls.append(1))
    Module.namer = staticmethod(interrupt)
    found = [raised(module)]
    for make, options in ((_native.scoped_trainer, {"number": 1}),
                          (_native.scoped_phase, {"number": _native.PHASE_FORWARD})):
        found.append(raised(make(lambda _: calls.append(2), interrupt, **options), module))
    Module.namer = staticmethod(name_tree)
    module()
    trainer = _native.scoped_trainer(lambda _: calls.append(3), lambda _: "SGD", number=1)
    trainer(module)
    say(raised=found, calls=calls)


def recursion():
    """A module that calls itself, and one whose call makes a generator."""
    module = Module("recursive")
    module.forward = lambda depth: depth and module(depth - 1)
    module(3)

    def parts():
        yield from range(3)
    say(parts=list(Module("lazy", forward=parts)()))


def threads():
    """Each thread has its own way into a model that they share."""
    model = Module("model", Module("a"), Module("b", Module("c")))

    def work():
        for _ in range(ROUNDS):
            model()
    workers = [threading.Thread(target=work) for _ in range(THREADS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    say(rounds=THREADS * ROUNDS)


class Block(Module):
    """With the work around a call that MXNet's blocks have."""
    __call__ = _native.scoped_module(Module.call, name_tree, lambda *_: None, lambda *_: None)


def greenlets():
    """Calls of one thread that end in another order than they began, then one of the first."""
    import greenlet
    main = greenlet.getcurrent()
    first, second = (Block(name, forward=main.switch) for name in ("first", "second"))
    turns = [greenlet.greenlet(lambda block=block: block()) for block in (first, second)]
    for turn in turns * 2:
        turn.switch()
    first.forward = None
    first()
    say(ended=[turn.dead for turn in turns])


def refused():
    """Of two functions that are put in front the second is refused: neither stays."""
    from memledger._in_front import all_or_nothing, put

    class Willing:
        def work(self):
            return 1

    before, raised = Willing.work, None
    try:
        with all_or_nothing():
            put(Willing, "work", lambda self: 2)
            put(int, "bit_length", lambda self: 3)
    except TypeError as error:
        raised = type(error).__name__
    say(raised=raised, put_back=Willing.work is before)


def phases():
    """The same of executors, each a module by its name, then one more call of the first."""
    import greenlet
    main = greenlet.getcurrent()

    class Executor:
        def __init__(self, name):
            self.name, self.forward = name, main.switch

        def run(self):
            if self.forward:
                self.forward()

        __call__ = _native.scoped_phase(run, lambda executor: executor.name,
                                        number=_native.PHASE_FORWARD)

    first, second = Executor("first"), Executor("second")
    turns = [greenlet.greenlet(lambda executor=executor: executor())
             for executor in (first, second)]
    for turn in turns * 2:
        turn.switch()
    first.forward = None
    first()
    say(ended=[turn.dead for turn in turns])


globals()[sys.argv[1]]()
