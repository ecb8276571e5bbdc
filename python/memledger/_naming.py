"""Names for models, which have none of their own.

SPDX-License-Identifier: Apache-2.0
"""
_instances = {}  # class -> how many outermost modules of it have names


def new_name(kind):
    """Of an outermost module: its class, and which of those it is."""
    count = _instances[kind] = _instances.get(kind, 0) + 1
    return kind if count == 1 else f"{kind}#{count}"
