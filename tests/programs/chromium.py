# chromium.py: a page with a script, in a browser whose renderers are in their sandbox.
#
# SPDX-License-Identifier: Apache-2.0
import os

from outcome import check, observe
from stage import PATIENCE_S, as_user, environment

PAGE = """<!doctype html><title>page</title><p id="p">before</p><canvas id="c"></canvas>
<script>
const text = Array.from({length: 50000}, (_, i) => 'word ' + i).join(' ');
const context = document.getElementById('c').getContext('2d');
context.fillRect(0, 0, 100, 100);
document.getElementById('p').textContent =
    'words ' + text.length + ', pixel ' + context.getImageData(5, 5, 1, 1).data.join(' ');
</script>
"""


def play(record, path):
    page = os.path.join(path, "page.html")
    with open(page, "w") as f:
        f.write(PAGE)
    os.chmod(page, 0o644)
    command = ["chromium", "--headless", "--disable-gpu", f"--user-data-dir={path}/profile",
               "--disable-dev-shm-usage", "--dump-dom", f"file://{page}"]
    done = observe(as_user(record("chromium", command)), PATIENCE_S, cwd=path,
                   env=environment(path))
    check("words 538889, pixel 0 0 0 255" in done.out, "the page's script did not run", done)
    # Its errors name processes and times, and depend on what the machine has.
    return {"end": done.code, "out": done.out}
