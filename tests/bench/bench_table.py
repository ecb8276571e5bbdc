# SPDX-License-Identifier: Apache-2.0
"""What a row of the benchmark says, as text and for the JSON file."""


class Row:
    """A table under a title, notes, and the ratios that go into the last table."""

    def __init__(self, name, title, columns=()):
        self.name = name
        self.title = title
        self.columns = columns
        self.lines = []
        self.notes = []
        self.ratios = []
        self.broken = 0  # parts that could not be measured
        self.data = {}

    def line(self, *cells):
        self.lines.append([str(c) for c in cells])

    def note(self, text):
        self.notes.append(text)

    def ratio(self, what, mine, other, unit):
        """How memledger's figure stands to the other one, measured beside it."""
        self.ratios.append({"what": what, "memledger": mine, "beside": other, "unit": unit,
                            "ratio": mine / other if other else None})

    def text(self):
        parts = ["", self.title]
        if self.lines:
            parts += table(self.columns, self.lines)
        parts += ["  " + n for n in self.notes]
        return "\n".join(parts)

    def as_json(self):
        return {"title": self.title, "data": self.data, "notes": self.notes,
                "ratios": self.ratios}


def table(columns, lines):
    """Lines of text; the first column left, the others right."""
    widths = [max(len(row[i]) for row in [list(columns)] + lines) for i in range(len(columns))]
    texts = []
    for row in [list(columns)] + lines:
        cells = [row[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(row[1:], widths[1:])]
        texts.append(("  " + "  ".join(cells)).rstrip())
    return texts


def ratio_table(rows):
    lines = []
    for row in rows:
        for r in row.ratios:
            lines.append([r["what"], "%.4g" % r["memledger"], "%.4g" % r["beside"], r["unit"],
                          "-" if r["ratio"] is None else "%.2f" % r["ratio"]])
    return table(["", "memledger", "beside it", "unit", "ratio"], lines) if lines else []


def count(n):
    return format(int(n), ",")


def size(n):
    return "%.1f MB" % (n / 1e6) if n >= 1e6 else "%.1f kB" % (n / 1e3)
