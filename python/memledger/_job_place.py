"""The place of this process in a distributed job, where the program knows more than its launcher:
torch.distributed's rank, the coordinates in a DeviceMesh, the groups of Megatron and DeepSpeed.

PyTorch's hooks are installed with it; _jax.py has one for JAX. Nothing here may disturb the program:
each hook calls the original first and drops its own errors.

SPDX-License-Identifier: Apache-2.0
"""
import functools
import os
import sys

from . import _importing, _native

_place = {}  # what was said so far: the recorder keeps the last text only


def watch():
    _importing.when_imported("torch.distributed.distributed_c10d", _hook_groups)
    _importing.when_imported("torch.distributed.device_mesh", _hook_meshes)
    _importing.when_imported("megatron.core.parallel_state", _hook_megatron)
    _importing.when_imported("deepspeed.runtime.pipe.topology", _hook_deepspeed_grid)
    _importing.when_imported("deepspeed.utils.groups", _hook_deepspeed_experts)


def record(**values):
    """Adds to the place of this process."""
    _place.update(values)
    _native.process_place(" ".join(f"{key}={value}" for key, value in _place.items()))


def after(holder, name, say):
    """Calls say(result, *args) when holder.name has returned."""
    original = getattr(holder, name, None)
    if original is None or getattr(original, "says_place", False):
        return

    @functools.wraps(original)
    def function(*args, **kwargs):
        result = original(*args, **kwargs)
        try:
            say(result, *args)
        except Exception:
            pass
        return result
    function.says_place = True
    setattr(holder, name, function)


# Names of a job that are unique beyond a cluster of Ray.
_BETTER_THAN_RAY = ("MEMLEDGER_JOB", "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID")


def _place_in_ray():
    """The job of a worker of Ray, which may have started the process before it had a job."""
    ray = sys.modules.get("ray")
    if ray is None or not ray.is_initialized():
        return {}
    if any(os.environ.get(name) for name in _BETTER_THAN_RAY):
        return {"launcher": "ray"}
    return {"launcher": "ray", "job": _word(ray.get_runtime_context().get_job_id())}


def _hook_groups(module):
    def say(_, *__):
        record(rank=int(module.get_rank()), world_size=int(module.get_world_size()))
        record(**_place_in_ray())
    before = module.init_process_group
    after(module, "init_process_group", say)
    import torch.distributed as dist  # it may have copied the name already
    if getattr(dist, "init_process_group", None) is before:
        dist.init_process_group = module.init_process_group


_OF_LAUNCHERS = ("rank", "world_size", "local_rank", "local_world_size", "node", "launcher", "job")


def _word(text):
    return "".join(c if c.isalnum() or c in "_-." else "_" for c in str(text))[:32]


def _key(name):
    """The name of a dimension as a key of the place; not one that a launcher uses."""
    key = _word(name)
    return f"mesh_{key}" if key in _OF_LAUNCHERS else key


def _hook_meshes(module):
    def say(_, mesh, *__):
        names, coordinate = mesh.mesh_dim_names, mesh.get_coordinate()
        if names and coordinate is not None:
            record(**{_key(name): int(at) for name, at in zip(names, coordinate)})
    after(module.DeviceMesh, "__init__", say)


_MEGATRON = {"dp": "get_data_parallel_rank", "tp": "get_tensor_model_parallel_rank",
             "pp": "get_pipeline_model_parallel_rank", "cp": "get_context_parallel_rank",
             "ep": "get_expert_model_parallel_rank"}


def _say_all(holder, getters):
    for key, getter in getters.items():
        try:
            record(**{key: int(getattr(holder, getter)())})
        except Exception:
            pass  # a version without such groups


def _hook_megatron(module):
    after(module, "initialize_model_parallel", lambda *_: _say_all(module, _MEGATRON))


_DEEPSPEED = {"dp": "get_data_parallel_rank", "tp": "get_slice_parallel_rank",
              "pp": "get_pipe_parallel_rank"}


def _hook_deepspeed_grid(module):
    """Of a pipeline: PipelineModule makes a grid."""
    after(module.PipelineParallelGrid, "__init__",
          lambda _, grid, *__: _say_all(grid, _DEEPSPEED))


def _hook_deepspeed_experts(module):
    """Of mixtures of experts, which have groups by their number of ranks."""
    def say(_, ep_size, *__):
        record(ep=int(module._get_expert_parallel_rank(f"ep_size_{ep_size}")))
    after(module, "_create_expert_and_data_parallel", say)
