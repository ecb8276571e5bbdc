# serving.py: programs that generate text with Hugging Face's transformers, as people write them,
# without memledger. Each prints the bytes of keys and values by attention module, from the sizes of
# its model, and marks that moment by a block of MARKER_BYTES.
#
# SPDX-License-Identifier: Apache-2.0
import copy
import json
import sys
import tempfile

import torch
import transformers
from transformers import DynamicCache, GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM
from transformers import T5Config, T5ForConditionalGeneration

MARKER_BYTES = 1004
BATCH, PROMPT, NEW = 3, 20, 12
LENGTH = PROMPT + NEW - 1  # the last token is never an input
NO_SPECIAL = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}

transformers.logging.set_verbosity_error()


def llama(layers=3, kind=LlamaForCausalLM):
    """Two heads of queries share one of keys and values."""
    config = LlamaConfig(vocab_size=500, hidden_size=256, intermediate_size=512,
                         num_hidden_layers=layers, num_attention_heads=8, num_key_value_heads=4,
                         max_position_embeddings=128, **NO_SPECIAL)
    return kind(config).eval()


def prompts(batch=BATCH):
    return torch.randint(3, 500, (batch, PROMPT))


def settings(**more):
    return {"max_new_tokens": NEW, "min_new_tokens": NEW, "do_sample": False, "pad_token_id": 0,
            "return_dict_in_generate": True, **more}


def keys_and_values(batch, heads, length, size):
    return 2 * batch * heads * length * size * 4


def llama_layers(batch, length, layers=3, title="LlamaForCausalLM"):
    held = keys_and_values(batch, 4, length, 32)
    return {f"{title} > model.layers.{i}.self_attn": held for i in range(layers)}


def beam():
    return llama_layers(4 * BATCH, LENGTH), llama().generate(prompts(), **settings(num_beams=4))


def static():
    """The whole length is allocated at once; transformers decides how much."""
    if not hasattr(torch, "_dynamo"):
        return {"skip": "a static cache needs PyTorch 2"}, None
    output = llama().generate(prompts(), **settings(cache_implementation="static"))
    cache = output.past_key_values
    keys = cache.layers[0].keys if hasattr(cache, "layers") else cache.key_cache[0]
    return llama_layers(BATCH, keys.shape[2]), output


def tuples():
    """Older transformers return tuples for this model."""
    config = GPT2Config(vocab_size=500, n_embd=256, n_layer=3, n_head=4, n_positions=128,
                        **NO_SPECIAL)
    output = GPT2LMHeadModel(config).eval().generate(prompts(), **settings())
    held = keys_and_values(BATCH, 4, LENGTH, 64)
    return {f"GPT2LMHeadModel > transformer.h.{i}.attn": held for i in range(3)}, output


def encoder_and_decoder():
    config = T5Config(vocab_size=500, d_model=128, d_kv=32, d_ff=256, num_layers=2, num_heads=4,
                      decoder_start_token_id=0, **NO_SPECIAL)
    model = T5ForConditionalGeneration(config).eval()
    output = model.generate(prompts(), **settings())
    held = {}
    for i in range(2):
        block = f"T5ForConditionalGeneration > decoder.block.{i}.layer"
        held[f"{block}.0.SelfAttention"] = keys_and_values(BATCH, 4, NEW, 32)
        held[f"{block}.1.EncDecAttention"] = keys_and_values(BATCH, 4, PROMPT, 32)
    return held, output


def prompt_copied():
    """The cache of a common prompt is copied for each request."""
    model, prompt = llama(), prompts(1)
    common = model(prompt, past_key_values=DynamicCache(), use_cache=True).past_key_values
    for _ in range(3):
        question = torch.randint(3, 500, (1, 10))
        cache = copy.deepcopy(common)
        model.generate(torch.cat([prompt, question], 1), past_key_values=cache, **settings())
        del cache
    return llama_layers(1, PROMPT), common


def server():
    """Batches of any size, one after the other; each cache is dropped."""
    model = llama()
    for batch in (2, 1, 4):
        model.generate(prompts(batch), **settings(return_dict_in_generate=False))
    return {}, None


class Trained(LlamaForCausalLM):
    """Made the file."""


def pretrained():
    """From a file of safetensors, which newer versions leave the weights in."""
    with tempfile.TemporaryDirectory() as folder:
        llama(kind=Trained).save_pretrained(folder)
        model = LlamaForCausalLM.from_pretrained(folder)
        output = model.generate(prompts(), **settings())
    return llama_layers(BATCH, LENGTH), (model, output)


def two_models():
    """The second is of the same class, and its names tell."""
    model, draft = llama(), llama(1)
    kept = (model.generate(prompts(), **settings()), draft.generate(prompts(1), **settings()))
    return {**llama_layers(BATCH, LENGTH),
            **llama_layers(1, LENGTH, 1, "LlamaForCausalLM#2")}, kept


def main():
    torch.manual_seed(0)
    with torch.no_grad():
        held, kept = globals()[sys.argv[1]]()
    marker = torch.empty(MARKER_BYTES, dtype=torch.uint8)
    print(json.dumps(held), flush=True)
    del marker
    return kept


if __name__ == "__main__":
    result = main()  # until the program ends
