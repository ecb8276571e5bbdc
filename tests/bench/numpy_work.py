#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""numpy_work.py ROUNDS: what a data script does: read a table, group it, filter, transform."""
import io
import sys

import numpy as np


def table(rows, seed):
    random = np.random.default_rng(seed)
    text = io.StringIO()
    np.savetxt(text, random.random((rows, 6)), fmt="%.6f", delimiter=",")
    text.seek(0)
    return np.loadtxt(text, delimiter=",")


def by_group(values, keys):
    return {key: values[keys == key].mean(axis=0) for key in np.unique(keys)}


def smooth(values, width):
    window = np.ones(width) / width
    return np.stack([np.convolve(column, window, mode="same") for column in values.T])


total = 0.0
for number in range(int(sys.argv[1])):
    data = table(4000, number)
    groups = by_group(data, (data[:, 0] * 200).astype(int))
    total += sum(float(mean.sum()) for mean in groups.values())
    total += float(np.abs(np.fft.rfft(smooth(data, 25))).max())
    spectrum = np.linalg.svd(data.T @ data, compute_uv=False)
    total += float(spectrum[0])
print("%.3f" % total)
