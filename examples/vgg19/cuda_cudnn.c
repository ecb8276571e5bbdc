/* cuda_cudnn.c: the convolution by cuDNN: the fastest algorithm that it proposes and whose
 * workspace fits. The example allocates the workspace itself, so that it has a name in the
 * ledger.
 *
 * Only plain fp32 arithmetic is allowed: TF32 would be faster, but rounds inputs to ten bits,
 * which would make the results incomparable.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_cudnn.h"

#include "conv.h"
#include "cuda_library.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

typedef int cudnn_status;
typedef void *cudnn_handle; /* the library's, or a descriptor */

enum { CUDNN_OK = 0, CUDNN_LAYOUT_NCHW = 0, CUDNN_TYPE_FLOAT = 0, CUDNN_CORRELATION = 1 };

/* Math types. Default allows TF32 where the GPU has it. */
enum { CUDNN_MATH_DEFAULT = 0, CUDNN_MATH_FP32_ONLY = 3 };

/* The library's proposal of an algorithm. */
struct cudnn_proposal {
    int algorithm;
    cudnn_status status;
    float milliseconds;
    size_t workspace_bytes;
    int deterministic;
    int math;
    int reserved[3];
};

struct cudnn_choice {
    int algorithm;
    size_t workspace_bytes;
};

#define CUDNN_ENTRIES(X)                                                                           \
    X(cudnnCreate, (cudnn_handle * ret))                                                           \
    X(cudnnDestroy, (cudnn_handle handle))                                                         \
    X(cudnnCreateTensorDescriptor, (cudnn_handle * ret))                                           \
    X(cudnnDestroyTensorDescriptor, (cudnn_handle descriptor))                                     \
    X(cudnnSetTensor4dDescriptor,                                                                  \
      (cudnn_handle descriptor, int layout, int type, int n, int c, int h, int w))                 \
    X(cudnnCreateFilterDescriptor, (cudnn_handle * ret))                                           \
    X(cudnnDestroyFilterDescriptor, (cudnn_handle descriptor))                                     \
    X(cudnnSetFilter4dDescriptor,                                                                  \
      (cudnn_handle descriptor, int type, int layout, int out, int in, int h, int w))              \
    X(cudnnCreateConvolutionDescriptor, (cudnn_handle * ret))                                      \
    X(cudnnDestroyConvolutionDescriptor, (cudnn_handle descriptor))                                \
    X(cudnnSetConvolution2dDescriptor,                                                             \
      (cudnn_handle descriptor, int pad_h, int pad_w, int stride_h, int stride_w, int dilation_h,  \
       int dilation_w, int mode, int type))                                                        \
    X(cudnnSetConvolutionMathType, (cudnn_handle descriptor, int math))                            \
    X(cudnnGetConvolutionForwardAlgorithm_v7,                                                      \
      (cudnn_handle handle, cudnn_handle input, cudnn_handle filter, cudnn_handle convolution,     \
       cudnn_handle output, int asked, int *ret_count, struct cudnn_proposal *ret))                \
    X(cudnnGetConvolutionForwardWorkspaceSize,                                                     \
      (cudnn_handle handle, cudnn_handle input, cudnn_handle filter, cudnn_handle convolution,     \
       cudnn_handle output, int algorithm, size_t *ret))                                           \
    X(cudnnConvolutionForward,                                                                     \
      (cudnn_handle handle, const void *alpha, cudnn_handle input, const void *input_data,         \
       cudnn_handle filter, const void *filter_data, cudnn_handle convolution, int algorithm,      \
       void *workspace, size_t workspace_bytes, const void *beta, cudnn_handle output,             \
       void *output_data))                                                                         \
    X(cudnnAddTensor,                                                                              \
      (cudnn_handle handle, const void *alpha, cudnn_handle bias, const void *bias_data,           \
       const void *beta, cudnn_handle data, void *data_data))

struct cudnn_table {
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration */
#define X(name, parameters) cudnn_status(*name) parameters;
    CUDNN_ENTRIES(X)
#undef X
    const char *(*cudnnGetErrorString)(cudnn_status status);
};

/* Descriptors are created once and set for each layer. */
struct cudnn {
    struct cudnn_table call;
    cudnn_handle handle;
    cudnn_handle input, output, bias; /* tensors */
    cudnn_handle filter;
    cudnn_handle convolution;
};

static int told(const struct cudnn *cudnn, cudnn_status status, const char *call)
{
    if (status == CUDNN_OK)
        return 0;
    fprintf(stderr, "vgg19: %s: %s\n", call, cudnn->call.cudnnGetErrorString(status));
    return -EIO;
}

/* TOLD(cudnn, cudnnCreate, &handle): calls it and prints a message if it fails. */
#define TOLD(cudnn, name, ...) told(cudnn, (cudnn)->call.name(__VA_ARGS__), #name)

static int load(struct cudnn_table *ret, const char *folder)
{
    static const char *const names[] = {"libcudnn.so.9", "libcudnn.so.8", NULL};
    const struct cuda_symbol symbols[] = {
#define X(name, parameters) {#name, (void **)&ret->name},
        CUDNN_ENTRIES(X)
#undef X
            {"cudnnGetErrorString", (void **)&ret->cudnnGetErrorString},
    };
    void *library = cuda_library_open(names, folder);

    if (!library && folder) /* The folder may have been meant for NVRTC. */
        library = cuda_library_open(names, NULL);
    if (!library) {
        fputs("vgg19: --algo cudnn needs libcudnn.so.9 or .8; looked in " CUDA_LIBRARY_PLACES "\n",
              stderr);
        return -ENODEV;
    }
    return cuda_library_symbols(library, "cuDNN", symbols, sizeof(symbols) / sizeof(symbols[0]));
}

static int make_descriptors(struct cudnn *cudnn)
{
    return TOLD(cudnn, cudnnCreateTensorDescriptor, &cudnn->input) ||
           TOLD(cudnn, cudnnCreateTensorDescriptor, &cudnn->output) ||
           TOLD(cudnn, cudnnCreateTensorDescriptor, &cudnn->bias) ||
           TOLD(cudnn, cudnnCreateFilterDescriptor, &cudnn->filter) ||
           TOLD(cudnn, cudnnCreateConvolutionDescriptor, &cudnn->convolution) ||
           TOLD(cudnn, cudnnSetConvolution2dDescriptor, cudnn->convolution, PADDING, PADDING, 1, 1,
                1, 1, CUDNN_CORRELATION, CUDNN_TYPE_FLOAT) ||
           TOLD(cudnn, cudnnSetConvolutionMathType, cudnn->convolution, CUDNN_MATH_FP32_ONLY);
}

int cudnn_open(struct cuda *cuda, const char *folder)
{
    struct cudnn *cudnn = calloc(1, sizeof(*cudnn));
    int rc;

    if (!cudnn) {
        fputs("vgg19: no memory to start\n", stderr);
        return -ENOMEM;
    }
    rc = load(&cudnn->call, folder);
    if (rc) {
        free(cudnn);
        return rc;
    }
    cuda->cudnn = cudnn;
    if (TOLD(cudnn, cudnnCreate, &cudnn->handle) || make_descriptors(cudnn)) {
        cudnn_close(cuda);
        return -ENODEV;
    }
    return 0;
}

void cudnn_close(struct cuda *cuda)
{
    struct cudnn *cudnn = cuda->cudnn;

    if (!cudnn)
        return;
    if (cudnn->convolution)
        cudnn->call.cudnnDestroyConvolutionDescriptor(cudnn->convolution);
    if (cudnn->filter)
        cudnn->call.cudnnDestroyFilterDescriptor(cudnn->filter);
    if (cudnn->bias)
        cudnn->call.cudnnDestroyTensorDescriptor(cudnn->bias);
    if (cudnn->output)
        cudnn->call.cudnnDestroyTensorDescriptor(cudnn->output);
    if (cudnn->input)
        cudnn->call.cudnnDestroyTensorDescriptor(cudnn->input);
    if (cudnn->handle)
        cudnn->call.cudnnDestroy(cudnn->handle);
    free(cudnn);
    cuda->cudnn = NULL;
}

static int set_tensor(const struct cudnn *cudnn, cudnn_handle tensor, int images, int channels,
                      int h, int w)
{
    return TOLD(cudnn, cudnnSetTensor4dDescriptor, tensor, CUDNN_LAYOUT_NCHW, CUDNN_TYPE_FLOAT,
                images, channels, h, w);
}

static int describe(const struct cudnn *cudnn, const struct conv_shape *shape)
{
    if (set_tensor(cudnn, cudnn->input, shape->batch, shape->in, shape->size, shape->size) ||
        set_tensor(cudnn, cudnn->output, shape->batch, shape->out, shape->size, shape->size))
        return -EIO;
    return TOLD(cudnn, cudnnSetFilter4dDescriptor, cudnn->filter, CUDNN_TYPE_FLOAT,
                CUDNN_LAYOUT_NCHW, shape->out, shape->in, KERNEL, KERNEL);
}

/* Checks the workspace that the algorithm needs for this layer without TF32: it may need more
 * than proposed, or be impossible. */
static bool usable(const struct cudnn *cudnn, const struct cudnn_proposal *proposal,
                   size_t free_bytes, struct cudnn_choice *ret)
{
    struct cudnn_choice choice = {.algorithm = proposal->algorithm};

    if (proposal->status != CUDNN_OK)
        return false;
    if (proposal->math != CUDNN_MATH_DEFAULT && proposal->math != CUDNN_MATH_FP32_ONLY)
        return false;
    if (cudnn->call.cudnnGetConvolutionForwardWorkspaceSize(
            cudnn->handle, cudnn->input, cudnn->filter, cudnn->convolution, cudnn->output,
            choice.algorithm, &choice.workspace_bytes) != CUDNN_OK)
        return false;
    *ret = choice;
    return choice.workspace_bytes <= free_bytes;
}

/* Proposals come fastest first. */
static int choose_algorithm(const struct cuda *cuda, struct cudnn_choice *ret)
{
    enum { PROPOSALS = 16 };
    const struct cudnn *cudnn = cuda->cudnn;
    struct cudnn_proposal proposals[PROPOSALS];
    size_t free_bytes = 0, total_bytes = 0;
    int count = 0;

    if (cuda->driver.cuMemGetInfo_v2(&free_bytes, &total_bytes) != CUDA_OK ||
        TOLD(cudnn, cudnnGetConvolutionForwardAlgorithm_v7, cudnn->handle, cudnn->input,
             cudnn->filter, cudnn->convolution, cudnn->output, PROPOSALS, &count, proposals))
        return -EIO;
    for (int i = 0; i < count; i++)
        if (usable(cudnn, &proposals[i], free_bytes, ret))
            return 0;
    fputs("vgg19: cuDNN has no fp32 algorithm whose workspace fits; try a smaller --size or "
          "--batch\n",
          stderr);
    return -ENOMEM;
}

/* An algorithm may need no workspace: then the buffer stays empty. */
static int make_workspace(struct buffers *buffers, size_t bytes, struct buffer *ret)
{
    if (!bytes)
        return 0;
    return buffer_new(buffers, "cudnn.workspace", MEMLEDGER_TEMPORARY,
                      (bytes + sizeof(float) - 1) / sizeof(float), ret);
}

int cuda_conv_cudnn(struct engine *engine, const struct conv_shape *shape, const float *input,
                    const float *weight, float *output)
{
    const struct cudnn *cudnn = engine->cuda->cudnn;
    const float one = 1, zero = 0;
    struct cudnn_choice choice = {0};
    struct buffer workspace = {0};
    int rc = describe(cudnn, shape);

    if (!rc)
        rc = choose_algorithm(engine->cuda, &choice);
    if (!rc)
        rc = make_workspace(&engine->buffers, choice.workspace_bytes, &workspace);
    if (!rc)
        rc = TOLD(cudnn, cudnnConvolutionForward, cudnn->handle, &one, cudnn->input, input,
                  cudnn->filter, weight, cudnn->convolution, choice.algorithm, workspace.data,
                  workspace.bytes, &zero, cudnn->output, output);
    if (!rc)
        rc = cuda_wait(engine->cuda, "cudnnConvolutionForward");
    buffer_release(&engine->buffers, &workspace);
    return rc;
}

int cudnn_add_bias(struct cuda *cuda, float *data, const float *bias, size_t images,
                   size_t channels, size_t plane)
{
    const struct cudnn *cudnn = cuda->cudnn;
    const float one = 1;

    if (set_tensor(cudnn, cudnn->output, (int)images, (int)channels, 1, (int)plane) ||
        set_tensor(cudnn, cudnn->bias, 1, (int)channels, 1, 1))
        return -EIO;
    return TOLD(cudnn, cudnnAddTensor, cudnn->handle, &one, cudnn->bias, bias, &one, cudnn->output,
                data);
}
