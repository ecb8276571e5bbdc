"""Text of unknown origin on its way to a terminal: paths and names may hold escape sequences.

SPDX-License-Identifier: Apache-2.0
"""


def printable(text):
    """Spells control characters and direction marks as a Python string literal does."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode()
                   for c in text)
