/* torch_workspaces.c: see torch_workspaces.h.
 *
 * All arguments of most of these functions are integers and pointers, each of which takes a whole
 * word, so that a hook needs to know only how many there are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "torch_workspaces.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "dlsym_hook.h"
#include "event.h"
#include "got_slots.h"
#include "lock.h"
#include "memledger/memledger.h"
#include "names.h"
#include "record.h"
#include "torch_recent.h"

/* Of libtorch_cuda.so and libtorch_cuda_linalg.so. */
#define CALLERS "/libtorch_cuda"
#define CALLERS_MAX 4
#define PREFIX "cu"

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

#define ROW(function, count, place, name) {#function, (void *)function},
static const struct {
    const char *symbol;
    void *hook;
} entries[] = {ENTRIES(ROW){SET_ATTRIBUTE, (void *)set_attribute},
               {SET_DROPOUT, (void *)set_dropout}};
#undef ROW

static unsigned entry_of(const char *symbol)
{
    unsigned i = 0;

    while (i < ENTRY_COUNT && strcmp(entries[i].symbol, symbol))
        i++;
    return i;
}

/* Each function is known by one address: if the callers use two libraries of one name, the second
 * is left alone. */
static void patch_slot(struct ml_elf_object *o, const struct ml_slot *slot, void *context)
{
    unsigned i;
    void *found, *real;

    (void)context;
    if (strncmp(slot->symbol, PREFIX, strlen(PREFIX)))
        return;
    i = entry_of(slot->symbol);
    if (i == ENTRY_COUNT)
        return;
    found = ml_dlsym_as_seen_from((const void *)o->dynamic, slot->symbol);
    real = __atomic_load_n(&reals[i], __ATOMIC_RELAXED);
    if (!found || (real && real != found))
        return;
    __atomic_store_n(&reals[i], found, __ATOMIC_RELAXED);
    ml_elf_object_redirect(o, slot, found, entries[i].hook);
}

struct callers {
    struct ml_elf_object list[CALLERS_MAX];
    unsigned count;
};

static int find_caller(struct dl_phdr_info *info, size_t size, void *context)
{
    struct callers *callers = context;

    (void)size;
    if (info->dlpi_name && strstr(info->dlpi_name, CALLERS) && callers->count < CALLERS_MAX)
        ml_elf_object_survey(info, &callers->list[callers->count++]);
    return 0;
}

/* Looks functions up after the walk: a look-up takes another lock of the loader's, and dlopen takes
 * both in the other order. PyTorch's libraries are never unloaded. */
static void patch_callers(void)
{
    struct callers callers = {.count = 0};

    dl_iterate_phdr(find_caller, &callers);
    for (unsigned i = 0; i < callers.count; i++)
        ml_elf_object_each_slot(&callers.list[i], patch_slot, NULL);
    dlerror(); /* the program must not find our failures there */
}

void ml_torch_workspaces_begin(void)
{
    static struct ml_lock lock;
    int saved_errno = errno;

    if (ml_lock_or_give_up(&lock)) {
        patch_callers();
        ml_unlock(&lock);
    }
    errno = saved_errno;
}
