# old_tools.py: how the old tools read the files that memledger writes for them. Modelled on
# those tools, independent of memledger.
#
# SPDX-License-Identifier: Apache-2.0
import csv
import pprint

MIB = 1 << 20

# The order in which TBD's analysis looks for keywords in a tag.
TBD_KEYWORDS = (
    "in_arg arg_grad aux_state optimizer workspace rnn embed :_mul rsqrt :mean att :split logit "
    "swapaxes square softmax sequencereverse dot :broadcast zeros sum transpose :dropout slice "
    "cnn arange dot fullyconnected sequencemask conv activation reshape transformer relu pool bn "
    ":id :fc _sc _equal_scalar (source) (target) (target_label) (data) dropout untagged "
    "warning!,ctx_source_unclear").split()
TBD_NAMES = dict(zip(TBD_KEYWORDS, (
    "Weights", "Weight Gradients", "Auxiliary State", "Optimizer State", "Workspace", "RNN Layer",
    "Embedding Layer", "Multiplication Op", "Sqrt Op", "Mean Op", "Attention Layer", "Split Op",
    "Logit", "SwapAxes Op", "Square Op", "SoftMax", "SequenceReverse Op", "Dot Op", "Broadcast Op",
    "Zero Op", "Sum Op", "Transpose Op", "Dropout", "Slice Op", "CNN Layer", "Arange Op", "Dot Op",
    "FullyConnected", "SequenceMask", "Convolutional Unit", "Activation", "Reshape Op",
    "Transformer Layer", "Relu", "Pooling", "Batch Norm", "Id", "Fully Connected", "SC unit",
    "Equal Scalar Op", "Source", "Target", "Target Label", "Data", "Dropout",
    "Unknown (From Python Side)", "Unknown (From C++ side)")))
TBD_WEIGHTS = ("in_arg", "arg_grad")
TBD_UNKNOWN = ("untagged", "warning!,ctx_source_unclear")


def tbd_analysis(path, keywords=TBD_KEYWORDS):
    """memory_analysis.py: {keyword: [bytes, [tags]]} and the tags that it does not know."""
    categories, unknown = {}, []
    with open(path) as log:
        for line in log:
            if "Allocate" not in line:
                continue
            words = line.split(" ")
            size, tag = float(words[2]), words[6]
            for keyword in keywords:
                if keyword in tag:
                    entry = categories.setdefault(keyword, [0.0, []])
                    entry[0] += size
                    entry[1].append(tag)
                    break
            else:
                unknown.append(tag)
    return categories, unknown


def tbd_totals(categories):
    """The figures of its summary, as it prints them."""
    def megabytes(keys):
        return sum((categories[k][0] / MIB for k in keys), 0)

    return {
        "Total Allocations": megabytes(categories),
        "Total Weights": megabytes(k for k in categories if k in TBD_WEIGHTS),
        "Total Forward tags": megabytes(k for k in categories
                                        if k not in TBD_WEIGHTS + TBD_UNKNOWN),
        "Total Unknown tags": megabytes(k for k in categories if k in TBD_UNKNOWN),
        "Total Annotations": sum(len(tags) for _, tags in categories.values()),
    }


def tbd_report(path, names=TBD_NAMES):
    """What it prints of a log; names: {keyword: name} in the order of its search."""
    categories, unknown = tbd_analysis(path, list(names))
    stars = "*" * 34
    lines = [f"UNKNOWN TAG: {tag}" for tag in unknown]
    lines += [stars, stars, f"Statistics for :  {path}", stars, stars]
    for keyword, (size, tags) in sorted(categories.items(), key=lambda c: c[1][0], reverse=True):
        lines.append(f"{names[keyword]} = {size / MIB} MBs Count:# {len(tags)}")
    lines.append("#############  SUMMARY #############")
    for name, value in tbd_totals(categories).items():
        lines.append(f"{name}=  {value}" + ("" if name == "Total Annotations" else " MB"))
    return "\n".join([*lines, f"{path} done", ""])


# SETME.py of MXNet's scripts.
MXNET_DATA_STRUCTURES = {
    "Parameters": ["in_arg", "arg_grad", "optimizer_state"],
    "Data Entries": ["data_entry"],
    "Workspace": ["workspace"],
}


def mxnet_groups(path, keywords, expected_gib=None):
    """Its grouping: every keyword that a tag contains has it; GiB."""
    groups, total = {}, 0.0
    with open(path) as file:
        for line in file:
            tag, mib = line.rstrip("\n").rsplit(",", 1)
            gib = float(mib) / 1024
            total += gib
            found = [name for name, words in keywords.items() for word in words if word in tag]
            for name in found or ["Others"]:
                groups[name] = groups.get(name, 0.0) + gib
    if expected_gib is not None:
        groups["Untrackable"] = expected_gib - total
    return groups


def cut_tag(tag):
    return tag if len(tag) <= 50 else tag[:50] + ".."


def mxnet_top_entries(rows, keywords, top=20, expected_gib=None):
    """What pprint_top_entries.py prints of rows (tag, GiB)."""
    groups, others = {}, {}
    for tag, gib in rows:
        found = [name for name, words in keywords.items() for word in words if word in tag]
        for name in found:
            entries = groups.setdefault(name, {})
            entries[cut_tag(tag)] = entries.get(cut_tag(tag), 0.0) + gib
        if not found:
            others[tag] = others.get(tag, 0.0) + gib
    ordered = sorted(groups.items(), key=lambda group: -sum(group[1].values()))
    text = ""
    for name, entries in ordered + ([("Others", others)] if others else []):
        largest = sorted(entries.items(), key=lambda entry: -entry[1])[:top]
        text += "Keyword: %s, Total Consumption: %f\n" % (name, sum(entries.values()))
        text += "Entries:\n" + pprint.pformat(largest) + "\n"
    if expected_gib is not None:
        text += "Untrackable Consumption: %f\n" % (expected_gib - sum(gib for _, gib in rows))
    return text


def mxnet_profile(path):
    """The five-column file as rows of text."""
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["Attribute Name", "Requested Size", "Device", "Actual Size", "Reuse?"]
    return rows[1:]
