"""Layers for backward passes that PyTorch captures as graphs (compiled autograd).

Such a pass runs no autograd nodes. When it has been captured, each node of its graph gets a layer,
written where PyTorch's compiler keeps it: nn_module_stack. _torch_compiled.py reads it there once
the code is generated. The graph itself stays as it is.

PyTorch traces the graph twice more. Dynamo keeps nn_module_stack. AOTAutograd does not: it calls
the graph through a wrapper (GmWrapper) instead of node by node, so it does not know for which node
it adds one of its own. Running the nodes one by one tells.

A node belongs to the layer in which compiled forward code created it, if the node comes from that;
else to the layer whose parameter it reads; or whose gradient alone it serves; else to the innermost
module around the layers before and after it.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import functools
import operator

from . import _native
from ._importing import when_imported
from ._in_front import put
from ._torch_compiled import WHOLE_PASS, common, in_captured_pass, layer_of_stack, note_layer, \
    pack_root

PARAMETERS = "_memledger_parameters"  # of an instance of the compiler: input -> layer
NO_LAYER = ()
SEVERAL = ("",)  # no layer has this name


def watch():
    """A compiler of another version stays as it is."""
    when_imported("torch._dynamo.compiled_autograd", _watch_captures)
    when_imported("torch._dynamo.utils", _watch_second_traces)


def _watch_captures(module):
    kind = module.AutogradCompilerInstance
    if not hasattr(kind.end_capture, "names_for_memledger"):
        put(kind, "begin_capture", _noting_parameters(kind.begin_capture))
        put(kind, "end_capture", _naming_nodes(kind.end_capture))


def _watch_second_traces(module):
    kind = getattr(module, "GmWrapper", None)
    if kind and not hasattr(kind.forward, "names_for_memledger"):
        put(kind, "forward", _passing_layers_on(kind.forward))


def _noting_parameters(begin):
    @functools.wraps(begin)
    def begin_capture(self, inputs, *args, **kwargs):
        with contextlib.suppress(Exception):
            setattr(self, PARAMETERS, _layers_of_inputs(inputs))
        return begin(self, inputs, *args, **kwargs)
    return begin_capture


def _naming_nodes(end):
    @functools.wraps(end)
    def end_capture(self, outputs):
        root = None
        with contextlib.suppress(Exception):
            root = _name_nodes(self.fx_tracer.graph, getattr(self, PARAMETERS, {}))
        ended = end(self, outputs)
        with contextlib.suppress(Exception):
            run, compiled = ended
            ended = _native.scoped_region(run, namer=pack_root(root), number=WHOLE_PASS), compiled
        return ended
    end_capture.names_for_memledger = True
    return end_capture


# ---- Parameters --------------------------------------------------------------------


def _layers_of_inputs(inputs):
    """A parameter that a node has saved is often a view of it: another tensor, the same memory."""
    layers = {number: layer for number, tensor in enumerate(inputs)
              if (layer := _layer_of_parameter(tensor))}
    memory = {inputs[number].data_ptr(): layer for number, layer in layers.items()}
    for number, tensor in enumerate(inputs):
        with contextlib.suppress(Exception):  # some kinds of tensors have no address
            layers.setdefault(number, memory.get(tensor.data_ptr()))
    return {number: layer for number, layer in layers.items() if layer}


def _layer_of_parameter(tensor):
    """By its label: the path in its model, after the model's name if that is not the first."""
    label, model = _native.tracked_name(tensor), _native.tracked_model(tensor)
    root = _native.module_at(model) if label and model else None
    name = root is not None and _native.module_name(root)
    if not name:
        return None
    path = label[len(name) + 1:] if label.startswith(f"{name}.") else label
    return (name, *path.split(".")[:-1])


# ---- Nodes ---------------------------------------------------------------------------


def _name_nodes(graph, parameters):
    """Returns the module around all layers."""
    nodes = list(graph.nodes)
    known = {node: _known_layer(node, parameters) for node in nodes}
    before, after, ends = {}, {}, {}
    for node in nodes:
        before[node] = known[node] or common(before[each] for each in node.all_input_nodes)
    for node in reversed(nodes):
        users = list(node.users)
        ends[node] = _gradient_layer(node, known) or _only(ends[each] for each in users)
        after[node] = known[node] or common(after[each] for each in users)
    root = (common(known.values()) or NO_LAYER)[:1]
    for node in nodes:
        if node.op == "call_function":
            only = ends[node] if ends[node] != SEVERAL else None
            layer = known[node] or only or common((before[node], after[node])) or root
            if layer:
                node.meta["nn_module_stack"] = note_layer(layer)
    return root


def _known_layer(node, parameters):
    created = layer_of_stack(node.meta)
    if created or node.op != "call_function" or node.target is operator.getitem:
        return created
    return common(parameters.get(each.args[1]) for each in node.all_input_nodes
                  if _is_input(each))


def _is_input(node):
    """inputs[3]"""
    return node.target is operator.getitem and getattr(node.args[0], "name", "") == "inputs"


def _gradient_layer(node, known):
    """Of a node that adds to the gradient of a parameter."""
    return known[node] if "accumulate_grad" in getattr(node.target, "__name__", "") else None


def _only(layers):
    """The one layer whose gradients a node serves; SEVERAL; or None."""
    found = {layer for layer in layers if layer}
    return found.pop() if len(found) == 1 else SEVERAL if found else None


# ---- The second trace ----------------------------------------------------------------


def _passing_layers_on(run):
    @functools.wraps(run)
    def forward(self, *args):
        passer = None
        if in_captured_pass():
            with contextlib.suppress(Exception):
                passer = _layer_passer(self.gm)
        if passer is None:
            return run(self, *args)
        return passer.run(*self.unflatten_fn(list(args)), enable_io_processing=False)
    forward.names_for_memledger = True
    return forward


def _layer_passer(graph_module):
    """Runs a graph; each node that a tracer adds meanwhile gets the layer of the node that runs. It
    gets nothing else: names of operators would change the generated code."""
    from torch import fx
    from torch.fx.experimental.proxy_tensor import get_proxy_mode

    class LayerPasser(fx.Interpreter):
        def __init__(self):
            super().__init__(graph_module)
            self.extra_traceback = False  # errors have the text that they have without memledger

        def run_node(self, node):
            args, kwargs = self.fetch_args_kwargs_from_env(node)
            mode = get_proxy_mode()
            nodes = mode.tracer.graph.nodes if mode else []
            last = next(iter(reversed(nodes)), None)
            result = getattr(self, node.op)(node.target, args, kwargs)
            for added in reversed(nodes):
                if added is last:
                    break
                if stacks[node]:
                    added.meta["nn_module_stack"] = stacks[node]
            return result

    stacks = _stacks_of(graph_module.graph)
    return LayerPasser() if any(stacks.values()) else None


def _stacks_of(graph):
    """The nn_module_stack of each node. Dynamo adds nodes without one, such as those that add to
    gradients: they belong to the layer of the nodes before them."""
    layers = {}
    for node in graph.nodes:
        layers[node] = layer_of_stack(node.meta) or common(
            layers[each] for each in node.all_input_nodes)
    return {node: layer and note_layer(layer) for node, layer in layers.items()}
