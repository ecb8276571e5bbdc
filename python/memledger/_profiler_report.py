"""The text and the CSV file of MemoryProfiler, in the layout of tbd-tools' pytorch_mem_profiler.

Rows and columns that tbd-tools does not have come last.

SPDX-License-Identifier: Apache-2.0
"""
import itertools
import os
import time

CSV_FOLDER = "./memory_csv_data/"
_STARS = "*" * 43


def megabytes(count):
    """Rounded to megabytes of 1,000,000 bytes, half to even."""
    return round(count / 1000000)


def _row(text, count, indent=0):
    return f"{' ' * indent}{text:.<{35 - indent}s}{megabytes(count):.>5d} MB"


def _rows(sizes, suffix=""):
    return [_row(name + suffix, size, indent=2) for name, size in sizes.items()]


def text(iteration, epoch, found):
    """`found`: as MemoryProfiler measures it."""
    layers = {name: size for name, size in found["layers"].items() if size}
    return "\n".join([
        "", _STARS,
        f"Memory Usage for Iteration {iteration} of Epoch {epoch}",
        _STARS,
        _row("Peak cached", found["peak"]),
        _row("Current cached", found["current"]),
        _row("Total feature map usage", found["feature maps"]),
        *_rows(layers),
        "",
        _row("Total layer weight usage", found["all weights"]),
        *_rows(found["weights"]),
        "",
        _row("Total layer weight gradient usage", found["all gradients"]),
        *_rows(found["gradients"], " grad"),
        _row("Intermediate gradients", found["intermediate"]),
        "",
        _row("Total optimizer state usage", found["all states"]),
        *_rows(found["states"], " state"),
    ])


def columns(names, layers):
    """The head of the CSV file, for these parameters and layers."""
    return ["epoch", "iteration", "peak_cached", "current_cached", "total_feature_map_usage",
            "total_weight_usage", *names,
            "total_layer_weight_gradient_usage", *(f"{name}_grad" for name in names),
            "intermediate_gradients",
            "total_optimizer_state_usage", *(f"{name}_state" for name in names),
            *(f"{name}_feature_maps" for name in layers)]


def fields(iteration, epoch, found):
    """A row under these columns."""
    sizes = [found["peak"], found["current"], found["feature maps"],
             found["all weights"], *found["weights"].values(),
             found["all gradients"], *found["gradients"].values(), found["intermediate"],
             found["all states"], *found["states"].values(), *found["layers"].values()]
    return [epoch, iteration, *map(megabytes, sizes)]


def new_csv():
    """Creates an empty file named after the time, and returns its path. A second file of the
    same second gets a number."""
    os.makedirs(CSV_FOLDER, exist_ok=True)
    stem = CSV_FOLDER + time.strftime("%Y%m%d%H%M%S")
    for number in itertools.count(1):
        path = f"{stem}.csv" if number == 1 else f"{stem}-{number}.csv"
        try:
            open(path, "x").close()
            return path
        except FileExistsError:
            continue


def append_csv(path, values):
    with open(path, "a", encoding="utf-8") as file:
        file.write(",".join(map(str, values)) + "\n")
