"""Names for the pools in which servers keep keys and values: vLLM and SGLang allocate them once, as
plain tensors, and hand out their pages.

vLLM binds each pool to the attention layers that use it, by their paths; since 0.32 there is one
pool for all of them. A pool class of SGLang has lists with a tensor for each layer.

SPDX-License-Identifier: Apache-2.0
"""
from . import _native
from ._importing import when_imported
from ._in_front import put, then, watch_subclasses
from ._naming import joint_name, tensors_in

VLLM = "vllm.v1.worker.utils"
SGLANG = "sglang.srt.mem_cache.memory_pool"
DEEPEST = 1  # vLLM: a layer may have a list of tensors


def watch():
    """Waits for either library. Another version of it has pools without names."""
    when_imported(VLLM, _watch_vllm)
    when_imported(SGLANG, _watch_sglang)


def _label(names):
    """A pool may serve several layers: names has pairs of a tensor and a name."""
    pools = {}
    for tensor, name in names:
        pools.setdefault(tensor.untyped_storage().data_ptr(), (tensor, []))[1].append(name)
    for tensor, shared in pools.values():
        _native.label(tensor, _name_of(shared), _native.KV_CACHE)


def _name_of(names):
    """"model.layers.(0 to 3).attn.kv_cache" for layers that differ only in their number."""
    paths = [name.split(".") for name in names]
    places = [place for place, parts in enumerate(zip(*paths)) if len(set(parts)) > 1]
    if len(places) != 1 or len(set(map(len, paths))) > 1:
        return joint_name(tuple(names))
    first, last = paths[0], paths[-1]
    return ".".join(f"({part} to {last[place]})" if place == places[0] else part
                    for place, part in enumerate(first))


# ---- vLLM ------------------------------------------------------------------------


def _watch_vllm(module):
    """The runners import these functions afterwards. Of newer versions the first calls the second,
    and some runners only that."""
    for name in ("bind_kv_cache", "bind_kv_cache_to_layers"):
        if hasattr(module, name):
            put(module, name, then(getattr(module, name), _label_bound))


def _label_bound(_, kv_caches, *args, **kwargs):
    _label([(tensor, f"{layer}.kv_cache") for layer, held in kv_caches.items()
            for tensor, _ in tensors_in(held, "", DEEPEST)])


# ---- SGLang ----------------------------------------------------------------------


def _watch_sglang(module):
    """All classes of pools are below one, whichever module they are in."""
    watch_subclasses(module.KVCache, _watch_pool)


def _watch_pool(kind):
    if "__init__" in vars(kind):
        put(kind, "__init__", then(kind.__init__, _label_pool))


def _label_pool(_, pool, *args, **kwargs):
    """Called once for each class of a pool that has an initialiser; the last one sees all."""
    first = getattr(pool, "start_layer", 0) or 0
    _label([(tensor, f"layer {first + place}.{name}")
            for name, held in vars(pool).items() if isinstance(held, (list, tuple))
            for place, tensor in enumerate(held) if hasattr(tensor, "untyped_storage")])
