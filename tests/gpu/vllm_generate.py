# vllm_generate.py FOLDER: vLLM generates from a small Llama with random weights, whose
# configuration goes into the folder. Its last line is JSON: how many layers the model has.
#
# SPDX-License-Identifier: Apache-2.0
import json
import sys

LAYERS = 4


def write_model(folder):
    from transformers import LlamaConfig
    LlamaConfig(architectures=["LlamaForCausalLM"], vocab_size=1024, hidden_size=256,
                intermediate_size=512, num_hidden_layers=LAYERS, num_attention_heads=4,
                num_key_value_heads=4, max_position_embeddings=256,
                torch_dtype="float16").save_pretrained(folder)


def main(folder):
    from vllm import LLM, SamplingParams
    write_model(folder)
    server = LLM(model=folder, load_format="dummy", skip_tokenizer_init=True, enforce_eager=True,
                 max_model_len=256, gpu_memory_utilization=0.1)
    server.generate([{"prompt_token_ids": [1, 2, 3]}],
                    SamplingParams(max_tokens=8, detokenize=False))
    print(json.dumps({"layers": LAYERS}))


if __name__ == "__main__":  # vLLM starts this file again for its engine
    main(sys.argv[1])
