# vllm_pools.py: allocates and binds the key-value cache of vLLM with its own functions, on the host.
# Knows nothing of memledger. Its last line is JSON: the layers, and the bytes of their storage.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os

import torch
from vllm.model_executor.layers.attention_layer_base import AttentionLayerBase
from vllm.v1.kv_cache_interface import FullAttentionSpec, KVCacheConfig, KVCacheGroupSpec, \
    KVCacheTensor
from vllm.v1.kv_cache_layout import KVCacheLayout
from vllm.v1.worker.utils import allocate_kv_cache, bind_kv_cache

LAYERS = [f"model.layers.{number}.self_attn.attn" for number in range(4)]
BLOCKS = 64


class Layer(AttentionLayerBase):
    """The real ones choose their kernels, for which they need a GPU."""

    def get_attn_backend(self):
        raise NotImplementedError

    def get_kv_cache_spec(self, vllm_config):
        raise NotImplementedError


def configuration():
    spec = FullAttentionSpec(block_size=16, num_kv_heads=2, head_size=64, dtype=torch.float16)
    page = spec.page_size_bytes
    tensor = KVCacheTensor(size=page * BLOCKS * len(LAYERS), layers=LAYERS,
                           layer_stride=page * BLOCKS, block_stride=page)
    return KVCacheConfig(num_blocks=BLOCKS, kv_cache_tensors=[tensor],
                         kv_cache_groups=[KVCacheGroupSpec(LAYERS, spec)])


def main():
    wanted = configuration()
    caches = allocate_kv_cache(wanted, torch.device("cpu"), KVCacheLayout.LBNHC)
    layers = {name: Layer() for name in LAYERS}
    kept = []
    bind_kv_cache(caches, layers, kept, kv_cache_groups=wanted.kv_cache_groups)
    storages = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in kept}
    print(json.dumps([LAYERS, sum(storages.values())]), flush=True)
    os._exit(0)  # what is alive now is alive at the trace's end


main()
