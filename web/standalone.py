# standalone.py: the built page as one document, for `memledger export --format html`.
#
# Style and script are in the document, and its policy names them by their hashes: nothing else runs,
# and nothing is loaded. The data of a trace goes before the end of the body.
#
# SPDX-License-Identifier: Apache-2.0
import base64
import hashlib
import os
import re
import sys

STYLE = re.compile(r'<link rel="stylesheet"[^>]*href="\./([^"]+)"[^>]*>')
SCRIPT = re.compile(r'<script type="module"[^>]*src="\./([^"]+)"[^>]*></script>')


def source_of(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def policy(styles, scripts):
    rules = {"default-src": "'none'", "script-src": " ".join(map(source_of, scripts)),
             "style-src": " ".join(map(source_of, styles)), "img-src": "data: blob:",
             "base-uri": "'none'", "form-action": "'none'"}
    text = "; ".join(f"{name} {value}" for name, value in rules.items())
    return f'<meta http-equiv="Content-Security-Policy" content="{text}" />'


def inline(page, folder, link, tag):
    """Replaces links to files by their contents. Returns the page and the contents."""
    contents = []

    def put(match):
        with open(os.path.join(folder, match[1]), encoding="utf-8") as f:
            text = f.read()
        if re.search(r"</(style|script)|<!--", text, re.IGNORECASE):
            sys.exit(f"{match[1]}: contains text that would end the element")
        contents.append(text)
        return tag.replace("...", text)

    return link.sub(put, page), contents


def document(folder):
    """@return its bytes before and after the data"""
    with open(os.path.join(folder, "index.html"), encoding="utf-8") as f:
        page = f.read()
    page, styles = inline(page, folder, STYLE, "<style>...</style>")
    page, scripts = inline(page, folder, SCRIPT, '<script type="module">...</script>')
    if len(styles) != 1 or len(scripts) != 1:
        sys.exit("the built page must have one style sheet and one script")
    charset = '<meta charset="utf-8" />'
    page = page.replace(charset, f"{charset}\n    {policy(styles, scripts)}", 1)
    head, end, tail = page.rpartition("</body>")
    return head.encode(), (end + tail).encode()
