# segment_program.py LIBRARY RANGE STEP...: runs the steps of cuda_steps.c on a thread without Python's
# lock. As PyTorch with a GPU does, it lists a segment of virtual memory: the object RANGE of the
# steps.
#
# SPDX-License-Identifier: Apache-2.0
import ctypes
import sys
import threading
import types


class StepObject(ctypes.Structure):
    _fields_ = [("address", ctypes.c_uint64), ("bytes", ctypes.c_uint64)]


library = ctypes.CDLL(sys.argv[1])
library.step_object.restype = ctypes.POINTER(StepObject)


def memory_snapshot():
    found = library.step_object(ctypes.c_uint64(int(sys.argv[2]))).contents
    return [{"device": 0, "address": found.address, "total_size": found.bytes,
             "is_expandable": True, "blocks": []}]


torch = types.ModuleType("torch")
torch.Tensor = type("Tensor", (), {})
torch.cuda = types.SimpleNamespace(is_initialized=lambda: True, memory_snapshot=memory_snapshot)
sys.modules["torch"] = torch

words = [b"cuda_steps", *map(str.encode, sys.argv[3:])]
program = threading.Thread(target=library.main,
                           args=(len(words), (ctypes.c_char_p * len(words))(*words)))
program.start()
while program.is_alive():
    program.join(0.01)
