# place_modules.py: one rank whose groups are made by stand-ins for megatron.core, DeepSpeed and Ray,
# with the names that memledger looks for. The real ones need GPUs or a cluster.
#
# SPDX-License-Identifier: Apache-2.0
import os
import sys
import tempfile

import torch
import torch.distributed as dist

FILES = {
    "megatron/core/parallel_state.py": """
def initialize_model_parallel(*sizes): pass
def get_data_parallel_rank(): return 3
def get_tensor_model_parallel_rank(): return 1
def get_pipeline_model_parallel_rank(): return 2
""",
    "deepspeed/utils/groups.py": """
def _create_expert_and_data_parallel(expert_parallel_size): pass
def _get_expert_parallel_rank(name): return {"ep_size_4": 2}[name]
""",
    "ray.py": """
class Context:
    def get_job_id(self): return "01000000"
def is_initialized(): return True
def get_runtime_context(): return Context()
""",
}

folder = tempfile.mkdtemp()
for name, text in FILES.items():
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
sys.path.insert(0, folder)

if "ray" in sys.argv:
    import ray  # noqa: F401
dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=0, world_size=1)
if "megatron" in sys.argv:
    import megatron.core.parallel_state
    megatron.core.parallel_state.initialize_model_parallel(2, 4)
if "deepspeed" in sys.argv:
    import deepspeed.utils.groups
    deepspeed.utils.groups._create_expert_and_data_parallel(4)
torch.zeros(1000)
