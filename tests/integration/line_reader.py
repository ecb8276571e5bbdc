# line_reader.py: the lines of standard input, for programs that memledger attaches to: they wait in
# Python, so that the interpreter's main thread stays reachable.
#
# SPDX-License-Identifier: Apache-2.0
import queue
import sys
import threading
import time


class Lines:
    def __init__(self):
        self._lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in sys.stdin:
            self._lines.put(line)
        self._lines.put("")

    def poll(self):
        """The next line, "" at the end, None: there is none yet."""
        try:
            return self._lines.get_nowait()
        except queue.Empty:
            return None

    def next(self):
        """Waits for it."""
        while (line := self.poll()) is None:
            time.sleep(0.001)
        return line
