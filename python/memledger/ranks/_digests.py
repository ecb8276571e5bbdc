"""The digest of a trace, and its tables.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import json
import os
import tempfile
from typing import Any, Dict, Iterator, List, Optional, Tuple

from memledger import _asking

SUFFIX = ".digest"
NO_JOB = "unnamed"

Row = Dict[str, Any]


def trace_of(path: str) -> str:
    return path[:-len(SUFFIX)] if path.endswith(SUFFIX) else path


def job_of(place: Optional[str]) -> str:
    """"rank=3 world_size=8 job=4711" -> "4711"."""
    pairs = dict(pair.partition("=")[::2] for pair in (place or "").split())
    return pairs.get("job") or NO_JOB


def own_job(path: str) -> str:
    """A trace without ranks is a job of its own."""
    name = os.path.basename(trace_of(path))
    return name[:-len(".mled")] if name.endswith(".mled") else name


def _kept(trace: str) -> Optional[Row]:
    """The digest beside a trace, as JSON, unless it is of another state of the trace."""
    if not os.path.exists(trace + SUFFIX):
        return None
    digest = _asking.ask_json("digest", trace + SUFFIX)
    same = not os.path.exists(trace) or os.path.getsize(trace) == digest["trace_bytes"]
    return digest if same else None


def read(path: str, salvage: bool = False) -> Row:
    """`memledger digest --json` of a trace, or of the digest that is beside it or alone."""
    trace = trace_of(path)
    return _kept(trace) or _asking.ask_json("digest", trace, salvage=salvage)


def content(path: str, salvage: bool = False) -> bytes:
    """The file of the digest. One that is missing or old is made, and not kept."""
    trace = trace_of(path)
    with tempfile.TemporaryDirectory() as folder:
        file = trace + SUFFIX
        if not _kept(trace):
            file = os.path.join(folder, "made")
            _asking.ask("digest", trace, output=file, salvage=salvage)
        with open(file, "rb") as f:
            return f.read()


# ---- Tables ------------------------------------------------------------------


def rows(path: str, salvage: bool = False) -> Dict[str, List[Row]]:
    """The rows of all tables, each with job and rank."""
    digest = read(path, salvage)
    tables: Dict[str, List[Row]] = {"ranks": [], "rank_devices": [], "rank_steps": [],
                                    "rank_modules": [], "rank_ledger": []}
    keys = [_keys(rank, path) for rank in digest["ranks"]]
    for key, rank in zip(keys, digest["ranks"]):
        tables["ranks"].append({**key, **_rank(path, digest, rank)})
        tables["rank_devices"] += [{**key, **device} for device in rank["devices"]]
        tables["rank_steps"] += [{**key, **row} for row in _steps(rank)]
        tables["rank_modules"] += [{**key, **row} for row in _modules(rank)]
    # Of the whole trace: the first rank speaks for all that it has.
    tables["rank_ledger"] = [{**keys[0], **row} for row in _ledger(digest)] if keys else []
    return tables


def _keys(rank: Row, path: str) -> Row:
    if "rank" not in rank:
        return {"job": own_job(path), "rank": 0}
    return {"job": job_of(rank["place"]), "rank": rank["rank"]}


def _rank(path: str, digest: Row, rank: Row) -> Row:
    main = rank["devices"][0] if rank["devices"] else {}
    same = ("place", "command", "pid", "processes", "steps", "ended", "ooms", "allocations",
            "start_ns", "end_ns")
    return {"trace": trace_of(path), "host": digest["host"], "lost": digest["lost"],
            "start_wall_ns": digest["start_wall_ns"], "device": main.get("device"),
            "peak_bytes": main.get("peak_bytes", 0), "peak_time_ns": main.get("peak_time_ns"),
            "exit_code": rank.get("exit_code"), "signal": rank.get("signal"),
            **{name: rank[name] for name in same}}


def _steps(rank: Row) -> Iterator[Row]:
    left = rank["steps"]
    for number, row in enumerate(rank["rows"]):
        steps = min(left, rank["steps_per_row"])
        left -= steps
        yield {"step_row": number, "steps": steps,
               **{name: value for name, value in row.items() if name != "modules"}}


def _modules(rank: Row) -> Iterator[Row]:
    """`step_row` is null at the peak of the run."""
    for cell in rank.get("modules", ()):
        yield {"step_row": None, **cell}
    for number, row in enumerate(rank["rows"]):
        for cell in row["modules"]:
            yield {"step_row": number, **cell}


def _parts(book: Row) -> Iterator[Tuple[str, str, int]]:
    for key, part in (("total_bytes", "size"), ("used_bytes", "used")):
        if key in book:
            yield part, part, book[key]
    for entry in book["entries"]:
        yield "entry", entry["name"], entry["bytes"]
    if "unexplained_bytes" in book:
        yield "unexplained", "unexplained", book["unexplained_bytes"]


def _ledger(digest: Row) -> Iterator[Row]:
    for book in digest["ledgers"]:
        for part, entry, size in _parts(book):
            yield {"device": book["device"], "part": part, "entry": entry, "bytes": size}
