# kv_pools.py: makes the key-value pools of SGLang with its own classes, on the host. Knows nothing
# of memledger. Its last line is JSON: the storages of all layers.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os

import torch
from sglang.srt.mem_cache.memory_pool import MHATokenToKVPool, MLATokenToKVPool

COMMON = {"size": 1024, "page_size": 16, "dtype": torch.float16, "device": "cpu",
          "enable_memory_saver": False}


def storages(pool, first, *names):
    """[layer, names of the lists that have a part of it, bytes] of each storage."""
    found = {}
    for name in names:
        for place, tensor in enumerate(getattr(pool, name)):
            storage = tensor.untyped_storage()
            row = found.setdefault(storage.data_ptr(), [first + place, [], storage.nbytes()])
            row[1].append(name)
    return list(found.values())


def main():
    keys = MHATokenToKVPool(head_num=2, head_dim=32, layer_num=3, start_layer=4, end_layer=7,
                            **COMMON)
    latent = MLATokenToKVPool(kv_lora_rank=64, qk_rope_head_dim=32, layer_num=2, **COMMON)
    told = storages(keys, 4, "k_buffer", "v_buffer") + storages(latent, 0, "kv_buffer")
    print(json.dumps(told), flush=True)
    os._exit(0)  # what is alive now is alive at the trace's end


main()
