"""Names for models, which have none, and for blocks that several tensors share.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import functools
import itertools
import weakref

from . import _native

# Of a class so many models have a number of their own. A program that goes on making them has
# the numbers of those that are gone again, so that its names do not become ever more.
DISTINCT = 1000

# Attributes of a DTensor and of the result of a collective: the tensor that has the memory.
_STANDS_FOR = ("_local_tensor", "elem")

_instances = {}  # class -> how many numbers there are
_living = {}     # class and number -> the model, weakly
_free = {}       # class -> numbers of models that are gone


def new_name(kind, model):
    """The name of an outermost module: its class, and a number from the second one on."""
    number = _new_number(kind)
    _living[kind, number] = weakref.ref(model, functools.partial(_release, kind, number))
    return kind if number == 1 else f"{kind}{_native.MODULE_NUMBER_MARK}{number}"


def _new_number(kind):
    if _instances.get(kind, 0) >= DISTINCT and _free.get(kind):
        return _free[kind].pop()
    number = _instances[kind] = _instances.get(kind, 0) + 1
    return number


class FirstModel:
    """The first model with parameters, usually the only one: the labels of its tensors begin
    without its name. They stay in the trace when it is gone, so no other model takes its place
    then; one that contains it does."""

    def __init__(self):
        self.reference = None  # a weak one

    def model(self):
        return self.reference() if self.reference else None

    def prefix(self, model, modules, has_parameters):
        """What the labels of a model's tensors begin with. `modules`: all that it consists of."""
        first = self.model()
        if has_parameters and (self.reference is None
                               or any(module is first for module in modules)):
            self.reference = weakref.ref(model)
            return ""
        return "" if model is first else f"{_native.module_name(model)}."

    def begin_recording(self):
        """A trace that begins has no labels of a model that is gone."""
        if self.model() is None:
            self.reference = None


def tensors_in(thing, name, depth, most=None, places=True):
    """The tensors in nested dicts, lists and tuples, each with a name made of keys, and of places
    if these are wanted. `most`: so many items of each are looked at."""
    if hasattr(thing, "data_ptr") and hasattr(thing, "storage_offset"):
        yield thing, name
        yield from parts_of(thing, name)
    elif depth and (hasattr(thing, "items") or isinstance(thing, (list, tuple))):
        is_mapping = hasattr(thing, "items")
        inner = thing.items() if is_mapping else enumerate(thing)
        for key, value in list(itertools.islice(inner, most)):
            below = f"{name}.{key}" if is_mapping or places else name
            yield from tensors_in(value, below, depth - 1, most, places)


def parts_of(tensor, name):
    """The tensors of which one without memory of its own consists, such as the numbers and the
    scales of a quantized weight, with their names. None of a DTensor that has an ordinary part."""
    flatten = getattr(type(tensor), "__tensor_flatten__", None)
    if flatten is None:
        return
    with contextlib.suppress(Exception):  # the class is the program's
        for attribute in flatten(tensor)[0]:
            part = getattr(tensor, attribute)
            if attribute in _STANDS_FOR:
                yield from parts_of(part, name)
            elif hasattr(type(part), "__tensor_flatten__"):
                yield from parts_of(part, f"{name}.{attribute}")
            else:
                yield part, f"{name}.{attribute}"


@functools.lru_cache(maxsize=4096)
def joint_name(names):
    """One name for a tuple of tensors: the module that contains them all, the first and the
    last."""
    if len(names) == 1:
        return names[0]
    module = common_module(names)
    first, last = names[0][len(module):], names[-1][len(module):]
    return f"{module}({first} to {last})"


def common_module(names):
    """The path of the innermost module around all tensors, and the dot after it; or nothing."""
    common = names[0].split(".")[:-1]
    for name in names:
        parts = name.split(".")[:-1]
        same = [a == b for a, b in zip(common, parts)] + [False]
        common = common[:same.index(False)]
    return "".join(f"{part}." for part in common)


def module_of(name):
    """The same for one name, which may be a joint one."""
    return name[:name.index("(")] if name.endswith(")") else common_module((name,))


def _release(kind, number, _, living=_living, free=_free):
    """Bound to its tables: a model may outlive the names of this module."""
    living.pop((kind, number), None)
    free.setdefault(kind, []).append(number)
