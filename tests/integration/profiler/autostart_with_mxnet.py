# autostart_with_mxnet.py: MXNet and memledger's profiler in one process, with
# MXNET_PROFILER_AUTOSTART, which both obey.
#
#     autostart_with_mxnet.py before|after    when MXNet is imported
#
# SPDX-License-Identifier: Apache-2.0
import sys

if sys.argv[1] == "before":
    import mxnet
from memledger.mxnet import profiler

if sys.argv[1] == "after":
    import mxnet

profiler.Domain("d").new_counter("c", 3)
mxnet.nd.ones((10, 10)).wait_to_read()
