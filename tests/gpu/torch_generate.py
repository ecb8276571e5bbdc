# torch_generate.py: a model in half precision generates text on the GPU, as people write it, from
# batches that a DataLoader pins. Prints the bytes of its keys and values.
#
# SPDX-License-Identifier: Apache-2.0
import json

import torch
from torch.utils.data import DataLoader
from transformers import LlamaConfig, LlamaForCausalLM

BATCH, PROMPT, NEW, LAYERS, HEADS, SIZE = 8, 64, 64, 4, 8, 128


def main():
    config = LlamaConfig(vocab_size=1000, hidden_size=1024, intermediate_size=2048,
                         num_hidden_layers=LAYERS, num_attention_heads=HEADS,
                         num_key_value_heads=HEADS, bos_token_id=1, eos_token_id=2,
                         pad_token_id=0)
    model = LlamaForCausalLM(config).half().cuda().eval()
    prompts = torch.randint(3, 1000, (2 * BATCH, PROMPT))
    for ids in DataLoader(prompts, batch_size=BATCH, num_workers=2, pin_memory=True):
        with torch.no_grad():
            output = model.generate(ids.cuda(non_blocking=True), max_new_tokens=NEW,
                                    min_new_tokens=NEW, do_sample=False,
                                    return_dict_in_generate=True)
    a_token = 2 * LAYERS * BATCH * HEADS * SIZE * 2
    # The first output, with its keys and values, is alive while the second batch generates.
    print(json.dumps({"bytes": 2 * a_token * (PROMPT + NEW - 1), "token": a_token}), flush=True)
    del output


if __name__ == "__main__":
    main()
