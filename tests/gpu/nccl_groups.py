# nccl_groups.py: one rank with two process groups of NCCL, each of which is used.
#
# SPDX-License-Identifier: Apache-2.0
import os
import tempfile

import torch
import torch.distributed as dist


def main():
    torch.cuda.set_device(0)
    with tempfile.TemporaryDirectory() as folder:
        dist.init_process_group("nccl", init_method=f"file://{os.path.join(folder, 'ranks')}",
                                rank=0, world_size=1)
        part = dist.new_group([0], group_desc="tensor parallel")
        values = torch.ones(1 << 20, device="cuda")
        dist.all_reduce(values)
        dist.all_reduce(values, group=part)
        torch.cuda.synchronize()
        os._exit(0)  # what is alive now is alive at the trace's end


main()
