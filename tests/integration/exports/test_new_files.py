#!/usr/bin/env python3
# test_new_files.py: chrome, csv, json, sqlite, pprof, speedscope and torch-snapshot: each
# file read by another program or by that program's rules, its sums those of the reports.
#
# SPDX-License-Identifier: Apache-2.0
import csv
import glob
import json
import os
import pickle
import sqlite3
import subprocess
import sys

import harness
import perfetto_rules
from harness import MEMLEDGER, check, contains, equal, plain
from pprof_reader import Profile

TRACES = os.environ["TEST_TRACES"]
ALL = sorted(os.path.basename(path)[:-5] for path in glob.glob(f"{TRACES}/*.mled"))
FORMATS = ["chrome", "csv", "json", "sqlite", "pprof", "speedscope", "torch-snapshot"]

TRAINS = """
import sys
sys.setswitchinterval(10)
import torch
model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 8))
best = torch.optim.Adam(model.parameters())
for step in range(3):
    loss = model(torch.ones(32, 64)).sum()
    best.zero_grad(); loss.backward(); best.step()
"""


def trace(name):
    return os.path.join(TRACES, f"{name}.mled")


def export(form, source, *options, code=0):
    """The name of the file."""
    name = f"{os.path.basename(source)}.{form}"
    done = plain(MEMLEDGER, "export", "--format", form, "-f", "-o", name, source, *options)
    equal(done.returncode, code, f"exit code of export {form} {source}", done.stderr)
    return name if code == 0 else done.stderr


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def summary(source):
    return json.loads(plain(MEMLEDGER, "summary", "--json", source).stdout)


def sql(source, *options, code=0):
    done = plain(MEMLEDGER, "sql", source, *options)
    equal(done.returncode, code, f"exit code of sql {options}", done.stderr)
    return done.stdout if code == 0 else done.stderr


def answer(source, question):
    return json.loads(sql(source, question, "--json"))["rows"]


# ---- Tables -------------------------------------------------------------------

def rows_of_database(name, table):
    base = sqlite3.connect(name)
    base.row_factory = sqlite3.Row
    return [dict(row) for row in base.execute(f'SELECT * FROM "{table}"')]


def as_text(value):
    return "" if value is None else str(int(value)) if isinstance(value, bool) else str(value)


def test_tables_agree():
    for name in ALL:
        tables = load(export("json", trace(name)))["tables"]
        base = export("sqlite", trace(name))
        equal(len(tables), 10, "tables")
        for table, rows in tables.items():
            equal(rows_of_database(base, table), rows, f"{table} of {name}")
            path = export("csv", trace(name), "--table", table)
            with open(path, newline="", encoding="utf-8") as file:
                lines = list(csv.DictReader(file))
            equal(lines, [{k: as_text(v) for k, v in row.items()} for row in rows],
                  f"{table} of {name} as CSV")


def test_what_a_source_did_not_tell():
    """Null in tables that are read as they are; numbers where rows are put in order and joined."""
    with open("tags.csv", "w", encoding="utf-8") as file:
        file.write("in_arg:a,1\ndata_entry:b,2\n")
    plain(MEMLEDGER, "import", "-q", "--format", "mxnet-csv", "-o", "tags.mled", "tags.csv")
    whole = load(export("json", "tags.mled"))
    equal((whole["run"]["start_wall_ns"], whole["run"]["end_ns"]), (None, None), "times of the run")
    for table, rows in whole["tables"].items():
        for row in rows:
            told = {k: v for k, v in row.items() if k.endswith("_ns") or k == "address"}
            equal(set(told.values()) - {None}, set(), f"times and addresses of {table}", told)
    equal([row["label"] for row in whole["tables"]["allocations"]], ["in_arg:a", "data_entry:b"],
          "allocations, in order")
    with open(export("csv", "tags.mled"), newline="", encoding="utf-8") as file:
        equal([(r["time_ns"], r["address"]) for r in csv.DictReader(file)], [("", "")] * 2, "as CSV")
    equal(answer("tags.mled", "SELECT sum(bytes) FROM live_at_peak"), [[3 << 20]], "the peak")
    known = load(export("json", trace("gpt")))
    check(known["run"]["end_ns"] > 0 and known["tables"]["allocations"][0]["address"],
          "what a recording knows")


def test_one_table():
    only = load(export("json", trace("gpt"), "--table", "marks"))["tables"]
    equal(list(only), ["marks"], "the table asked for")
    check(only["marks"], "the trace has marks")
    contains(export("csv", trace("gpt"), "--table", "mark", code=2), "did you mean 'marks'?",
             "the error")
    contains(export("chrome", trace("gpt"), "--table", "marks", code=2), "does not write tables",
             "the error")


def test_database():
    for name in ALL:
        base = sqlite3.connect(export("sqlite", trace(name)))
        equal(base.execute("PRAGMA integrity_check").fetchall(), [("ok",)], f"integrity of {name}")
        peak = summary(trace(name))["peak_bytes"]
        for question in ("SELECT value FROM run WHERE key = 'peak_bytes'",
                         "SELECT coalesce(sum(bytes), 0) FROM live_at_peak",
                         "SELECT coalesce(sum(bytes), 0) FROM by_category",
                         "SELECT coalesce(sum(bytes), 0) FROM by_module"):
            equal(base.execute(question).fetchone()[0], peak, f"{question} of {name}")
        for (view,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'view'"):
            base.execute(f"SELECT * FROM {view}").fetchall()
    done = plain(MEMLEDGER, "export", "--format", "sqlite", "-o", "-", trace("gpt"))
    equal(done.returncode, 1, "exit code to a pipe")
    contains(done.stderr, "needs a regular file", "the error")


def test_steps():
    base = sqlite3.connect(export("sqlite", trace("gpt")))
    wanted = json.loads(plain(MEMLEDGER, "steps", "--json", trace("gpt")).stdout)["steps"]
    equal(base.execute("SELECT number, peak_bytes FROM step_peaks").fetchall(),
          [(step["step"], step["peak_bytes"]) for step in wanted], "peaks of steps")
    equal(base.execute("SELECT number, sum(bytes) FROM step_categories GROUP BY 1").fetchall(),
          [(step["step"], step["peak_bytes"]) for step in wanted], "their categories")


# ---- Questions ----------------------------------------------------------------

def test_questions():
    base = export("sqlite", trace("gpt"))
    for question in ("SELECT category, bytes FROM by_category",
                     "SELECT count(*) FROM events",
                     "SELECT a.label, t.name FROM allocations a JOIN threads t USING (thread)"
                     " WHERE a.label IS NOT NULL ORDER BY 1, 2",
                     "SELECT * FROM step_peaks",
                     "SELECT key, value FROM run ORDER BY key"):
        equal(answer(trace("gpt"), question), answer(base, question), question)
    text = sql(trace("gpt"), "SELECT category, bytes FROM by_category LIMIT 1")
    equal(text.split()[:2], ["category", "bytes"], "titles")
    equal(sql(trace("gpt"), "SELECT 1 AS one, NULL AS none, 'a,b' AS text", "--csv"),
          'one,none,text\n1,,"a,b"\n', "CSV")
    for how in ([], [".tables"]):
        listed = sql(trace("gpt"), *how)
        check("allocations" in listed and "by_module" in listed, "the list", listed)
    narrow = plain(MEMLEDGER, "sql", trace("gpt"), "SELECT scope, label FROM allocations",
                   env={**os.environ, "COLUMNS": "50"}).stdout
    check(max(map(len, narrow.splitlines())) <= 50, "the width", narrow)


# Statements that do more than read, and functions that do.
MORE_THAN_READING = (
    "VACUUM", "VACUUM INTO 'x.db'", "vacuum main into 'x.db'", "/* a */ VACUUM INTO 'x.db'",
    "ATTACH 'x.db' AS x", "ATTACH ':memory:' AS x", "DETACH main",
    "INSERT INTO run VALUES ('a', 'b')", "REPLACE INTO run VALUES ('a', 'b')",
    "UPDATE run SET value = 1", "DELETE FROM run", "UPDATE sqlite_master SET sql = ''",
    "DELETE FROM sqlite_master", "UPDATE sqlite_schema SET name = 'x'",
    "WITH a AS (SELECT 1) INSERT INTO run SELECT 1, 2 FROM a",
    "CREATE TABLE x(y)", "CREATE TEMP TABLE x(y)", "CREATE TEMP VIEW x AS SELECT 1",
    "CREATE VIRTUAL TABLE temp.x USING fts3(tokenize=simple)", "CREATE INDEX x ON run(key)",
    "CREATE TEMP TRIGGER x AFTER INSERT ON run BEGIN SELECT 1; END",
    "ALTER TABLE run RENAME TO x", "DROP TABLE run", "DROP VIEW by_category",
    "REINDEX", "ANALYZE", "BEGIN", "SAVEPOINT x",
    "PRAGMA writable_schema = 1", "PRAGMA journal_mode = DELETE", "PRAGMA user_version = 7",
    "PRAGMA temp_store_directory = '.'", "PRAGMA wal_checkpoint", "PRAGMA incremental_vacuum",
    "PRAGMA mmap_size = 1", "PRAGMA optimize", "PRAGMA database_list",
    "SELECT load_extension('x.so')", "SELECT fts3_tokenizer('simple')",
    "SELECT sqlite_log(1, 'x')",
)


def test_only_reads():
    base = export("sqlite", trace("gpt"))
    for source in (trace("gpt"), base):
        with open(source, "rb") as f:
            before = f.read()
        files = sorted(os.listdir("."))
        for question in MORE_THAN_READING:
            contains(sql(source, question, code=1), "only reads", question)
        for question in ("SELECT readfile('/etc/hostname')", "SELECT writefile('x.db', 'x')",
                         "SELECT edit('x', 'touch x.db')"):
            contains(sql(source, question, code=1), "no such function", question)
        contains(sql(source, "SELECT length(zeroblob(1000000000))", code=1), "too big", "a blob")
        equal(sorted(os.listdir(".")), files, "files that were made")
        with open(source, "rb") as f:
            check(f.read() == before, f"{source} has changed")


def test_what_may_be_asked():
    for source in (trace("gpt"), export("sqlite", trace("gpt"))):
        for question, rows in (
                ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3)"
                 " SELECT sum(i) FROM n", [[6]]),
                ("SELECT number, rank() OVER (ORDER BY number),"
                 " sum(number) OVER (ROWS UNBOUNDED PRECEDING) FROM step_peaks LIMIT 1", None),
                ("SELECT json_extract('{\"a\": 7}', '$.a'), '{\"a\": 8}' -> 'a',"
                 " strftime('%Y', 0, 'unixepoch'), printf('%d', 3)", [[7, "8", "1970", "3"]]),
                ("SELECT value FROM json_each('[1, 2]')", [[1], [2]]),
                ("SELECT name FROM pragma_table_info('run') LIMIT 1", [["key"]]),
                ("SELECT group_concat(DISTINCT category) IS NOT NULL FROM by_category", [[1]]),
                ("EXPLAIN QUERY PLAN SELECT * FROM run", None),
                ("PRAGMA integrity_check", [["ok"]]),
                ("SELECT 1; -- and nothing else", [[1]]),
                ("SELECT 1 /* ; */ ;", [[1]])):
            got = answer(source, question)
            check(got == rows if rows else got, question, got)


def test_a_database_with_a_log():
    """To read one SQLite would make two files beside it."""
    name = "odd name?#%41.sqlite"
    base = sqlite3.connect(name)
    base.execute("PRAGMA journal_mode = WAL")
    base.execute("CREATE TABLE t(x)")
    base.execute("INSERT INTO t VALUES (7)")
    base.commit()
    contains(sql(name, "SELECT x FROM t", code=1), "-wal", "changes that wait")
    base.close()
    before = sorted(os.listdir("."))
    equal(answer(name, "SELECT x FROM t"), [[7]], "the answer")
    equal(sorted(os.listdir(".")), before, "files beside it")


def test_wrong_questions():
    for question, told in (("DELETE FROM run", "only reads"),
                           ("CREATE TABLE x(y)", "only reads"),
                           ("ATTACH 'x.db' AS x", "only reads"),
                           ("PRAGMA journal_mode = DELETE", "only reads"),
                           ("SELECT * FROM nowhere", "memledger sql FILE"),
                           ("SELECT wrong FROM run", "no such column"),
                           ("SELEC", "syntax error"),
                           ("SELECT 1; SELECT 2", "only one statement"),
                           (" ; ", "no statement")):
        for source in (trace("gpt"), export("sqlite", trace("gpt"))):
            contains(sql(source, question, code=1), told, question)
    check(not os.path.exists("x.db"), "a file was made")
    contains(sql(trace("gpt"), "SELECT", "1", code=2), "in quotes", "too many words")


# ---- Chrome -------------------------------------------------------------------

def chrome(source, *options):
    path = export("chrome", source, *options)
    equal(perfetto_rules.errors(path), [], f"what is wrong with {path}")
    done = subprocess.run([sys.executable, "-m", "json.tool", path, os.devnull])
    equal(done.returncode, 0, "json.tool")
    return perfetto_rules.load(path)["traceEvents"]


def highest(events, name):
    return max(sum(e["args"].values()) for e in events if e["ph"] == "C" and e["name"] == name)


def test_chrome():
    for name in ALL:
        events = chrome(trace(name))
        for device in summary(trace(name))["by_device"]:
            if device["peak_bytes"] > 0:
                equal(highest(events, f"{device['device']} live"), device["peak_bytes"],
                      f"the peak of {device['device']} in {name}")
    events = chrome(trace("gpt"))
    titles = {(e["ph"], e["name"]) for e in events}
    for wanted in (("X", "step 1"), ("B", "layers.0"), ("i", "out of memory"), ("s", "block"),
                   ("M", "process_name"), ("M", "thread_name")):
        check(wanted in titles, f"{wanted} is missing")
    names = {e["args"]["name"] for e in events if e["name"] == "thread_name"}
    check({"steps", "autograd"} <= names, "names of threads", names)


# ---- Profiles -----------------------------------------------------------------

def test_pprof():
    for name in ALL:
        profile = Profile(export("pprof", trace(name)))
        told = summary(trace(name))
        equal(profile.total("inuse_space"), told["peak_bytes"], f"in use at the peak of {name}")
        equal(profile.total("alloc_objects"), told["allocations"], f"allocations of {name}")
        equal(profile.total("alloc_space"), told["allocated_bytes"], f"bytes in all of {name}")
        equal(profile.text(profile.single[14]), "inuse_space", "the default")
        equal(profile.text(0), "", "the first string")
        for sample in profile.samples:
            check(profile.frames(sample), "a sample without frames", sample)
    found = Profile(export("pprof", trace("gpt"), "--at", "step:1:end"))
    step = json.loads(plain(MEMLEDGER, "steps", "--json", trace("gpt")).stdout)["steps"][1]
    equal(found.total("inuse_space"), step["end_bytes"], "in use when the step ended")
    stacks = Profile(export("pprof", trace("python")))
    frames = [f for s in stacks.samples for f in stacks.frames(s)]
    check(any(f[1].endswith(".py") and f[2] > 0 for f in frames), "Python's frames", frames)


def test_speedscope():
    for name in ALL:
        whole = load(export("speedscope", trace(name)))
        equal(whole["$schema"], "https://www.speedscope.app/file-format-schema.json", "schema")
        frames = whole["shared"]["frames"]
        for profile in whole["profiles"]:
            equal(profile["type"], "sampled", "type")
            equal(profile["unit"], "bytes", "unit")
            equal(len(profile["samples"]), len(profile["weights"]), "a weight for each sample")
            equal(sum(profile["weights"]), profile["endValue"] - profile["startValue"], "the sum")
            check(all(0 <= at < len(frames) for s in profile["samples"] for at in s), "frames")
        equal(whole["profiles"][0]["endValue"], summary(trace(name))["peak_bytes"],
              f"the peak of {name}")
        check(all(frame["name"] for frame in frames), "names of frames", frames)
    graph = load(export("speedscope", trace("modules")))
    names = [frame["name"] for frame in graph["shared"]["frames"]]
    paths = [[names[at] for at in sample] for sample in graph["profiles"][0]["samples"]]
    check(["GPT", "blocks.0.mlp", "blocks.0.mlp.up", "parameter"] in paths, "a path", paths)


# ---- PyTorch's snapshot -------------------------------------------------------

def follow(entries):
    """Live blocks and segments behind the last entry."""
    blocks, segments = {}, {}
    for entry in entries:
        action, place = entry["action"], entry.get("addr")
        if action == "alloc":
            check(any(at <= place and place + entry["size"] <= at + size
                      for at, size in segments.items()), "a block outside of segments", entry)
            blocks[place] = entry["size"]
        elif action == "free_completed":
            equal(blocks.pop(place), entry["size"], "what is freed")
        elif action == "segment_alloc":
            segments[place] = entry["size"]
        elif action == "segment_free":
            equal(segments.pop(place), entry["size"], "the segment that is freed")
        else:
            check(action in ("free_requested", "oom"), "no such action", entry)
    return blocks, segments


def check_snapshot(path):
    with open(path, "rb") as file:
        snapshot = pickle.load(file)
    for number, entries in enumerate(snapshot["device_traces"]):
        blocks, segments = follow(entries)
        held = [s for s in snapshot["segments"] if s["device"] == number]
        equal({s["address"]: s["total_size"] for s in held}, segments, "the segments")
        equal({b["address"]: b["size"] for s in held for b in s["blocks"]
               if b["state"] == "active_allocated"}, blocks, "the blocks")
        for segment in held:
            equal(sum(b["size"] for b in segment["blocks"]), segment["total_size"], "its blocks")
    return snapshot


def memory_viz():
    """PyTorch's own reader, a script that needs nothing of it: of PyTorch 2 or later, since
    snapshots of version 1 were other ones."""
    import importlib.util
    found = importlib.util.find_spec("torch")
    path = os.path.join(os.path.dirname(found.origin), "cuda", "_memory_viz.py") if found else ""
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        return path if "device_traces" in file.read() else None


def test_torch_snapshot():
    viewer = memory_viz()
    for name in ALL:
        path = export("torch-snapshot", trace(name))
        snapshot = check_snapshot(path)
        for command in ("stats", "trace") if viewer else ():
            done = plain(sys.executable, viewer, command, path)
            equal(done.returncode, 0, f"_memory_viz.py {command} of {name}", done.stderr)
        if viewer:
            import runpy
            spec = runpy.run_path(viewer)
            check(spec["segments"](snapshot, format_flamegraph=str) is not None, "segments")
            check(spec["memory"](snapshot, format_flamegraph=str) is not None, "memory")
    oom = [e for e in check_snapshot(export("torch-snapshot", trace("gpt")))["device_traces"][0]
           if e["action"] == "oom"]
    check(oom and oom[0]["size"] > 0 and "device_free" in oom[0], "the refusal", oom)
    peak = check_snapshot(export("torch-snapshot", trace("gpt"), "--at", "peak",
                                 "--device", "cuda:0"))
    told = [d for d in summary(trace("gpt"))["by_device"] if d["device"] == "cuda:0"][0]
    equal(sum(s["allocated_size"] for s in peak["segments"]), told["peak_bytes"],
          "allocated at the peak")


# ---- A real recording, and bad ones -------------------------------------------

def test_recording():
    import importlib.util
    if not importlib.util.find_spec("torch"):
        raise harness.Skip("no PyTorch here")
    done = harness.run(sys.executable, "-c", TRAINS, options=["--stacks", "python"])
    equal(done.code, 0, "the run", done.err)
    told = summary(done.trace)
    events = chrome(done.trace)
    check(("X", "step 2") in {(e["ph"], e["name"]) for e in events}, "steps of the optimizer")
    equal(highest(events, "cpu live"), told["peak_bytes"], "the peak")
    profile = Profile(export("pprof", done.trace))
    equal(profile.total("inuse_space"), told["peak_bytes"], "in use")
    check(profile.total("inuse_space", category="parameter") >= 4 * (64 * 128 + 128 + 1024 + 8),
          "bytes of parameters")
    check(any(f[0] == "<module>" for s in profile.samples for f in profile.frames(s)), "frames")
    snapshot = check_snapshot(export("torch-snapshot", done.trace))
    check(any(e["frames"] for e in snapshot["device_traces"][0]), "frames of the snapshot")
    equal(len(load(export("speedscope", done.trace))["profiles"]), 2, "graphs")
    equal(answer(done.trace, "SELECT sum(bytes) FROM live_at_peak"), [[told["peak_bytes"]]],
          "the database")


def test_nothing_recorded():
    done = harness.run("/bin/true")
    for form in FORMATS:
        export(form, done.trace)
    chrome(done.trace)
    check_snapshot(f"{done.trace}.torch-snapshot")
    equal(load(f"{done.trace}.speedscope")["profiles"][0]["samples"], [], "samples")
    equal(Profile(f"{done.trace}.pprof").samples, [], "samples")


def test_damaged():
    with open(trace("gpt"), "rb") as file:
        data = bytearray(file.read())
    block = data.index(b"MLBK", data.index(b"MLBK") + 4)
    while data[block + 4] != 2:  # the first with events
        block = data.index(b"MLBK", block + 4)
    data[block + 60] ^= 0xff
    with open("bad.mled", "wb") as file:
        file.write(data)
    for form in FORMATS:
        if os.path.exists(f"bad.mled.{form}"):
            os.remove(f"bad.mled.{form}")
        contains(export(form, "bad.mled", code=1), "bad.mled", "the error")
        check(not glob.glob(f"bad.mled.{form}*"), "a file of a damaged trace")
        export(form, "bad.mled", "--salvage")
    contains(sql("bad.mled", "SELECT count(*) FROM events", code=1), "bad.mled", "the error")
    contains(sql("no.mled", "SELECT 1", code=1), "no.mled", "the error")


def test_names():
    """Names of any bytes come out as valid text."""
    with open("names.csv", "wb") as file:
        file.write(b'in_arg:a"\\\x01\xff\xc3\xa9,1\ndata_entry:\xf0\x9f\x98\x80\x7f,2\n')
    done = plain(MEMLEDGER, "import", "--format", "mxnet-csv", "-o", "names.mled", "names.csv")
    equal(done.returncode, 0, "the import", done.stderr)
    rows = load(export("json", "names.mled"))["tables"]["allocations"]
    labels = {row["label"] for row in rows}
    equal(labels, {'in_arg:a"\\\x01\ufffd\u00e9', "data_entry:\U0001f600\x7f"}, "labels")
    equal(set(row[0] for row in answer("names.mled", "SELECT label FROM allocations")), labels,
          "labels of the database")
    chrome("names.mled")
    load(export("speedscope", "names.mled"))
    Profile(export("pprof", "names.mled"))
    check_snapshot(export("torch-snapshot", "names.mled"))


if __name__ == "__main__":
    harness.main(globals())
