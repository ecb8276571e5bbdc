# nvtx_annotated.py: annotated Python: by the package nvtx, and by an NVTX in a separate shared
# library (a separate instance).
#
#     nvtx_annotated.py LIBRARY
#
# SPDX-License-Identifier: Apache-2.0
import ctypes
import sys

import nvtx


@nvtx.annotate(domain="model", category="forward")
def layer():
    with nvtx.annotate("matmul"):
        nvtx.mark("middle")


with nvtx.annotate("epoch", color="blue"):
    layer()
    layer()
nvtx.end_range(nvtx.start_range("load", domain="data"))

interop = ctypes.CDLL(sys.argv[1])
print(interop.nvtxRangePushA(b"in a library"))
with nvtx.annotate("above it"):
    print(interop.nvtxRangePushA(b"deeper"))
    print(interop.nvtxRangePop())
print(interop.nvtxRangePop())
print(interop.nvtxRangePop())
