#!/usr/bin/env python3
# test_lifeless_collector.py: `memledger run` leaves a collector that does nothing any more, after
# half a minute.
#
# SPDX-License-Identifier: Apache-2.0
import signal

import harness
from harness import contains, equal, finish
from stopping import check_finished_alone, ended_with_stopped_collector, sessions_here


def test_lifeless_collector():
    """Where no signal comes either, the launcher does not wait for ever."""
    with sessions_here():
        process, collector = ended_with_stopped_collector("-f")
        result = finish(process)
        equal(result.code, 40 + signal.SIGTERM, "exit code", result)
        contains(result.err, f"process {collector} continues to write t.mled", "note")
        check_finished_alone(collector)


harness.main(globals())
