#!/usr/bin/env python3
# served_page.py COMMAND TRACE: checks that a released command shows a trace in the browser, as on a
# machine without the libraries that it was built with.
#
# SPDX-License-Identifier: Apache-2.0
import http.cookiejar
import json
import re
import signal
import subprocess
import sys
import urllib.request

PATIENCE_S = 600  # only ends what hangs


def check(command, trace):
    linked = subprocess.run(["readelf", "-d", command], check=True, text=True, capture_output=True)
    needed = re.findall(r"NEEDED.*\[(.*)\]", linked.stdout)
    foreign = [name for name in needed if re.match("lib(microhttpd|gnutls)", name)]
    if foreign:
        sys.exit(f"{command} needs {foreign}")
    process = subprocess.Popen([command, "view", "--no-open", trace], text=True,
                               stdout=subprocess.PIPE)
    try:
        address = process.stdout.readline().strip()
        browser = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
        browser.open(address, timeout=PATIENCE_S).read()
        root = address.partition("?")[0]
        page = browser.open(root, timeout=PATIENCE_S).read().decode()
        (script,) = re.findall(r'src="\./([^"]+\.js)"', page)
        if len(browser.open(root + script, timeout=PATIENCE_S).read()) < 10000:
            sys.exit("the script of the page is missing")
        summary = json.load(browser.open(root + "api/summary?file=0", timeout=PATIENCE_S))
    finally:
        process.send_signal(signal.SIGINT)
        code = process.wait(timeout=PATIENCE_S)
    if code or "peak_bytes" not in summary:
        sys.exit(f"exit code {code}, {summary}")


if __name__ == "__main__":
    check(*sys.argv[1:])
