#!/usr/bin/env python3
# test_html.py: export --format html: one page without a network, whose numbers are those of the
# commands, and whose size has a limit.
#
# SPDX-License-Identifier: Apache-2.0
import base64
import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess

import harness
from harness import MEMLEDGER, check, contains, equal, plain, program, run

TRACES = os.environ["TEST_TRACES"]
PAGE_FOLDER = os.environ["WEB_FOLDER"]
MOST_BYTES = 10_000_000
HOSTILE = "</script><script>window.hit=1</script><img src=x onerror=window.hit=1>\"'\u2028<!--"


class Page:
    def __init__(self, trace, *options):
        self.path = os.path.abspath("page.html")
        done = plain(MEMLEDGER, "export", "--format", "html", "-f", "-o", self.path, *options, trace)
        equal(done.returncode, 0, "export", done.stderr)
        with open(self.path, encoding="utf-8") as f:
            self.text = f.read()
        self.index = self.block("index")

    def block(self, name):
        found = re.search(rf'<script type="text/plain" id="memledger-{name}">([A-Za-z0-9+/=]*)<',
                          self.text)
        return json.loads(gzip.decompress(base64.b64decode(found[1])))

    def answers(self):
        return self.index["answers"]


def browse(page, *words):
    """Looks at each view in browsers without a network."""
    if not os.path.isdir(os.path.join(PAGE_FOLDER, "node_modules", "playwright-core")):
        raise harness.Skip("there is no Playwright")
    for browser, command in (("chromium", "chromium"), ("firefox", "firefox-esr")):
        path = shutil.which(command)
        if not path:
            raise harness.Skip(f"there is no {command}")
        done = subprocess.run(["node", "tests/browser/exported.mjs", page.path, *words], text=True,
                              cwd=PAGE_FOLDER, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=harness.PATIENCE_S,
                              env={**os.environ, "BROWSER": browser, browser.upper(): path})
        equal(done.returncode, 0, f"in {browser}", done.stdout)


def test_numbers_are_the_commands():
    for name in ("gpt", "oom"):
        page = Page(os.path.join(TRACES, f"{name}.mled"))
        check(len(page.answers()) > 20, "answers", page.answers())
        for answer in page.answers():
            words = answer["command"].split()
            done = plain(MEMLEDGER, words[1], "--json", *words[2:])
            if "error" in answer:
                contains(done.stderr, answer["error"], answer["command"])
            else:
                equal(page.block(answer["block"]), json.loads(done.stdout), answer["command"])
        equal(page.index["left_out"], [], "left out")


def test_instants():
    page = Page(os.path.join(TRACES, "gpt.mled"))
    instants = {i["at"]: i["at_ns"] for i in page.index["instants"]}
    equal(sorted(instants), ["end", "oom:1", "peak", "step:0", "step:1", "step:2"], "instants")
    for answer in page.answers():
        if answer["verb"] == "tree" and not {"device", "by"} & set(answer["options"]):
            tree = page.block(answer["block"])
            equal(tree["at_ns"], instants[answer["options"]["at"]], answer["command"])


def test_nothing_is_loaded():
    page = Page(os.path.join(TRACES, "gpt.mled"))
    policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)"', page.text)[1]
    contains(policy, "default-src 'none'", "policy")
    check("unsafe" not in policy and "http" not in policy, "policy", policy)
    for tag, rule in (("style", "style-src"), ('script type="module"', "script-src")):
        inside = re.search(rf"<{tag}>(.*?)</{tag.split()[0]}>", page.text, re.DOTALL)[1]
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        contains(policy, f"{rule} 'sha256-{digest}'", "policy")
    equal(re.findall(r'<[a-z][^>]*\s(?:src|href)="([^"]*)"', page.text), ["data:,", "#main"], "links")
    browse(page)


def test_hostile_names_are_text():
    run(program("odd_names"), HOSTILE, trace="odd.mled")
    page = Page("odd.mled")
    check("window.hit" not in page.text and "\u2028" not in page.text, "a name is in the markup")
    contains(json.dumps(page.block(0)), "window.hit=1", "the summary")
    browse(page, "</script><script>window.hit=1</script>")


def test_any_trace_fits():
    made = plain(program("hostile_trace"), "big.mled", "modules", 100_000)
    equal(made.returncode, 0, "hostile_trace", made.stderr)
    page = Page("big.mled")
    check(os.path.getsize(page.path) <= MOST_BYTES, "size", os.path.getsize(page.path))
    check(page.index["trees_folded"], "50,000 modules must be folded")
    equal(page.index["steps_contained"], page.index["steps"], "steps")
    plain(program("hostile_trace"), "steps.mled", "steps", 10_000)
    page = Page("steps.mled")
    check(os.path.getsize(page.path) <= MOST_BYTES, "size", os.path.getsize(page.path))
    equal((page.index["steps"], page.index["steps_contained"]), (10_000, 16), "steps")


def test_options_that_do_not_apply():
    for option, words in (("--at=end", "--at does not apply"), ("--device=cpu", "--device does not")):
        done = plain(MEMLEDGER, "export", "--format", "html", option,
                     os.path.join(TRACES, "gpt.mled"))
        equal(done.returncode, 2, option, done.stderr)
        contains(done.stderr, words, option)


def test_damaged_trace():
    with open(os.path.join(TRACES, "train-64.mled"), "rb") as f:
        data = bytearray(f.read())
    data[len(data) // 2] ^= 255
    with open("damaged.mled", "wb") as f:
        f.write(data)
    done = plain(MEMLEDGER, "export", "--format", "html", "-o", "x.html", "damaged.mled")
    if done.returncode:
        check(not os.path.exists("x.html"), "a partial file is left")
        page = Page("damaged.mled", "--salvage")
        check("--salvage" in page.answers()[0]["command"], "salvage", page.answers()[0])


harness.main(globals())
