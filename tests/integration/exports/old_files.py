# old_files.py: exports a trace to the files of the old tools, reads them as those tools
# do, and compares what they find with memledger's own reports.
#
# SPDX-License-Identifier: Apache-2.0
import collections
import json

import harness
import old_tools
from harness import MEMLEDGER, check, equal, plain


def export(trace, name, *options):
    path = f"{name}.out"
    done = plain(MEMLEDGER, "export", trace, "--format", name, "-f", "-o", path, *options)
    equal(done.returncode, 0, f"exit code of export --format {name}", done.stderr)
    return path


def printed_totals(text):
    """"Total Weights=  1.5 MB" -> {"Total Weights": "1.5"}."""
    lines = (line.split("=  ") for line in text.splitlines() if line.startswith("Total "))
    return {name: value.split(" ")[0] for name, value in lines}


def check_tbd(trace):
    """@return how many allocations the log has"""
    log = export(trace, "tbd-log")
    categories, unknown = old_tools.tbd_analysis(log)
    report = plain(MEMLEDGER, "groups", "--style", "tbd", trace).stdout
    totals = {k: str(v) for k, v in old_tools.tbd_totals(categories).items()}
    equal(printed_totals(report), totals, "TBD's totals")
    with open(export(trace, "tbd-analysis")) as file:
        text = file.read()
    equal(text, json.dumps(categories, indent=2), "TBD's analysis")
    named = [line[len("UNKNOWN TAG: "):] + "\n" for line in report.splitlines()
             if line.startswith("UNKNOWN TAG: ")]
    equal(named, unknown, "tags that TBD does not know")
    return len(unknown) + totals_count(categories)


def totals_count(categories):
    return sum(len(tags) for _, tags in categories.values())


def groups(trace, *options):
    run = harness.report("groups", trace, "-d", "mxnet", *options)["runs"][0]
    return run, {g["category"]: g["bytes"] for g in run["dictionaries"][0]["groups"]}


def check_mxnet_csv(trace):
    """@return how many allocations the file has"""
    path = export(trace, "mxnet-csv", "--level", "auto")
    theirs = old_tools.mxnet_groups(path, old_tools.MXNET_DATA_STRUCTURES, expected_gib=4)
    run, ours = groups(trace, "--gross", "--expected", "4GiB")
    equal(sorted(theirs), sorted(ours), "MXNet's categories")
    for name, gib in theirs.items():
        # The file has six digits.
        difference = abs(gib * 2**30 - ours[name])
        check(difference <= 1e-5 * max(run["bytes"], 1), f"{name} of MXNet's CSV: {gib} GiB",
              ours[name])
    with open(path) as file:
        return sum(1 for _ in file), run["allocations"]


def pool_at_peak(trace):
    """What the pool of the host held when MXNet's blocks were at their peak, and those blocks:
    the sizes of both. None without a pool."""
    dump = harness.dump(trace, events=True)
    names = {i: s["name"] for i, s in enumerate(dump["spaces"]) if s["name"].startswith("mxnet")}
    held, live, peak, found = {}, {}, 0, None
    for e in dump["events"]:
        blocks = {"mxnet pool": held, "mxnet": live}.get(names.get(e.get("space")))
        if blocks is not None and e["kind"] == "alloc":
            blocks[e["addr"]] = e["size"]
        elif blocks is not None and e["kind"] == "free":
            blocks.pop(e["addr"], None)
        if sum(live.values()) > peak:
            peak, found = sum(live.values()), (sorted(held.values()), sorted(live.values()))
    return found if "mxnet pool" in names.values() else None


def check_pool_profile(trace):
    """Each allocation of MXNet's pool is a row: Actual is its size, in whole pages, Requested that
    of its last block."""
    rows = old_tools.mxnet_profile(export(trace, "mxnet-pool-csv", "--at", "peak"))
    held, live = pool_at_peak(trace)
    equal(sorted(int(row[3]) for row in rows), held, "what the pool holds")
    missing = collections.Counter(live) - collections.Counter(int(row[1]) for row in rows)
    check(not missing, "blocks that are not in the profile", missing)
    check(any(row[1] != row[3] for row in rows), "no size is rounded", rows)
    check({row[4] for row in rows} == {"0", "1"}, "none is reused, or all are", rows)


def check_profile(trace, *options):
    if not options and pool_at_peak(trace):
        return check_pool_profile(trace)
    rows = old_tools.mxnet_profile(export(trace, "mxnet-pool-csv", "--at", "peak", *options))
    run, _ = groups(trace, "--at", "peak", *options)
    names = [row[0] for row in rows if row[0] != "nvml_amend"]
    equal(names, sorted(names), "the order of the profile")
    requested = sum(int(row[1]) for row in rows if row[0] != "nvml_amend")
    equal((requested, len(names)), (run["bytes"], run["blocks"]), "bytes and rows of the profile")
    return rows


def check_round(trace, name):
    """What is exported, imported and exported again is the same."""
    path = export(trace, name)
    with open(path) as file:
        first = file.read()
    again = f"{name}.mled"
    done = plain(MEMLEDGER, "import", "-qf", "--format", name, "-o", again, path)
    equal(done.returncode, 0, f"exit code of import --format {name}", done.stderr)
    with open(export(again, name)) as file:
        equal(file.read(), first, f"{name}, there and back")


def check_all(trace, *options):
    """All of it, on a trace of blocks alone. `options`: for the profile, which is of GPUs
    only. @return the allocations"""
    in_log = check_tbd(trace)
    in_csv, allocations = check_mxnet_csv(trace)
    equal((in_log, in_csv), (allocations, allocations), "allocations in the log and in the CSV")
    check_profile(trace, *options)
    return allocations
