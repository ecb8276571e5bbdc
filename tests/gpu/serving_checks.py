# serving_checks.py: servers of language models: their pools of keys and values have the category
# kv_cache, by layer.
#
# SPDX-License-Identifier: Apache-2.0
import json

from lab import check, mib, need_module, script


@check
def vllm_pools(lab):
    """vLLM: each layer's pool of keys and values"""
    need_module("vllm")
    trace, done = lab.record("vllm", [*script("vllm_generate.py"), lab.path("model")])
    layers = json.loads(done.stdout.strip().splitlines()[-1])["layers"]
    rows = lab.report("table", trace, "--by", "label,category", "--device", "cuda:0", "--top",
                      "1000000")["groups"]
    found = {row["label"]: row["bytes"] for row in rows if row["category"] == "kv_cache"}
    print(f"  {mib(sum(found.values()))} in {len(found)} pools: {', '.join(found)}")
    assert len(found) == layers or len(found) == 1, f"{len(found)} pools for {layers} layers"
