/* mxnet_layout.c: see mxnet_layout.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mxnet_layout.h"

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "build_id.h"
#include "compiler.h"
#include "dlsym_hook.h"
#include "got_slots.h"
#include "own_memory.h"

#define GET_VERSION "MXGetVersion"

/* The wheels on PyPI for x86-64. Those of 1.9.1 for CUDA have the same structures. Those of 2.0.0b1
 * for CUDA have longer handles, and are not listed. */
/* clang-format off */
static const struct ml_mxnet_layout layouts[] = {
    {
        .version = 10901,
        .builds = {
            "472988f6268780302be9ee15d6c53d9a07b534f5", /* mxnet */
            "56f2104fd2c0542e9ce76b5993f4737120c4015f", /* mxnet-cu101 */
            "362130921fa5354c419045d9c4f3fb5c3257fa2f", /* mxnet-cu102 */
            "481f95d33a3998cdfa493cb0992afd67fde0f34e", /* mxnet-cu110 */
            "9523fbda21d9ef14722537c1896afda0cdd1778e", /* mxnet-cu112 */
        },
        .symbols = {
            [ML_MXNET_ALLOC] = "_ZN5mxnet11StorageImpl5AllocEPNS_7Storage6HandleE",
            [ML_MXNET_FREE] = "_ZN5mxnet11StorageImpl4FreeENS_7Storage6HandleE",
            [ML_MXNET_DIRECT_FREE] = "_ZN5mxnet11StorageImpl10DirectFreeENS_7Storage6HandleE",
            [ML_MXNET_EXECUTE] = "_ZN5mxnet6engine14ThreadedEngine15ExecuteOprBlockENS_10RunContextEPNS0_8OprBlockE",
            [ML_MXNET_NAIVE_PUSH] = "_ZN5mxnet6engine11NaiveEngine9PushAsyncESt8functionIFvNS_10RunContextENS0_18CallbackOnCompleteEEENS_7ContextERKSt6vectorIPNS0_3VarESaISA_EESE_NS_10FnPropertyEiPKcb",
        },
        .storage_vtable = "_ZTVN5mxnet11StorageImplE",
        .operator_at = 8,
        .operator_name_at = 88,
        .executor_node_at = {168, 168, 168, 168},
        .array_bytes = 224,
        .autograd_node_at = 88,
        .storage_type_at = 84,
        .handle_bytes = 32,
    },
    {
        .version = 20000,
        .builds = {"253f6e82c9aa7c1924a1309ab42b273c9afc0816"}, /* 2.0.0b1 */
        .symbols = {
            [ML_MXNET_ALLOC] = "_ZN5mxnet7storage11StorageImpl5AllocEPNS_7Storage6HandleEb",
            [ML_MXNET_FREE] = "_ZN5mxnet7storage11StorageImpl4FreeENS_7Storage6HandleE",
            [ML_MXNET_DIRECT_FREE] = "_ZN5mxnet7storage11StorageImpl10DirectFreeENS_7Storage6HandleE",
            [ML_MXNET_EXECUTE] = "_ZN5mxnet6engine14ThreadedEngine15ExecuteOprBlockENS_10RunContextEPNS0_8OprBlockENS0_15CallbackOnStartENS0_18CallbackOnCompleteE",
            [ML_MXNET_NAIVE_PUSH] = "_ZN5mxnet6engine11NaiveEngine9PushAsyncESt8functionIFvNS_10RunContextENS0_15CallbackOnStartENS0_18CallbackOnCompleteEEENS_7ContextERKSt6vectorIPNS0_3VarESaISB_EESF_NS_10FnPropertyEiPKcb",
        },
        .storage_vtable = "_ZTVN5mxnet7storage11StorageImplE",
        .operator_at = 8,
        .operator_name_at = 88,
        .executor_node_at = {496, 192, 0, 192},
        .array_bytes = 312,
        .autograd_node_at = 120,
        .storage_type_at = 108,
        .handle_bytes = 56,
    },
};
/* clang-format on */

struct search {
    uintptr_t inside;
    char *build_id;
};

static int take_build_id(struct dl_phdr_info *info, size_t size, void *context)
{
    const struct search *search = context;
    struct ml_elf_object o;

    (void)size;
    ml_elf_object_survey(info, &o);
    if (search->inside < o.begin || search->inside >= o.end)
        return 0;
    if (!ml_build_id(info, search->build_id))
        search->build_id[0] = '\0';
    return 1;
}

static const struct ml_mxnet_layout *layout_of(const char *build_id)
{
    for (unsigned i = 0; i < ML_ARRAY_SIZE(layouts); i++) {
        for (unsigned k = 0; k < ML_MXNET_BUILDS_MAX && layouts[i].builds[k]; k++) {
            if (!strcmp(build_id, layouts[i].builds[k]))
                return &layouts[i];
        }
    }
    return NULL;
}

int ml_mxnet_version(void *library)
{
    int (*get)(int *) = (int (*)(int *))ml_dlsym_real_function()(library, GET_VERSION);
    int version = 0;

    return get && get(&version) == 0 ? version : 0;
}

static bool find_all(void *library, const struct ml_mxnet_layout *layout,
                     void *reals[ML_MXNET_FUNCTIONS])
{
    for (unsigned i = 0; i < ML_MXNET_FUNCTIONS; i++) {
        reals[i] = ml_dlsym_real_function()(library, layout->symbols[i]);
        if (!reals[i])
            return false;
    }
    return true;
}

/* Whether the class has these functions in the expected places. */
static bool is_laid_out(void *library, const struct ml_mxnet_layout *layout,
                        void *const reals[ML_MXNET_FUNCTIONS])
{
    const void *at = ml_dlsym_real_function()(library, layout->storage_vtable);
    void *words[ML_VTABLE_HEAD + ML_STORAGE_DIRECT_FREE + 1];
    void *const *table = words + ML_VTABLE_HEAD;

    if (!at || ml_own_memory_read((uintptr_t)at, words, sizeof(words)) < (long)sizeof(words))
        return false;
    return table[ML_STORAGE_ALLOC] == reals[ML_MXNET_ALLOC] &&
           table[ML_STORAGE_FREE] == reals[ML_MXNET_FREE] &&
           table[ML_STORAGE_DIRECT_FREE] == reals[ML_MXNET_DIRECT_FREE];
}

const struct ml_mxnet_layout *ml_mxnet_recognise(void *library, void *ret_reals[ML_MXNET_FUNCTIONS])
{
    char build_id[ML_BUILD_ID_TEXT_BYTES] = "";
    struct search search = {(uintptr_t)ml_dlsym_real_function()(library, GET_VERSION), build_id};
    const struct ml_mxnet_layout *layout;
    void *reals[ML_MXNET_FUNCTIONS];

    if (search.inside)
        dl_iterate_phdr(take_build_id, &search);
    layout = layout_of(build_id);
    if (!layout || !find_all(library, layout, reals) || !is_laid_out(library, layout, reals))
        return NULL;
    memcpy(ret_reals, reals, sizeof(reals));
    return layout;
}
