"""How a trace shows itself in a notebook: rows, pictures, a summary, the page.

Names of a trace are escaped: they never become markup.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import base64
import os
import subprocess
import sys
import tempfile
from html import escape
from typing import Any, Dict, Iterable, List, Sequence

from . import _asking

_SHOWN_ROWS = 40


def bytes_text(count: int) -> str:
    """12595200 -> "12.0 MiB", as the command prints it."""
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(size) < 1024 or unit == "GiB":
            break
        size /= 1024
    if unit == "B":
        return f"{count} B"
    return f"{size:.2f} GiB" if unit == "GiB" else f"{size:.1f} {unit}"


def _cell(key: str, value: Any) -> str:
    if value is None:
        return "<td></td>"
    if key.endswith("bytes") and isinstance(value, int):
        return f'<td style="text-align:right" title="{value:,} bytes">{bytes_text(value)}</td>'
    if isinstance(value, (int, float)):
        text = f"{value:,.1f}" if isinstance(value, float) else f"{value:,}"
        return f'<td style="text-align:right">{text}</td>'
    return f'<td style="text-align:left">{escape(str(value))}</td>'


class Rows(List[Dict[str, Any]]):
    """A list of dicts, which a notebook shows as a table."""

    def __init__(self, rows: Iterable[Dict[str, Any]] = (), hidden: Sequence[str] = ()):
        """`hidden`: columns that the table leaves out."""
        super().__init__(rows)
        self._hidden = frozenset(hidden)

    def to_pandas(self) -> Any:
        """A DataFrame; needs pandas."""
        import pandas
        return pandas.DataFrame(list(self))

    def _repr_html_(self) -> str:
        keys = [key for key, value in (self[0] if self else {}).items()
                if not isinstance(value, (dict, list)) and key not in self._hidden]
        head = "".join(f"<th>{escape(key)}</th>" for key in keys)
        body = "".join("<tr>" + "".join(_cell(key, row[key]) for key in keys) + "</tr>"
                       for row in self[:_SHOWN_ROWS])
        more = f"<p>{len(self) - _SHOWN_ROWS} more rows</p>" if len(self) > _SHOWN_ROWS else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


class Picture:
    """A drawing of `memledger plot`: `svg` is its text, `save(path)` writes it."""

    def __init__(self, svg: str):
        self.svg = svg

    def save(self, path: Any) -> None:
        with open(path, "w", encoding="utf-8") as f:
            f.write(self.svg)

    def _repr_html_(self) -> str:
        # As an image: its styles must not reach the notebook.
        data = base64.b64encode(self.svg.encode()).decode()
        return f'<img alt="memory over time" style="max-width:100%" src="data:image/svg+xml;base64,{data}">'

    def __repr__(self) -> str:
        return f"<memledger picture, {len(self.svg):,} bytes of SVG>"


def draw(path: str, **settings: Any) -> Picture:
    with tempfile.TemporaryDirectory(prefix="memledger-") as folder:
        file = os.path.join(folder, "plot.svg")
        _asking.ask("plot", path, output=file, **settings)
        with open(file, encoding="utf-8") as f:
            return Picture(f.read())


def summary_html(path: str, summary: Dict[str, Any]) -> str:
    """The peak, what it consists of, and what was never freed."""
    facts = [("peak", bytes_text(summary["peak_bytes"])),
             ("never freed", bytes_text(summary["never_freed_bytes"])),
             ("allocations", f"{summary['allocations']:,}"), ("events", f"{summary['events']:,}")]
    line = ", ".join(f"{name} <b>{value}</b>" for name, value in facts)
    categories = Rows({"category": c["category"], "at_peak_bytes": c["at_peak_bytes"],
                       "at_peak_percent": c["at_peak_percent"]} for c in summary["by_category"])
    command = summary.get("command")
    title = escape(os.path.basename(path)) + (f" – <code>{escape(command)}</code>" if command else "")
    return f"<p><b>{title}</b></p><p>{line}</p>{categories._repr_html_() if categories else ''}"


# ---- The page -----------------------------------------------------------------------


def in_notebook() -> bool:
    """Whether a Jupyter kernel runs this, which shows the results of cells as HTML."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and hasattr(shell, "kernel")


class Page:
    """The page of `memledger export --format html`, in a frame of the notebook. The frame has no
    access to the notebook, and the page is part of the saved notebook."""

    def __init__(self, html: str, height: int):
        self.html = html
        self.height = height

    def save(self, path: Any) -> None:
        with open(path, "w", encoding="utf-8") as f:
            f.write(self.html)

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{escape(self.html)}" sandbox="allow-scripts" width="100%" '
                f'height="{self.height}" style="border:0"></iframe>')

    def __repr__(self) -> str:
        return f"<memledger page, {len(self.html):,} bytes of HTML>"


def page(path: str, height: int, **settings: Any) -> Page:
    return Page(_asking.ask("export", path, format="html", output="-", **settings).decode(), height)


class Viewer:
    """A running `memledger view`; it ends with close(), or with this process."""

    def __init__(self, path: str, open_browser: bool):
        settings = {} if open_browser else {"no_open": True}
        self._process = subprocess.Popen(
            _asking.command_line("view", path, settings), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=_asking.environment())
        self.address = self._process.stdout.readline().strip()
        if not self.address:
            raise _asking.TraceError(self._process.communicate()[1].strip())
        import atexit
        atexit.register(self.close)

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.terminate()
        self._process.communicate()

    def __repr__(self) -> str:
        return f"<memledger view at {self.address}>"
