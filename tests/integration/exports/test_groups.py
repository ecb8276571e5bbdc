#!/usr/bin/env python3
# test_groups.py: the user's own keyword dictionaries, applied to a trace.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess

import harness
import old_tools
from harness import MEMLEDGER, check, contains, equal, plain

TRACES = os.environ["TEST_TRACES"]
MIB = 1 << 20


def groups(*options, code=0):
    done = plain(MEMLEDGER, "groups", *options, cwd=os.getcwd())
    equal(done.returncode, code, f"exit code of groups {options}", done.stderr)
    return done


def trace(name):
    return os.path.join(TRACES, f"{name}.mled")


def dictionary(text, name="mine.txt"):
    with open(name, "w") as file:
        file.write(text)
    return name


def sums(*options):
    """{category: bytes} of the first dictionary, and all of it."""
    run = json.loads(groups("--json", *options).stdout)["runs"][0]
    first = run["dictionaries"][0]
    return {g["category"]: g["bytes"] for g in first["groups"]}, first


def test_own_dictionary():
    mine = dictionary("others = The rest\n[Head]\n/head|CrossEntropy/\n[Blocks]\nlayers.\n")
    found, whole = sums("-d", mine, trace("gpt"))
    equal(found["Head"], 20 * MIB, "bytes of the head")
    equal(sum(found.values()), whole["total_bytes"], "the sum of all")
    equal(whole["dictionary"], mine, "the name of the dictionary")
    check("The rest" in found and whole["match"] == "first", "settings", whole)


def test_all_matches():
    mine = dictionary("match = all\n[Weights]\nweight\n[Arguments]\nin_arg:\n")
    both, whole = sums("-d", mine, trace("gpt"))
    first, _ = sums("-d", mine, "--match", "first", trace("gpt"))
    check(both["Arguments"] > first["Arguments"], "all matches are no more than the first")
    check(sum(both.values()) > whole["total_bytes"], "nothing counts twice", both)
    clashes = [c["tag"] for c in whole["clashes"]]
    equal(len(clashes), len(set(clashes)), "clashes of each tag")
    text = groups("-d", mine, trace("gpt")).stdout
    contains(text, "Tag in_arg:embed.weight is considered match for multiple entries "
             "(weight, in_arg:) in the keyword dictionary.", "the warning")


def test_a_tag_that_clashes_counts_once():
    mine = dictionary("match = all\n[Weights]\nweight\nembed\n[Arguments]\nin_arg:embed\n")
    _, whole = sums("-d", mine, trace("gpt"))
    three = [c["matches"] for c in whole["clashes"] if c["tag"] == "in_arg:embed.weight"]
    equal(three, [[{"keyword": "weight", "category": "Weights"}, {"keyword": "embed", "category": "Weights"},
                   {"keyword": "in_arg:embed", "category": "Arguments"}]], "what matches the tag")
    done = plain(harness.MEMLEDGER, "plot", "-k", "categories", "-d", mine, "-o", "c.svg", trace("gpt"))
    contains(done.stderr, f"{mine}: 1 tag matches several keywords and counts more than once "
             "(in_arg:embed.weight); memledger groups lists them", "the warning")


def test_nothing_to_group():
    pathlib.Path("empty.log").write_text("")
    plain(harness.MEMLEDGER, "import", "-q", "--format", "mxnet-log", "-o", "empty.mled", "empty.log")
    for option in ("--at=peak", "--gross"):
        text = groups(option, "empty.mled").stdout
        contains(text, "No allocations to categorize.", "the report")
        check("%" not in text, "a share of nothing", text)
    run = json.loads(groups("--json", "empty.mled").stdout)["runs"][0]
    equal([d["groups"] for d in run["dictionaries"]], [[], []], "groups")


def test_empty_names():
    for names in ("", ",", "mxnet,", ",mxnet", "mxnet,,layers"):
        done = groups("-d", names, trace("gpt"), code=1)
        contains(done.stderr, "--dictionary: a name is empty; give files, or some of mxnet,", "the error")


def test_expected():
    by_hand, whole = sums("-d", "mxnet", "--expected", "1GiB", trace("gpt"))
    equal(by_hand["Untrackable"], 1024 * MIB - whole["total_bytes"], "what is untrackable")
    less, _ = sums("-d", "mxnet", "--expected", "1MiB", trace("gpt"))
    check(less["Untrackable"] < 0, "more than was expected", less)
    sampled, whole = sums("-d", "mxnet", "--expected", "auto", "--at", "end", trace("mxnet"))
    equal(whole["expected_bytes"], 324 * MIB, "what was sampled")
    equal(sum(sampled.values()), 324 * MIB, "the sum with what is untrackable")
    done = groups("--expected", "auto", trace("modules"), code=1)
    contains(done.stderr, "no samples", "the error")


LONG_TAGS = {
    "data_entry:encoder_lstm_layer0_time0_input_to_hidden_weight_oedge0": 0.5,
    "data_entry:encoder_lstm_layer0_time0_input_to_hidden_weight_oedge1": 0.375,
    "data_entry:decoder_lstm_layer0_time0_hidden_to_hidden_w": 0.0003814697265625,
    "in_arg:a 'quoted' name": 0.25,
    "in_arg:both 'of' \"them\"": 0.125,
    "in_arg:back\\slash": 0.0625,
    "resource:temp_space (a_file_with_a_long_name-inl.h +365) of an operator with a long name": 2,
    "unknown:" + "a_word_that_is_longer_than_any_line_of_the_terminal_could_ever_be_and_more_" * 2: 3,
    "unknown:of several words which do not fit into one line, so that it is broken at 77": 4,
    "unknown:of several words which do not fit into one line, so that it is broken, and so "
    "long that a third line is needed, which is a long tag but not unheard of": 5,
    "unknown:x": 0.03125,
}


def printed_top_entries(keywords, tags, *options):
    """What the script prints of the tags, {tag: MiB}, and what we print."""
    with open("tags.csv", "w") as file:
        file.writelines(f"{tag},{mib}\n" for tag, mib in tags.items())
    text = "match = all\n" + "".join("[%s]\n%s\n" % (name, "\n".join(words))
                                     for name, words in keywords.items())
    done = plain(MEMLEDGER, "import", "-qf", "--format", "mxnet-csv", "-o", "tags.mled", "tags.csv")
    equal(done.returncode, 0, "exit code of import", done.stderr)
    theirs = old_tools.mxnet_top_entries([(tag, mib / 1024) for tag, mib in tags.items()], keywords,
                                         expected_gib=4)
    ours = groups("--style", "mxnet", "-d", dictionary(text), "--expected", "4GiB", *options,
                  "tags.mled")
    return theirs, ours


def test_top_entries():
    """MXNet's script leaves the layout to Python's pprint: lines, tuples, long strings."""
    theirs, ours = printed_top_entries({"Entries": ["data_entry"], "Arguments": ["in_arg", "both"]},
                                       LONG_TAGS)
    equal(ours.stdout, theirs, "the top entries")
    contains(ours.stderr, "is considered match for multiple entries (in_arg, both)", "the warning")
    for tag in LONG_TAGS:  # each alone: what fits into one line is one line
        theirs, ours = printed_top_entries({"Entries": ["data_entry"]}, {tag: LONG_TAGS[tag]})
        equal(ours.stdout, theirs, f"the entry {tag}")


SETME = """
import os

layer_kw_dict = \\
    {
        # Complete the layer-wise keyword dictionary.
        "RNN"       : ["rnn", "lstm"],
        "Embedding" : ['embed', "weight"],
    }

data_struct_kw_dict = \\
    {
        "Parameters"   : ["in_arg", "arg_grad", "optimizer_state"],
        "Data Entries" : ["data_entry"],
        "Workspace"    : ["workspace"]
    }

memory_profile_path = os.path.join("profiles", "mxnet.csv")
expected_sum = 4
"""


def test_setme():
    """As it is, against Python's reading of it; both dictionaries, and the expected sum."""
    variables = {}
    exec(SETME, variables)
    with open("tags.csv", "w") as file:
        file.writelines(f"{tag},{mib}\n" for tag, mib in LONG_TAGS.items())
    plain(MEMLEDGER, "import", "-qf", "--format", "mxnet-csv", "-o", "tags.mled", "tags.csv")
    rows = [(tag, mib / 1024) for tag, mib in LONG_TAGS.items()]
    theirs = "".join(old_tools.mxnet_top_entries(rows, variables[name],
                                                 expected_gib=variables["expected_sum"])
                     for name in ("layer_kw_dict", "data_struct_kw_dict"))
    file = dictionary(SETME, "SETME.py")
    equal(groups("--style", "mxnet", "-d", file, "tags.mled").stdout, theirs, "the top entries")
    run = json.loads(groups("--json", "-d", file, "--expected", "5GiB", "tags.mled").stdout)["runs"][0]
    equal([(d["dictionary"], d["match"], d["expected_bytes"]) for d in run["dictionaries"]],
          [("Layer", "all", 5 << 30), ("Data Structure", "all", 5 << 30)], "dictionaries")
    done = plain(MEMLEDGER, "plot", "-f", "-k", "bars", "-d", file, "-o", "bars.svg", "tags.mled")
    equal(done.returncode, 0, "exit code of plot", done.stderr)
    contains(pathlib.Path("bars.svg").read_text(), "Untrackable", "the picture")
    groups("-d", dictionary("layer_kw_dict = os.system('touch ran')\n", "SETME.py"), "tags.mled",
           code=1)
    check(not os.path.exists("ran"), "the file was run")


def test_top_entries_are_twenty():
    tags = {f"in_arg:weight{i:02}": 1 + i / 64 for i in range(30)}
    theirs, ours = printed_top_entries({"Parameters": ["in_arg"]}, tags)
    equal(ours.stdout, theirs, "the top entries")
    equal(ours.stdout.count("in_arg:"), 20, "entries")


def test_several_traces():
    runs = json.loads(groups("--json", "-d", "torch", trace("gpt"), trace("modules")).stdout)
    equal([os.path.basename(run["file"]) for run in runs["runs"]], ["gpt.mled", "modules.mled"],
          "the runs")


def random_log(path, chance, words):
    """A log of TBD's profiler, with other lines in between."""
    with open(path, "w") as file:
        for _ in range(chance.randint(0, 200)):
            tag = chance.choice(words) + chance.choice(("", ":x", "_weight", "0"))
            size = chance.choice((0, 1, chance.randint(1, 1 << 40)))
            file.write(f"[mem] Allocate {size} bytes GPU memory ({tag}).\n")
            if chance.random() < 0.3:
                file.write("[trace] In InitGraph.\n[mem] 15 MB GPU global memory free, "
                           "total 16160 MB.\n")
        file.write("[mem] Allocate 3 bytes GPU memory (last).\n")


TBD_TAGS = ("in_arg:fc1", "arg_grad:att", "aux_state:bn", "_optimizer_weight_update_a", "source",
            "workspace:conv", "forward_features:rnn", "forward_features:_plus", "untagged",
            "_untagged", "warning!,ctx_source_unclear", "data", "my_data", "csr_matrix:cast", "")


def test_tbd_script():
    """For any logs, all of a folder at once, what the script prints, to the last digit."""
    chance = random.Random(15)
    os.mkdir("logs")
    paths = [f"logs/{i:02}" for i in range(30)]
    for path in paths:
        random_log(path, chance, TBD_TAGS)
    equal(groups("--style", "tbd", "logs").stdout, "".join(map(old_tools.tbd_report, paths)),
          "the script's report of a folder")
    equal(groups("--style", "tbd", "logs/", paths[7]).stdout.count(f"{paths[7]} done\n"), 2,
          "reports of one log")


def test_tbd_guide():
    """Tags in no total, and how to count them, as the script's guide says."""
    with open("log", "w") as file:
        for tag in ("in_arg:fc1", "forward_features:_plus0", "forward_features:_plus1"):
            file.write(f"[mem] Allocate 64 bytes GPU memory ({tag}).\n")
    done = groups("--style", "tbd", "log")
    contains(" ".join(done.stderr.split()), "2 allocations have an UNKNOWN TAG", "the guide")
    text = groups("--show", "tbd").stdout + "[Sums]\n_plus\n"
    done = groups("--style", "tbd", "-d", dictionary(text), "log")
    contains(done.stdout, "Sums = 0.0001220703125 MBs Count:# 2\n", "the new keyword")
    equal(done.stderr, "", "the guide when every tag has a keyword")


def test_tbd_keywords_of_ones_own():
    random_log("log", random.Random(5), TBD_TAGS)
    names = {"(data)": "Data", "in_arg": "Weights", "untagged": "Unknown", "fea": "Features"}
    mine = dictionary("".join(f"[{name}]\n{keyword}\n" for keyword, name in names.items()))
    equal(groups("--style", "tbd", "-d", mine, "log").stdout, old_tools.tbd_report("log", names),
          "the script's report with other keywords")


def test_tbd_folders():
    os.mkdir("logs")
    os.mkdir("logs/inner")
    done = groups("--style", "tbd", "logs", code=1)
    contains(done.stderr, "logs: has no files", "the error")
    shutil.copy(trace("mxnet"), "logs/b.mled")
    random_log("logs/a", random.Random(1), TBD_TAGS)
    with open("logs/readme", "w") as file:
        file.write("not a log\n")
    done = groups("--style", "tbd", "logs", code=1)
    contains(done.stderr, "logs/readme: has no line '[mem] Allocate ...'", "the error")
    equal([line for line in done.stdout.splitlines() if line.endswith(" done")],
          ["logs/a done", "logs/b.mled done"], "files")
    contains(done.stdout, "Unknown (From Python Side) = 1.0 MBs", "what has no name")


def test_tbd_interrupted():
    """While a long log is read: nothing is left."""
    with open("log", "w") as file:
        file.write("[mem] Allocate 64 bytes GPU memory (in_arg:fc1).\n" * 1000000)
    os.mkdir("tmp")
    process = subprocess.Popen([MEMLEDGER, "groups", "--style", "tbd", "log"],
                               env=os.environ | {"TMPDIR": os.path.abspath("tmp")})
    harness.wait_until(lambda: os.listdir("tmp"), "the temporary file")
    process.send_signal(signal.SIGINT)
    equal(process.wait(harness.PATIENCE_S), -signal.SIGINT, "how it ended")
    equal(os.listdir("tmp"), [], "files")


def test_mistakes():
    done = groups("-d", dictionary("[A]\n/(/\n"), trace("gpt"), code=1)
    contains(done.stderr, "mine.txt, line 2: ", "the error")
    done = groups("--gross", "--at", "end", trace("gpt"), code=2)
    contains(done.stderr, "--gross covers the whole run", "the error")
    done = groups("--expected", "lots", trace("gpt"), code=2)
    contains(done.stderr, "'lots' is neither auto nor a size", "the error")
    groups("--style", "tbd", "--json", trace("gpt"), code=2)
    for option in (("--at", "end"), ("--expected", "1GiB")):
        done = groups("--style", "tbd", *option, trace("gpt"), code=2)
        contains(done.stderr, "leave out --at and --expected", "error")
    done = groups("-d", ".", trace("gpt"), code=1)
    contains(done.stderr, ".: Is a directory", "error")
    groups("--style", "mxnet", "--json", trace("gpt"), code=2)
    groups("-d", os.getcwd(), trace("gpt"), code=1)
    with open("binary", "wb") as file:
        file.write(b"[A]\n\0b\n")
    groups("-d", "binary", trace("gpt"), code=1)


def test_no_built_in_dictionary_fits_malloc():
    harness.run("/usr/bin/python3", "-c", "kept = bytearray(1000000)", trace="heap.mled",
                options=["-q", "--heap", "--sample-hz", "0"])
    refused = groups("heap.mled", code=1)
    equal(refused.stdout, "", "no table of Others alone")
    contains(refused.stderr, "heap.mled has blocks of malloc only", "the reason")
    contains(refused.stderr, "memledger table", "the way out")
    contains(groups("-d", "layers", "heap.mled").stdout, "Others", "the dictionary that is named")


def test_a_missing_name_lists_the_built_in_dictionaries():
    contains(groups("-d", code=2).stderr,
             "-d needs a value: NAME,...; there are mxnet, mxnet-lstm, tbd, torch, layers, or name "
             "a file", "the error")


harness.main(globals())
