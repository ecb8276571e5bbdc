"""Layers for the memory of code that torch.compile makes.

Compiled code calls no modules: one function runs a whole region, forward or backward. PyTorch's
graph says for each node in which module it was created (nn_module_stack), and the generated code
which buffer holds which node (_generated_code.py). Before each statement of that code which
allocates, this module puts a call that enters the layer (compiled_calls.c). The code is otherwise
unchanged: no graph break, no other cache key, nothing compiled again.

A buffer that a region returns belongs to the module of the node that it holds: activations and
gradients. Any other belongs to the kernel that first writes it: to the module of all its nodes, or
to the one around them.

Names are relative to the module that runs the region, because equal layers share their code.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import functools
import sys
import threading
import types

from . import _native
from ._generated_code import ENTER, GeneratedCode
from ._in_front import put

CODE = "_memledger_code"  # in a module of generated code: its GeneratedCode
FORWARD, BACKWARD, WHOLE_PASS = range(3)  # the kinds of regions

_here = threading.local()  # .loaded: modules of generated code, while a region is compiled
_running = {}   # compilation -> name of the module that runs the region, None: no module
_modules = {}   # key in nn_module_stack -> Layer


class Layer:
    """A named module: its name, the one of its outermost module, and the class of either."""

    def __init__(self, module):
        root = _native.module_root(module)
        self.root, self.name = _native.module_name(root), _native.module_name(module)
        self.classes = {self.root: type(root).__name__, self.name: type(module).__name__}

    @classmethod
    def of_names(cls, layer):
        """Of a tuple: the name of the outermost module, then the parts of the path."""
        self = cls.__new__(cls)
        self.root, self.name = layer[0], ".".join(layer[1:]) or layer[0]
        self.classes = {self.root: "", self.name: ""}
        return self

    def path(self):
        """Without the outermost module, which has its class's name."""
        return [] if self.name == self.root else self.name.split(".")


def watch(torch, before, after):
    """before() and after() are called around the compilation of a graph. Inductor itself is
    imported when it is first used. Precondition: inside all_or_nothing()."""
    compiler = getattr(torch, "_TorchCompileInductorWrapper", None)
    if compiler:
        put(compiler, "__call__", _around_compiling(compiler.__call__, before, after))


def _around_compiling(original, before, after):
    @functools.wraps(original)
    def __call__(self, model, inputs):
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(Exception):
                before()
                _watch_inductor()
                stack.enter_context(_without_kept_graphs())
            compiled = original(self, model, inputs)
        with contextlib.suppress(Exception):
            after()
        return compiled
    return __call__


def _without_kept_graphs():
    """PyTorch keeps the graphs of earlier runs as well as their code, and then makes no nodes: this
    makes it trace the graph again. It still finds the code."""
    from torch._functorch import config
    together = getattr(config, "_sync_cache_decision_cross_ranks", False)
    if together or not hasattr(config, "enable_autograd_cache"):
        return contextlib.nullcontext()  # the processes of a job must decide alike
    return config.patch(enable_autograd_cache=False)


def _watch_inductor():
    from torch._inductor import codecache, compile_fx
    inner = getattr(compile_fx, "_compile_fx_inner", None)
    if inner is None or hasattr(inner, "names_for_memledger"):
        return
    codes = codecache.PyCodeCache
    put(codes, "load_by_key_path", classmethod(_noting_code(codes.load_by_key_path.__func__)))
    put(compile_fx, "_compile_fx_inner", _naming_layers(inner))


def _noting_code(load):
    @functools.wraps(load)
    def load_by_key_path(*args, **kwargs):
        module = load(*args, **kwargs)
        if getattr(_here, "loaded", None) is not None:
            _here.loaded.append(module)
        return module
    return load_by_key_path


def _naming_layers(compile_graph):
    """The names are extra: errors must not reach the program."""
    @functools.wraps(compile_graph)
    def _compile_fx_inner(graph_module, *args, **kwargs):
        graph, outer, _here.loaded = None, getattr(_here, "loaded", None), []
        with contextlib.suppress(Exception):
            graph = Graph(graph_module, bool(kwargs.get("is_backward")) or in_captured_pass())
        try:
            compiled = compile_graph(graph_module, *args, **kwargs)
            with contextlib.suppress(Exception):
                _name_layers(compiled, graph, _here.loaded)
        finally:
            _here.loaded = outer
        return compiled
    _compile_fx_inner.names_for_memledger = True
    return _compile_fx_inner


def _name_layers(compiled, graph, loaded):
    module = next((each for each in reversed(loaded) if callable(vars(each).get("call"))), None)
    if module is None or graph is None or not graph.has_layers:
        return
    code = vars(module).get(CODE)
    if code is None:
        code = _instrument(module, compiled.source_code)
        setattr(module, CODE, code)
    owners = Owners(code, graph)
    layers = [graph.relative(owners.of(place) or graph.outside) for place in code.places]
    if any(layers):
        compiled.current_callable = _native.scoped_region(
            compiled.current_callable, namer=_native.pack_layers(layers),
            number=BACKWARD if graph.is_backward else FORWARD)


def in_captured_pass():
    """Whether the graph is a part of a backward pass that PyTorch has captured."""
    module = sys.modules.get("torch._dynamo.compiled_autograd")
    return getattr(module, "in_compiled_autograd_region", False)


def _instrument(module, source):
    code = GeneratedCode(source)
    changed = code.instrumented(module.__file__)
    setattr(module, ENTER, _native.enter_layer)
    for owner in (module, vars(module).get("Runner")):
        for function in list(vars(owner).values()) if owner else ():
            own = function.__code__ if isinstance(function, types.FunctionType) else None
            new = changed.get((own.co_name, own.co_firstlineno)) if own else None
            if new and new.co_freevars == own.co_freevars:
                function.__code__ = new
    return code


# ---- Functions of this package under the compiler ----------------------------------


def is_compiling_in(torch):
    """The function that says whether PyTorch's compiler traces its caller: a constant for the
    compiler, which goes on."""
    for name in ("compiler", "_dynamo"):
        is_compiling = getattr(getattr(torch, name, None), "is_compiling", None)
        if is_compiling:
            return is_compiling
    return bool  # of a PyTorch without a compiler: bool() is False


def makes_graph_in(torch):
    """The function that says whether PyTorch's compiler is at work: what it builds are modules too,
    with the parameters of an optimizer that it compiles, but no models."""
    context = getattr(getattr(torch, "_guards", None), "TracingContext", None)
    try_get = getattr(context, "try_get", None)
    return (lambda: try_get() is not None) if try_get else bool


def hide_package(torch):
    """Between the parts of a graph PyTorch's compiler compiles each function that runs. Those of
    this package run as they are; those of the program that they call are compiled as usual."""
    with contextlib.suppress(Exception):
        for name, module in list(sys.modules.items()):
            if name.startswith(f"{__package__}."):
                for code in _codes(module):
                    _skip(torch, code, with_callees=False)


def hide(torch, function):
    """Hides PyTorch's functions that it calls, too. Precondition: after hide_package()."""
    with contextlib.suppress(Exception):
        _skip(torch, function.__code__, with_callees=True)


def _skip(torch, code, with_callees):
    frames = torch._C._dynamo.eval_frame
    if hasattr(frames, "set_code_exec_strategy"):
        action = frames._FrameAction
        callees = action.SKIP if with_callees else action.DEFAULT
        frames.set_code_exec_strategy(code, frames._FrameExecStrategy(action.SKIP, callees))
    elif hasattr(frames, "skip_code"):  # older versions
        frames.skip_code(code)


def _codes(holder):
    """The code of the functions in a module or a class, and of those inside them."""
    for thing in list(vars(holder).values()):
        thing = getattr(thing, "__wrapped__", thing)
        if not str(getattr(thing, "__module__", "")).startswith(f"{__package__}."):
            continue
        if isinstance(thing, type):
            yield from _codes(thing)
        elif isinstance(thing, types.FunctionType):
            yield from _nested(thing.__code__)


def _nested(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _nested(constant)


# ---- Nodes -----------------------------------------------------------------------


class Graph:
    """A graph as it goes to inductor: the layer of each node, and what it returns. A layer is a
    tuple: the name of the outermost module, then the parts of the path."""

    def __init__(self, graph_module, is_backward):
        nodes = list(graph_module.graph.nodes)
        self.is_backward = is_backward
        self.classes = {}
        self._around = self._module_around()
        created = {node: self._created_in(node) for node in nodes}
        self.has_layers = any(created.values())
        # The module of memory that belongs to no layer.
        self.outside = self._around or (common(created.values()) or ())[:1] or None
        self._of = {}  # name of a node, or of the node of the program's graph -> layer
        for node in nodes:
            self._of[node.name] = created[node] or self._from_neighbours(node, created)
            source = node.meta.get("from_node")
            if source:
                self._of.setdefault(source[0].name, self._of[node.name])
        self.results = [getattr(item, "name", None) for item in nodes[-1].args[0]]

    def layer(self, name):
        return self._of.get(name)

    def _created_in(self, node):
        known = _innermost(node.meta, self.is_backward)
        if known is None:
            return None
        self.classes.update({(known.root, name): kind for name, kind in known.classes.items()})
        return (known.root, *known.path())

    def _from_neighbours(self, node, created):
        """An input belongs to those that use it, a sum of gradients to what it sums; another node
        was created outside the layers."""
        if node.op == "placeholder":
            return common([created[user] for user in node.users])
        if self.is_backward and "add" in str(node.target):
            return common([self._of.get(each.name) for each in node.all_input_nodes])
        return self.outside

    # ---- Names as the running module sees them ---------------------------------

    def _module_around(self):
        """The layer that runs the region. Backward is compiled later, where no module runs."""
        import torch
        number = str(torch._guards.CompileContext.current_compile_id())
        if self.is_backward:
            return _running.get(number)
        module = _native.innermost_module()
        known = Layer(module) if module is not None else None
        _running[number] = (known.root, *known.path()) if known else None
        return _running[number]

    def relative(self, layer):
        """For pack_layers."""
        around = self._around
        if layer is None or layer == around:
            return None
        root, path = layer[0], ".".join(layer[1:])
        kind = self.classes.get((root, path), "")
        if around is not None and layer[:len(around)] == around:
            return "", "", ".".join(layer[len(around):]), kind
        return root, self.classes.get((root, root), ""), path, kind


def _innermost(meta, is_backward):
    stack = meta.get("nn_module_stack") or meta.get("fwd_nn_module_stack") or {}
    found = (_layer_of(key, is_backward) for key in reversed(stack))
    return next(filter(None, found), None)


def layer_of_stack(meta):
    """The layer in which a node of a backward pass was created, or None."""
    known = _innermost(meta, is_backward=True)
    return known and (known.root, *known.path())


def note_layer(layer):
    """A value of nn_module_stack from which a Graph of backward reads that layer."""
    key = f"memledger {'.'.join(layer)}"
    if key not in _modules:
        _modules[key] = next((known for known in _modules.values()
                              if known and (known.root, *known.path()) == layer),
                             Layer.of_names(layer))
    import torch
    return {key: (".".join(layer[1:]), torch.nn.Module)}


def pack_root(layer):
    """For a whole pass: the module of memory that its code does not name."""
    return _native.pack_layers([(layer[0], "", "", "")] if layer else [])


def _layer_of(key, is_backward):
    """By the id of a module. That of backward may be gone: forward was compiled before."""
    if not is_backward or key not in _modules:
        module = _native.module_at(int(key)) if key.isdigit() else None
        _modules[key] = Layer(module) if module is not None else None
    return _modules[key]


def common(layers):
    """The innermost layer around all that are known; None: there is none."""
    known = [layer for layer in layers if layer]
    if not known:
        return None
    shortest, longest = min(known), max(known)
    length = 0
    while length < len(shortest) and shortest[length] == longest[length]:
        length += 1
    return shortest[:length] or None


# ---- Buffers ---------------------------------------------------------------------


class Owners:
    """The layer of each place in generated code that allocates."""

    def __init__(self, code, graph):
        self.code, self.graph = code, graph
        self._returned = {}  # buffer -> layer
        if len(code.results) == len(graph.results):
            for buffer, node in zip(code.results, graph.results):
                if buffer and graph.layer(node):
                    self._returned[code.storage(buffer)] = graph.layer(node)
        self._first = {}  # buffer -> the kernel that writes it first
        for kernel in code.kernels:
            for buffer in kernel.written:
                self._first.setdefault(buffer, kernel)

    def of(self, place):
        if place.buffer is None:
            return self._of_kernel(place.kernel)
        buffer = self.code.storage(place.buffer)
        return self._returned.get(buffer) or self._of_kernel(
            place.kernel or self._first.get(buffer))

    def _of_kernel(self, kernel):
        if kernel is None:
            return None
        layers = [self.graph.layer(name) for name in kernel.nodes]
        if kernel.is_operator and any(layers):
            return [layer for layer in layers if layer][-1]  # its operands come first
        return common(layers) or self._by_operands(kernel)

    def _by_operands(self, kernel):
        """For a kernel without a comment: by what it returns, and by the parameters that it reads;
        else by all that it touches."""
        results = [self._returned.get(buffer) for buffer in kernel.written]
        inputs = [self.graph.layer(name) for name in kernel.read]
        return common(results + inputs) or common([self._touched(name) for name in kernel.read])

    def _touched(self, name):
        kernel = self._first.get(self.code.storage(name))
        if kernel is None:
            return None
        return common([self.graph.layer(node) for node in kernel.nodes])
