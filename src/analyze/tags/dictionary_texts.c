/* dictionary_texts.c: the dictionaries that come with memledger, as users write them: `memledger
 * groups --show NAME` prints one to start from.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "dictionary.h"

/* The "Data Structure" bar of MXNet's two-bar picture. */
static const char mxnet[] = "match = all\n"
                            "\n"
                            "[Parameters]\n"
                            "in_arg\n"
                            "arg_grad\n"
                            "optimizer_state\n"
                            "\n"
                            "[Data Entries]\n"
                            "data_entry\n"
                            "\n"
                            "[Workspace]\n"
                            "workspace\n";

/* An example for its "Layer" bar: a language model. */
static const char mxnet_lstm[] = "match = all\n"
                                 "\n"
                                 "[Embedding]\n"
                                 "/embed/i\n"
                                 "\n"
                                 "[RNN]\n"
                                 "/lstm|rnn/i\n"
                                 "\n"
                                 "[Attention]\n"
                                 "/att/i\n"
                                 "\n"
                                 "[Output]\n"
                                 "/pred|logit|softmax|decoder|output/i\n";

/* TBD's keywords in TBD's order, with the names that it prints. */
static const char tbd[] = "match = first\n"
                          "tags = bracketed\n"
                          "\n"
                          "[Weights]\nin_arg\n"
                          "[Weight Gradients]\narg_grad\n"
                          "[Auxiliary State]\naux_state\n"
                          "[Optimizer State]\noptimizer\n"
                          "[Workspace]\nworkspace\n"
                          "[RNN Layer]\nrnn\n"
                          "[Embedding Layer]\nembed\n"
                          "[Multiplication Op]\n:_mul\n"
                          "[Sqrt Op]\nrsqrt\n"
                          "[Mean Op]\n:mean\n"
                          "[Attention Layer]\natt\n"
                          "[Split Op]\n:split\n"
                          "[Logit]\nlogit\n"
                          "[SwapAxes Op]\nswapaxes\n"
                          "[Square Op]\nsquare\n"
                          "[SoftMax]\nsoftmax\n"
                          "[SequenceReverse Op]\nsequencereverse\n"
                          "[Dot Op]\ndot\n"
                          "[Broadcast Op]\n:broadcast\n"
                          "[Zero Op]\nzeros\n"
                          "[Sum Op]\nsum\n"
                          "[Transpose Op]\ntranspose\n"
                          "[Dropout]\n:dropout\n"
                          "[Slice Op]\nslice\n"
                          "[CNN Layer]\ncnn\n"
                          "[Arange Op]\narange\n"
                          "[FullyConnected]\nfullyconnected\n"
                          "[SequenceMask]\nsequencemask\n"
                          "[Convolutional Unit]\nconv\n"
                          "[Activation]\nactivation\n"
                          "[Reshape Op]\nreshape\n"
                          "[Transformer Layer]\ntransformer\n"
                          "[Relu]\nrelu\n"
                          "[Pooling]\npool\n"
                          "[Batch Norm]\nbn\n"
                          "[Id]\n:id\n"
                          "[Fully Connected]\n:fc\n"
                          "[SC unit]\n_sc\n"
                          "[Equal Scalar Op]\n_equal_scalar\n"
                          "[Source]\n(source)\n"
                          "[Target]\n(target)\n"
                          "[Target Label]\n(target_label)\n"
                          "[Data]\n(data)\n"
                          "[Dropout]\ndropout\n"
                          "[Unknown (From Python Side)]\nuntagged\n"
                          "[Unknown (From C++ side)]\nwarning!,ctx_source_unclear\n";

static const char torch[] = "match = first\n"
                            "\n"
                            "[Parameters]\n/^(parameter|in_arg):/\n"
                            "[Gradients]\n/^(gradient|arg_grad):/\n"
                            "[Buffers]\n/^(buffer|aux_state):/\n"
                            "[Optimizer state]\n/^optimizer_state:/\n"
                            "[Intermediate gradients]\n/^intermediate_gradient:/\n"
                            "/^data_entry:.*_backward_oedge/\n"
                            "/^head_grad:/\n"
                            "[Activations]\n/^(activation|data_entry):/\n"
                            "[Temporary]\n/^(workspace|resource|dropout):/\n"
                            "[Inputs]\n/^[^:]+$/\n";

/* By the usual names of modules and layers, and by the classes of PyTorch and Gluon: children of
 * nn.Sequential have only numbers for names. No attention: Flatten. */
static const char layers[] = "match = first\n"
                             "tags = classes\n"
                             "\n"
                             "[Attention]\n/(^|[^l])att|qkv|q_proj|k_proj|v_proj|out_proj/i\n"
                             "[Recurrent]\n/rnn|lstm|gru/i\n"
                             "[Embedding]\n/embed|wte|wpe/i\n"
                             "[Normalization]\n/norm|bn|ln_|(^|[.:_])ln/i\n"
                             "[Convolution]\n/conv|downsample/i\n"
                             "[Pooling]\n/pool/i\n"
                             "[Dropout]\n/dropout/i\n"
                             "[Loss]\n/loss|softmax|entropy/i\n"
                             "[Activation]\n/elu|silu|tanh|sigmoid|swish|mish|activation/i\n"
                             "[Fully connected]\n/fc|linear|dense|fullyconnected|mlp|proj/i\n"
                             "/head|classifier|decoder/i\n";

static const struct {
    const char *name, *text;
} builtins[] = {
    {"mxnet", mxnet}, {"mxnet-lstm", mxnet_lstm}, {"tbd", tbd},
    {"torch", torch}, {"layers", layers},
};

const char *const ml_dictionary_names[] = {"mxnet", "mxnet-lstm", "tbd", "torch", "layers", NULL};

const char *ml_dictionary_text(const char *name)
{
    for (size_t i = 0; i < sizeof(builtins) / sizeof(*builtins); i++)
        if (strcmp(builtins[i].name, name) == 0)
            return builtins[i].text;
    return NULL;
}
