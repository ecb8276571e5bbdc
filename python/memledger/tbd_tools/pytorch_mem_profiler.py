"""For scripts that import tbd-tools' memory profiler from a folder of their own choice:

    import sys
    sys.path.append('<this folder>')
    from pytorch_mem_profiler import *

`python3 -m memledger.tbd_tools` prints the folder.

SPDX-License-Identifier: Apache-2.0
"""
try:
    from memledger.pytorch_mem_profiler import *
except ModuleNotFoundError as missing:
    if missing.name != "memledger":
        raise
    import os
    import sys
    sys.path.append(os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..")))
    from memledger.pytorch_mem_profiler import *

__all__ = ["memory_profiler"]
