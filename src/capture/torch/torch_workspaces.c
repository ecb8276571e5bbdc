/* torch_workspaces.c: see torch_workspaces.h.
 *
 * All arguments of most of these functions are integers and pointers, each of which takes a whole
 * word, so that a hook needs to know only how many there are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "torch_workspaces.h"

#include <stddef.h>
#include <stdint.h>

#include "event.h"
#include "memledger/memledger.h"
#include "names.h"
#include "record.h"
#include "torch_recent.h"
#include "torch_slots.h"

/* PyTorch keeps one workspace of cuBLAS and of cuBLASLt for each stream, for all layers. */
#define CUBLAS "cuBLAS" ML_SHARED_WORKSPACE
#define CUBLASLT "cuBLASLt" ML_SHARED_WORKSPACE
/* It also keeps the random numbers of an LSTM's dropout, for all layers of a device. */
#define CUDNN "cuDNN" ML_SHARED_WORKSPACE

/* ENTRY(function, its number of arguments, the workspace's place among them, label) */
#define ENTRIES(ENTRY)                                                                             \
    ENTRY(cublasSetWorkspace_v2, 3, 1, CUBLAS)                                                     \
    ENTRY(cublasLtMatmul, 16, 13, CUBLASLT)                                                        \
    ENTRY(cudnnConvolutionForward, 13, 8, "cuDNN")                                                 \
    ENTRY(cudnnConvolutionBackwardData, 13, 8, "cuDNN")                                            \
    ENTRY(cudnnConvolutionBackwardFilter, 13, 8, "cuDNN")                                          \
    ENTRY(cudnnRNNForward, 20, 17, "cuDNN")                                                        \
    ENTRY(cufftSetWorkArea, 2, 1, "cuFFT")                                                         \
    ENTRY(cusparseSpMM, 11, 10, "cuSPARSE")                                                        \
    ENTRY(cusparseSpMV, 10, 9, "cuSPARSE")

/* cudnnBackendSetAttribute(descriptor, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, type, 1, &workspace). */
#define SET_ATTRIBUTE "cudnnBackendSetAttribute"
#define VARIANT_PACK_WORKSPACE 1003

/* cudnnSetDropoutDescriptor(descriptor, handle, dropout, states, bytes, seed). */
#define SET_DROPOUT "cudnnSetDropoutDescriptor"

/* What all four libraries return before they are initialized. */
#define NOT_INITIALIZED 1

typedef uintptr_t word;

__thread struct ml_torch_recent ml_torch_recent;

/* ---- The hooks --------------------------------------------------------------------- */

static void label(unsigned at, const char *name)
{
    ml_record_label(ml_torch_recent.spaces[at], ml_torch_recent.blocks[at], MEMLEDGER_WORKSPACE,
                    ml_name(name));
    ml_torch_recent.blocks[at] = NULL; /* once is enough */
}

static void is_workspace(word address, const char *name)
{
    if (!address)
        return;
    for (unsigned i = 0; i < ML_TORCH_RECENT_BLOCKS; i++)
        if ((word)ml_torch_recent.blocks[i] == address)
            label(i, name);
}

#define WORDS_2(W) W(0), W(1)
#define WORDS_3(W) WORDS_2(W), W(2)
#define WORDS_5(W) WORDS_3(W), W(3), W(4)
#define WORDS_10(W) WORDS_5(W), W(5), W(6), W(7), W(8), W(9)
#define WORDS_11(W) WORDS_10(W), W(10)
#define WORDS_13(W) WORDS_11(W), W(11), W(12)
#define WORDS_16(W) WORDS_13(W), W(13), W(14), W(15)
#define WORDS_20(W) WORDS_16(W), W(16), W(17), W(18), W(19)
#define PARAMETER(n) word a##n
#define ARGUMENT(n) a##n

#define ENUM(function, count, place, name) AT_##function,
enum { ENTRIES(ENUM) AT_SET_ATTRIBUTE, AT_SET_DROPOUT, ENTRY_COUNT };
#undef ENUM

static void *reals[ENTRY_COUNT];

#define DEFINE(function, count, place, name)                                                       \
    static int function(WORDS_##count(PARAMETER))                                                  \
    {                                                                                              \
        int (*real)(WORDS_##count(PARAMETER)) =                                                    \
            (int (*)(WORDS_##count(PARAMETER)))__atomic_load_n(&reals[AT_##function],              \
                                                               __ATOMIC_RELAXED);                  \
                                                                                                   \
        is_workspace(a##place, name);                                                              \
        return real ? real(WORDS_##count(ARGUMENT)) : NOT_INITIALIZED;                             \
    }
ENTRIES(DEFINE)
#undef DEFINE

static int set_attribute(WORDS_5(PARAMETER))
{
    int (*real)(WORDS_5(PARAMETER)) =
        (int (*)(WORDS_5(PARAMETER)))__atomic_load_n(&reals[AT_SET_ATTRIBUTE], __ATOMIC_RELAXED);

    if ((uint32_t)a1 == VARIANT_PACK_WORKSPACE && a3 == 1 && a4)
        is_workspace(*(const word *)a4, "cuDNN");
    return real ? real(WORDS_5(ARGUMENT)) : NOT_INITIALIZED;
}

static int set_dropout(word descriptor, word handle, float dropout, word states, word bytes,
                       word seed)
{
    int (*real)(word, word, float, word, word, word) =
        (int (*)(word, word, float, word, word, word))__atomic_load_n(&reals[AT_SET_DROPOUT],
                                                                      __ATOMIC_RELAXED);

    is_workspace(states, CUDNN);
    return real ? real(descriptor, handle, dropout, states, bytes, seed) : NOT_INITIALIZED;
}

/* ---- In their places ----------------------------------------------------------------- */

#define ROW(function, count, place, name) {#function, (void *)function, &reals[AT_##function]},
static const struct ml_torch_slot entries[] = {
    ENTRIES(ROW){SET_ATTRIBUTE, (void *)set_attribute, &reals[AT_SET_ATTRIBUTE]},
    {SET_DROPOUT, (void *)set_dropout, &reals[AT_SET_DROPOUT]}};
#undef ROW

void ml_torch_workspaces_begin(void)
{
    ml_torch_slots_fill("cu", entries, ENTRY_COUNT);
}
