/* nvtx_instance.c: see nvtx_instance.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "nvtx_instance.h"

struct nvtx_instance nvtx;

#define SLOT(member) ((ml_nvtx_function *)(void *)&nvtx.member)

static ml_nvtx_function *core[ML_NVTX_NAME_CATEGORY_W + 1] = {
    [ML_NVTX_PUSH_A] = SLOT(push),
    [ML_NVTX_POP] = SLOT(pop),
};

static ml_nvtx_function *core2[ML_NVTX_DOMAIN_CREATE_W + 1] = {
    [ML_NVTX_DOMAIN_PUSH_EX] = SLOT(domain_push),
    [ML_NVTX_DOMAIN_POP] = SLOT(domain_pop),
    [ML_NVTX_DOMAIN_NAME_CATEGORY_A] = SLOT(name_category),
    [ML_NVTX_REGISTER_STRING_A] = SLOT(register_string),
    [ML_NVTX_DOMAIN_CREATE_A] = SLOT(create),
};

static int module_table(int module, ml_nvtx_function ***ret_table, unsigned *ret_entries)
{
    if (module != ML_NVTX_CORE && module != ML_NVTX_CORE2)
        return 0;
    *ret_table = module == ML_NVTX_CORE ? core : core2;
    *ret_entries =
        module == ML_NVTX_CORE ? ML_NVTX_NAME_CATEGORY_W + 1 : ML_NVTX_DOMAIN_CREATE_W + 1;
    return 1;
}

static const void *get_table(uint32_t id)
{
    static const struct ml_nvtx_callbacks callbacks = {sizeof(callbacks), module_table};

    return id == ML_NVTX_TABLE_CALLBACKS ? &callbacks : NULL;
}

int InitializeInjectionNvtx2(ml_nvtx_get_table);

bool nvtx_attach(void)
{
    return InitializeInjectionNvtx2(get_table) && nvtx.push && nvtx.pop && nvtx.create &&
           nvtx.register_string && nvtx.name_category && nvtx.domain_push && nvtx.domain_pop;
}
