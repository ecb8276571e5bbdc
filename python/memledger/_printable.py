"""Makes text of unknown origin safe for a terminal: paths and names may contain escape
sequences.

SPDX-License-Identifier: Apache-2.0
"""


def printable(text):
    """Writes control characters and direction marks as in a Python string literal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode()
                   for c in text)
