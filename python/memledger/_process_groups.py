"""Names of process groups, for the communicators that NCCL makes for them.

A group makes its communicators when it is first used, in C++, with a configuration of its own. The
recorder knows a group by the address of that.

SPDX-License-Identifier: Apache-2.0
"""
import weakref

from . import _native
from ._in_front import put, then

_UNDEFINED = "undefined"  # what PyTorch calls a group that the program did not describe

_groups = {}  # address of a configuration -> weak reference to its group


def watch(torch):
    """Precondition: inside all_or_nothing()."""
    kind = getattr(torch.distributed, "ProcessGroup", None)
    if hasattr(kind, "_set_group_desc"):  # the last thing that a new group is told
        put(kind, "_set_group_desc", then(kind._set_group_desc, name_group))


def name_group(_, group, description):
    for device in group._device_types:
        if device.type == "cuda":
            config = group._get_backend(device).options.config.unsafe_get_ptr()
            if _is_shared(config, group):
                _native.name_group(config, "", 0, 0)
            else:
                _native.name_group(config, _name_of(group, description), group.rank(),
                                   group.size())


def _name_of(group, description):
    return f"group {group.group_name}" if description == _UNDEFINED else description


def _is_shared(config, group):
    """The program may give the same options to several groups."""
    before = _groups.get(config)
    _groups[config] = weakref.ref(group)
    return before is not None and before() not in (None, group)
