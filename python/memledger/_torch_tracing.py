"""Shows PyTorch's compiler the functions that memledger's wrappers in C stand for.

The compiler traces Python functions. Where it calls a module it finds the module's forward by
itself, but a class that overrides `__call__` and calls `super().__call__`, or a module with hooks,
leads it to the wrapper of Module.__call__, where it would break the graph. These changes of the
compiler give it the original in place of the wrapper: its graphs are the same as without memledger.

A wrapper that is a Python function would do as well, but it would be in every traceback and stack.

SPDX-License-Identifier: Apache-2.0
"""
import functools

from . import _native
from ._in_front import put
from ._importing import when_imported

ORIGINAL = "__wrapped__"  # the attribute of a wrapper


def watch():
    """Changes the compiler once it is imported, which takes long: PyTorch does it when it needs it.
    A compiler of another version stays as it is, and breaks its graphs."""
    when_imported("torch._dynamo.variables.misc", _see_through_super)
    when_imported("torch._dynamo.variables.builder", _see_through_values)
    when_imported("torch._dynamo.variables.nn_module", _tell_wrapper)


def _see_through_super(misc):
    """Attributes of super()."""
    kind = misc.SuperVariable
    resolve = kind._resolved_getattr_and_source

    @functools.wraps(resolve)
    def _resolved_getattr_and_source(self, *args, **kwargs):
        value, source = resolve(self, *args, **kwargs)
        if type(value) is _native.ScopedCall:
            return getattr(value, ORIGINAL), source and misc.AttrSource(source, ORIGINAL)
        return value, source
    put(kind, "_resolved_getattr_and_source", _resolved_getattr_and_source)


def _see_through_values(builder):
    """Objects that the compiler meets in a program."""
    kind = builder.VariableBuilder
    wrap = kind._wrap

    @functools.wraps(wrap)
    def _wrap(self, value):
        if type(value) is _native.ScopedCall:
            source = builder.AttrSource(self.source, ORIGINAL)
            return kind(self.tx, source)(getattr(value, ORIGINAL))
        return wrap(self, value)
    put(kind, "_wrap", _wrap)


def _tell_wrapper(nn_module):
    """From 2.5 on the compiler compares a module's __call__ with the one that it saw when it was
    imported, and takes another one for the program's own, which it then has to trace."""
    wrapper = nn_module.torch.nn.Module.__call__
    if nn_module.unpatched_nn_module_call is getattr(wrapper, ORIGINAL):
        put(nn_module, "unpatched_nn_module_call", wrapper)
