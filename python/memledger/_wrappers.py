"""Modules that wrap another one, such as DistributedDataParallel. Names leave them out, because the
model's author does not know them: a path is the same with and without them, and so is its class.

This is the only place that knows their classes.

SPDX-License-Identifier: Apache-2.0
"""

# class -> the name of the child that it wraps
_CHILDREN = {
    "CheckpointWrapper": "_checkpoint_wrapped_module",
    "DataParallel": "module",
    "DistributedDataParallel": "module",
    "FullyShardedDataParallel": "_fsdp_wrapped_module",
    "OffloadWrapper": "_checkpoint_wrapped_module",
    "OptimizedModule": "_orig_mod",
}
_COMPILED = "OptimizedModule"
_CAPTURED = ("CompiledAutograd", "GmWrapper")  # the first has a number


def _child_name(module):
    for kind in type(module).__mro__:
        name = _CHILDREN.get(kind.__name__)
        if name and name in module._modules:
            return name
    return None


def chain(module):
    """The module and those that it wraps, from the outside in; only the last wraps none."""
    modules = []
    while module is not None:
        modules.append(module)
        module = module._modules.get(_child_name(module))
    return modules


def is_compiled(module):
    """Whether it is a wrapper of torch.compile, which has no memory of its own."""
    return any(kind.__name__ == _COMPILED for kind in type(module).__mro__)


def is_captured(module):
    """Whether it is the graph of a backward pass, as compiled autograd makes it: no model."""
    return type(chain(module)[-1]).__name__.startswith(_CAPTURED)


def is_graph(module):
    """Whether it is a graph that was traced from another module, as torch.export does. It has the
    tensors of that module, which keep their names."""
    return any(kind.__name__ == "GraphModule" and kind.__module__.startswith("torch.fx.")
               for kind in type(module).__mro__)


def class_name(module):
    """The class of the innermost module. fully_shard and replicate derive a class from it: their
    own comes first among the bases."""
    kind = type(chain(module)[-1])
    while kind.__module__.startswith("torch.distributed.") and len(kind.__bases__) == 2:
        kind = kind.__bases__[1]
    return kind.__name__


def named_modules(root):
    """As root.named_modules(). A wrapper has the path of the module that it wraps."""
    paths, children = {}, {}
    for path, module in root.named_modules():
        above, _, name = path.rpartition(".")
        if path and name == children.get(above):
            paths[path] = paths[above]
        else:
            paths[path] = f"{paths[above]}.{name}" if paths.get(above) else name
        children[path] = _child_name(module)
        yield paths[path], module
