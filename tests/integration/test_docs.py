#!/usr/bin/env python3
# test_docs.py: what the pages name is there: files, headings behind links, commands and
# their options.
#
# SPDX-License-Identifier: Apache-2.0
import functools
import os
import pathlib
import re

import harness
from harness import MEMLEDGER, check, plain

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md"),
                *ROOT.glob("tests/data/*.md")])
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
SOURCE_PATH = re.compile(r"`((?:src|tests|python|scripts|examples)/[^`\s]*)`")
LINK = re.compile(r"\]\(([^()\s]+(?:\([^()]*\))?)\)")


# ---- Links ----------------------------------------------------------------------------


@functools.lru_cache(maxsize=None)
def headings(page):
    """The anchors that a page has, as they are made of its headings."""
    anchors = set()
    for line in FENCE.sub("", page.read_text()).splitlines():
        found = re.match(r"#+ +(.*)", line)
        if not found:
            continue
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", found[1]).lower()
        anchor = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        twice = anchor
        number = 1
        while twice in anchors:
            twice = f"{anchor}-{number}"
            number += 1
        anchors.add(twice)
    return anchors


def broken(page, link):
    """Why the link leads nowhere, or None."""
    if re.match(r"[a-z]+:", link):
        return None
    path, _, anchor = link.partition("#")
    target = (page.parent / path) if path else page
    if not target.exists():
        return "there is no such file"
    if anchor and target.suffix == ".md" and anchor not in headings(target.resolve()):
        return "there is no such heading"
    return None


def test_links():
    failures = []
    for page in PAGES:
        for link in LINK.findall(FENCE.sub("", page.read_text())):
            reason = broken(page, link)
            if reason:
                failures.append(f"{page.relative_to(ROOT)}: {link}: {reason}")
    check(not failures, "links that lead nowhere", *failures)
    check(len(PAGES) > 20, "few pages", PAGES)


def test_paths():
    """Every `src/...` and the like that a page names is there; also with a * in it."""
    failures = [f"{page.relative_to(ROOT)}: {path}" for page in PAGES
                for path in SOURCE_PATH.findall(page.read_text()) if not list(ROOT.glob(path))]
    check(not failures, "files and folders that are not there", *failures)


def test_index_lists_every_page():
    """A reader finds each page of docs/ from docs/README.md."""
    index = ROOT / "docs/README.md"
    linked = {(index.parent / link.partition("#")[0]).resolve()
              for link in LINK.findall(index.read_text())}
    missing = [page for page in PAGES
               if page.is_relative_to(index.parent) and page != index and page not in linked]
    check(not missing, "pages that docs/README.md does not list", *missing)


def test_pictures_are_shown():
    """No picture lies there that no page shows."""
    text = "".join(page.read_text() for page in PAGES)
    unused = [p.name for p in sorted((ROOT / "docs/images").iterdir()) if p.name not in text]
    check(not unused, "pictures that no page shows", *unused)


# ---- Commands -------------------------------------------------------------------------


def commands(text):
    """The words behind `memledger` in `code` and in lines that are typed."""
    for line in re.findall(r"`(memledger [^`\n]+)`", FENCE.sub("", text)):
        yield line.split()[1:]
    for block in FENCE.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            typed = re.match(r"(?:\$ )?(?:\S*/)?memledger ([a-z][^|>#;&]*)", line)
            if typed:
                yield typed[1].split()


@functools.lru_cache(maxsize=None)
def help_text(verb):
    done = plain(MEMLEDGER, verb, "--help")
    return done.stdout if done.returncode == 0 else None


def options_of(words):
    """Those of memledger, not of the program that it runs."""
    end = words.index("--") if "--" in words else len(words)
    for word in words[1:end]:
        found = re.match(r"(--[a-z][a-z-]*)", word)
        if found:
            yield found[1]


def test_commands():
    failures, count = set(), 0
    for page in PAGES:
        if page.name == "CHANGELOG.md":
            continue
        for words in commands(page.read_text()):
            verb = words[0].strip("\"'.,:)")
            if not re.fullmatch(r"[a-z]+", verb):
                continue  # memledger --help, memledger VERB
            count += 1
            if help_text(verb) is None:
                failures.add(f"{page.relative_to(ROOT)}: memledger {verb}: no such command")
                continue
            for option in options_of(words):
                if option + " " not in help_text(verb).replace("=", " ").replace("[", " ") + " ":
                    failures.add(f"{page.relative_to(ROOT)}: memledger {verb}: no option {option}")
    check(not failures, "commands that there are not", *sorted(failures))
    check(count > 100, "few commands were looked at", count)


def test_each_command_has_a_page():
    verbs = re.findall(r"^  ([a-z]+)  ", plain(MEMLEDGER, "--help").stdout, re.MULTILINE)
    check(len(verbs) > 10, "few commands", verbs)
    missing = [v for v in verbs if not os.path.exists(ROOT / "docs/commands" / f"{v}.md")]
    check(not missing, "commands without a page", *missing)


harness.main(globals())
