# embed.py: makes the built page part of the command.
#
#     embed.py DIST OUTPUT.c
#
# SPDX-License-Identifier: Apache-2.0
import os
import sys

import standalone

TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css",
         ".svg": "image/svg+xml", ".png": "image/png", ".woff2": "font/woff2"}


def files_in(folder):
    for path, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if os.path.splitext(name)[1] in TYPES:
                yield os.path.join(path, name)


def as_bytes(data):
    rows = (data[i:i + 20] for i in range(0, len(data), 20))
    return ",\n    ".join(",".join(str(byte) for byte in row) for row in rows)


def main(folder, output):
    arrays, rows = [], []
    for number, path in enumerate(files_in(folder)):
        with open(path, "rb") as f:
            data = f.read()
        address = "/" + os.path.relpath(path, folder)
        arrays.append(f"static const unsigned char file_{number}[] = {{\n    {as_bytes(data)}}};\n")
        rows.append(f'    {{"{address}", "{TYPES[os.path.splitext(path)[1]]}", file_{number}, '
                    f"sizeof(file_{number})}},\n")
    with open(output, "w") as f:
        f.write('#include "assets.h"\n\n' + "\n".join(arrays) +
                "\nconst struct ml_asset ml_assets[] = {\n" + "".join(rows) + "    {0},\n};\n")
        for name, data in zip(("head", "tail"), standalone.document(folder)):
            f.write(f"\nstatic const unsigned char {name}[] = {{\n    {as_bytes(data)}}};\n")
        f.write("\nconst struct ml_page_file ml_page_file = {head, sizeof(head), tail, sizeof(tail)};\n")


main(*sys.argv[1:])
