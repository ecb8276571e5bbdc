"""Names for models, which have none.

SPDX-License-Identifier: Apache-2.0
"""
_instances = {}  # class -> the number of its outermost modules with names


def new_name(kind):
    """The name of an outermost module: its class, and a number from the second one on."""
    count = _instances[kind] = _instances.get(kind, 0) + 1
    return kind if count == 1 else f"{kind}#{count}"
