#!/usr/bin/env python3
"""Writes the manual pages: memledger(1), and memledger-NAME(1) from docs/commands/NAME.md.

    man-pages.py MEMLEDGER FOLDER PAGE...

The one-line descriptions and the list of commands come from the command's own help.

SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import re
import subprocess
import sys


def ask(memledger, *arguments):
    return subprocess.run([memledger, *arguments], check=True, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL).stdout


def escape(text):
    """Text that roff prints as it is."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def link(found):
    """A link to another page refers to its topic; others are their text."""
    text, target = found[1], found[2]
    topic = re.fullmatch(r"(?:.*/)?([a-z][a-z0-9-]*)\.md(?:#.*)?", target)
    if topic and text.strip("`") in (topic[1], topic[1] + ".md"):
        return f"`memledger help {topic[1]}`"
    if topic and not text.startswith("`memledger "):
        return f"{text} (`memledger help {topic[1]}`)"
    return f"{text} ({target})" if target.startswith("http") else text


def inline(text):
    """A line of Markdown in roff: code bold, emphasis plain."""
    text = re.sub(r"!\[([^]]*)\]\([^)]*\)", r"[picture: \1]", text)
    text = re.sub(r"\[((?:[^]`]|`[^`]*`)*)\]\(([^()\s]+(?:\([^()]*\))?)\)", link, text)
    parts = []
    for i, part in enumerate(re.split(r"`([^`]*)`", text)):
        if i % 2:
            parts.append("\\fB" + escape(part).removeprefix("\\&") + "\\fR")
        else:
            plain = re.sub(r"\*\*|(?<![\w*])\*(?=\w)|(?<=[\w.])\*(?!\w)", "", part)
            parts.append(escape(re.sub(r"\\([|*_`<>])", r"\1", plain)).removeprefix("\\&"))
    line = "".join(parts)
    return "\\&" + line if line[:1] in (".", "'") else line


# Deeper ones are code.
ROW = re.compile(r" {0,3}\|")


def cells(row):
    return [c.strip().replace("\\|", "|") for c in re.split(r"(?<!\\)\|", row.strip()[1:-1])]


def table(rows):
    """Each row is a paragraph that its first cell heads; in a list item they are indented."""
    head, _, *body = [cells(row) for row in rows]
    in_item = rows[0].startswith(" ")
    if in_item:
        yield ".RS 4"
    for row in body:
        yield ".TP"
        yield inline(row[0]) or "\\&"
        for title, cell in zip(head[1:], row[1:]):
            yield inline(f"{title}: {cell}" if len(head) > 2 else cell)
    if in_item:
        yield ".RE"


def code(lines):
    return [".PP", ".RS 4", ".nf", *map(escape, lines), ".fi", ".RE"]


def blocks(lines):
    """The roff lines of a page, block by block."""
    lines = list(lines)
    while lines:
        line = lines.pop(0)
        if not line.strip():
            continue
        if line.startswith("```"):
            end = next(i for i, rest in enumerate(lines) if rest.startswith("```"))
            yield from code(lines[:end])
            del lines[:end + 1]
        elif line.startswith("#"):
            yield (".SH " if line.startswith("## ") else ".SS ") + inline(line.lstrip("# "))
        elif line.startswith("    "):
            shown = [line]
            while lines and (lines[0].startswith("    ") or not lines[0].strip()):
                shown.append(lines.pop(0))
            yield from code(s[4:] for s in "\n".join(shown).rstrip().split("\n"))
        elif ROW.match(line):
            rows = [line]
            while lines and ROW.match(lines[0]):
                rows.append(lines.pop(0))
            yield from table(rows)
        else:
            yield from paragraph(line, lines)


def paragraph(line, lines):
    item = re.match(r"([-*]|\d+\.) +", line)
    if item:
        line = line[item.end():]
        yield f'.IP "{"" if item[1].endswith(".") else chr(92) + "(bu"}{item[1].strip("-*")}" 4'
    else:
        yield ".PP"
    text = [line.strip()]
    while lines and lines[0].strip() and not re.match(r"#| {0,3}\||```|[-*] |\d+\. ", lines[0]):
        text.append(lines.pop(0).strip())
    yield inline(" ".join(text))


def head(name, version, description):
    return [f'.TH {name.upper().replace("-", chr(92) + "-")} 1 "" "memledger {version}" '
            '"memledger manual"',
            ".SH NAME", f"{escape(name)} \\- {escape(description)}"]


def command_page(memledger, version, page):
    usage, description = re.match(r"Usage: (.*)\n\n(.*)\.\n", ask(memledger, page.stem, "--help")).groups()
    lines = page.read_text(encoding="utf-8").splitlines()[1:]
    return [*head("memledger-" + page.stem, version, description[0].lower() + description[1:]),
            ".SH SYNOPSIS", inline(f"`{usage}`"),
            ".SH DESCRIPTION", *blocks(lines),
            ".SH SEE ALSO", "\\fBmemledger\\fR(1)"]


def main_page(memledger, version):
    usage, description, rest = ask(memledger, "--help").split("\n\n", 2)
    return [*head("memledger", version, description[0].lower() + description[1:].rstrip(".")),
            ".SH SYNOPSIS", inline(f"`{usage.removeprefix('Usage: ')}`"),
            ".SH DESCRIPTION", ".nf", *map(escape, rest.splitlines()), ".fi"]


def write(folder, name, lines):
    (folder / f"{name}.1").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    memledger, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    version = ask(memledger, "--version").split()[1]
    write(folder, "memledger", main_page(memledger, version))
    for page in map(pathlib.Path, sys.argv[3:]):
        write(folder, "memledger-" + page.stem, command_page(memledger, version, page))


if __name__ == "__main__":
    main()
