"""The objects of Python, without those that are about to end.

`memledger attach` comes between any two instructions of the program, which may be in the middle of
an object's __del__. There the object can have freed what its other methods need: MXNet's arrays
free their memory and still have the handle of it.

SPDX-License-Identifier: Apache-2.0
"""
import gc
import sys


def living_objects():
    """All that the garbage collector knows of. Because the list refers to them, none of them begins
    to end before the list is gone."""
    things = gc.get_objects()
    ending = _ending()  # first: one whose __del__ has returned since is finalized
    return [thing for thing in things if id(thing) not in ending and not gc.is_finalized(thing)]


def _ending():
    """The ids of those whose __del__ runs in any thread, if it is a function of that name with a
    first argument, as MXNet's are."""
    found = set()
    for frame in sys._current_frames().values():
        while frame is not None:
            code = frame.f_code
            if code.co_name == "__del__" and code.co_argcount:
                found.add(id(frame.f_locals.get(code.co_varnames[0])))
            frame = frame.f_back
    return found
