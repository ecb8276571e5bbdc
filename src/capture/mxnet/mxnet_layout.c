/* mxnet_layout.c: see mxnet_layout.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mxnet_layout.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "dlsym_hook.h"

#define GET_VERSION "MXGetVersion"

/* NDArray::Save takes names: "Ss" is the old std::string, whose object is one pointer. */
#define OLD_STRINGS "_ZN5mxnet7NDArray4SaveEPN4dmlc6StreamERKSt6vectorIS0_SaIS0_EERKS4_ISsSaISsEE"

/* clang-format off */
static const struct ml_mxnet_layout layouts[] = {
    {
        .version = 10901,
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
        .storage_type_at = 84,
        .handle_bytes = 32,
    },
    {
        .version = 20000,
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
        .storage_type_at = 108,
        .handle_bytes = 56,
    },
};
/* clang-format on */

/* Whether that is the version in MXGetVersion. It is read there, not called: MXNet's own
 * profiler would have the call in its results. */
static bool has_version(void *library, int version)
{
    const char *code = ml_dlsym_real_function()(library, GET_VERSION);
    const ElfW(Sym) *symbol = NULL;
    Dl_info info;

    if (!code || !dladdr1(code, &info, (void **)(void *)&symbol, RTLD_DL_SYMENT) || !symbol)
        return false;
    for (size_t i = 0; i + sizeof(version) <= symbol->st_size; i++) {
        if (!memcmp(code + i, &version, sizeof(version)))
            return true;
    }
    return false;
}

int ml_mxnet_version(void *library)
{
    int (*get)(int *) = (int (*)(int *))ml_dlsym_real_function()(library, GET_VERSION);
    int version = 0;

    return get && get(&version) == 0 ? version : 0;
}

static bool has_all(void *library, const struct ml_mxnet_layout *layout,
                    void *ret_reals[ML_MXNET_FUNCTIONS])
{
    void *reals[ML_MXNET_FUNCTIONS];

    for (unsigned i = 0; i < ML_MXNET_FUNCTIONS; i++) {
        reals[i] = ml_dlsym_real_function()(library, layout->symbols[i]);
        if (!reals[i])
            return false;
    }
    for (unsigned i = 0; i < ML_MXNET_FUNCTIONS; i++)
        ret_reals[i] = reals[i];
    return true;
}

/* Whether the class has these functions where they are expected. */
static bool is_laid_out(void *library, const struct ml_mxnet_layout *layout,
                        void *const reals[ML_MXNET_FUNCTIONS])
{
    void *const *table = ml_dlsym_real_function()(library, layout->storage_vtable);

    if (!table)
        return false;
    table += ML_VTABLE_HEAD;
    return table[ML_STORAGE_ALLOC] == reals[ML_MXNET_ALLOC] &&
           table[ML_STORAGE_FREE] == reals[ML_MXNET_FREE] &&
           table[ML_STORAGE_DIRECT_FREE] == reals[ML_MXNET_DIRECT_FREE];
}

const struct ml_mxnet_layout *ml_mxnet_recognise(void *library, void *ret_reals[ML_MXNET_FUNCTIONS])
{
    if (!ml_dlsym_real_function()(library, OLD_STRINGS))
        return NULL;
    for (unsigned i = 0; i < sizeof(layouts) / sizeof(*layouts); i++) {
        if (has_version(library, layouts[i].version) && has_all(library, &layouts[i], ret_reals) &&
            is_laid_out(library, &layouts[i], ret_reals))
            return &layouts[i];
    }
    return NULL;
}
