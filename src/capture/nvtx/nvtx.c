/* nvtx.c: the functions through which NVTX finds memledger.
 *
 * NVTX calls InitializeInjectionNvtx2 once for each library that contains NVTX (see nvtx_abi.h).
 * The functions here only turn NVTX's many forms of a call into one: bytes and wide characters into
 * attributes, no domain into number 0.
 *
 * Entries that are not in the tables stay as NVTX has them without a tool: names of threads and of
 * CUDA's objects, resources, synchronisation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "nvtx_abi.h"
#include "nvtx_domains.h"
#include "nvtx_names.h"
#include "nvtx_ranges.h"
#include "nvtx_spans.h"
#include "recorder.h"

typedef const struct ml_nvtx_attributes *attributes;

/* ---- Domains: module CORE2 ---------------------------------------------- */

static void domain_mark_ex(ml_nvtx_domain handle, attributes a)
{
    uint32_t domain = ml_nvtx_domain_number(handle);

    ml_nvtx_mark(domain, ml_nvtx_bare_name(domain, a));
}

static uint64_t domain_start_ex(ml_nvtx_domain handle, attributes a)
{
    uint32_t domain = ml_nvtx_domain_number(handle);

    return ml_nvtx_start(domain, ml_nvtx_bare_name(domain, a));
}

static void domain_end(ml_nvtx_domain handle, uint64_t range)
{
    (void)handle; /* the range knows its domain */
    ml_nvtx_end(range);
}

static int domain_push_ex(ml_nvtx_domain handle, attributes a)
{
    uint32_t domain = ml_nvtx_domain_number(handle);

    return ml_nvtx_push(domain, ml_nvtx_scope_name(domain, a));
}

static int domain_pop(ml_nvtx_domain handle)
{
    return ml_nvtx_pop(ml_nvtx_domain_number(handle));
}

static void name_category(ml_nvtx_domain handle, uint32_t category, struct ml_nvtx_attributes a)
{
    ml_nvtx_category_set(ml_nvtx_domain_number(handle), category, ml_nvtx_message(&a));
}

static void domain_name_category_a(ml_nvtx_domain handle, uint32_t category, const char *name)
{
    name_category(handle, category, ml_nvtx_ascii(name));
}

static void domain_name_category_w(ml_nvtx_domain handle, uint32_t category, const wchar_t *name)
{
    name_category(handle, category, ml_nvtx_wide(name));
}

static ml_nvtx_string register_string_a(ml_nvtx_domain handle, const char *text)
{
    struct ml_nvtx_attributes a = ml_nvtx_ascii(text);

    return ml_nvtx_register(ml_nvtx_domain_number(handle), &a);
}

static ml_nvtx_string register_string_w(ml_nvtx_domain handle, const wchar_t *text)
{
    struct ml_nvtx_attributes a = ml_nvtx_wide(text);

    return ml_nvtx_register(ml_nvtx_domain_number(handle), &a);
}

static ml_nvtx_domain domain_create_a(const char *name)
{
    struct ml_nvtx_attributes a = ml_nvtx_ascii(name);

    return ml_nvtx_domain_create(ml_nvtx_message(&a));
}

static ml_nvtx_domain domain_create_w(const wchar_t *name)
{
    struct ml_nvtx_attributes a = ml_nvtx_wide(name);

    return ml_nvtx_domain_create(ml_nvtx_message(&a));
}

/* ---- The default domain: module CORE ------------------------------------ */

static void mark_ex(attributes a)
{
    domain_mark_ex(NULL, a);
}

static void mark_a(const char *message)
{
    struct ml_nvtx_attributes a = ml_nvtx_ascii(message);

    mark_ex(&a);
}

static void mark_w(const wchar_t *message)
{
    struct ml_nvtx_attributes a = ml_nvtx_wide(message);

    mark_ex(&a);
}

static uint64_t start_ex(attributes a)
{
    return domain_start_ex(NULL, a);
}

static uint64_t start_a(const char *message)
{
    struct ml_nvtx_attributes a = ml_nvtx_ascii(message);

    return start_ex(&a);
}

static uint64_t start_w(const wchar_t *message)
{
    struct ml_nvtx_attributes a = ml_nvtx_wide(message);

    return start_ex(&a);
}

static int push_ex(attributes a)
{
    return domain_push_ex(NULL, a);
}

static int push_a(const char *message)
{
    struct ml_nvtx_attributes a = ml_nvtx_ascii(message);

    return push_ex(&a);
}

static int push_w(const wchar_t *message)
{
    struct ml_nvtx_attributes a = ml_nvtx_wide(message);

    return push_ex(&a);
}

static int pop(void)
{
    return domain_pop(NULL);
}

static void name_category_a(uint32_t category, const char *name)
{
    domain_name_category_a(NULL, category, name);
}

static void name_category_w(uint32_t category, const wchar_t *name)
{
    domain_name_category_w(NULL, category, name);
}

/* ---- Attaching ---------------------------------------------------------- */

#define FUNCTION(f) ((ml_nvtx_function)(f))

static const ml_nvtx_function core[] = {
    [ML_NVTX_MARK_EX] = FUNCTION(mark_ex),
    [ML_NVTX_MARK_A] = FUNCTION(mark_a),
    [ML_NVTX_MARK_W] = FUNCTION(mark_w),
    [ML_NVTX_START_EX] = FUNCTION(start_ex),
    [ML_NVTX_START_A] = FUNCTION(start_a),
    [ML_NVTX_START_W] = FUNCTION(start_w),
    [ML_NVTX_END] = FUNCTION(ml_nvtx_end),
    [ML_NVTX_PUSH_EX] = FUNCTION(push_ex),
    [ML_NVTX_PUSH_A] = FUNCTION(push_a),
    [ML_NVTX_PUSH_W] = FUNCTION(push_w),
    [ML_NVTX_POP] = FUNCTION(pop),
    [ML_NVTX_NAME_CATEGORY_A] = FUNCTION(name_category_a),
    [ML_NVTX_NAME_CATEGORY_W] = FUNCTION(name_category_w),
};

static const ml_nvtx_function core2[] = {
    [ML_NVTX_DOMAIN_MARK_EX] = FUNCTION(domain_mark_ex),
    [ML_NVTX_DOMAIN_START_EX] = FUNCTION(domain_start_ex),
    [ML_NVTX_DOMAIN_END] = FUNCTION(domain_end),
    [ML_NVTX_DOMAIN_PUSH_EX] = FUNCTION(domain_push_ex),
    [ML_NVTX_DOMAIN_POP] = FUNCTION(domain_pop),
    [ML_NVTX_DOMAIN_NAME_CATEGORY_A] = FUNCTION(domain_name_category_a),
    [ML_NVTX_DOMAIN_NAME_CATEGORY_W] = FUNCTION(domain_name_category_w),
    [ML_NVTX_REGISTER_STRING_A] = FUNCTION(register_string_a),
    [ML_NVTX_REGISTER_STRING_W] = FUNCTION(register_string_w),
    [ML_NVTX_DOMAIN_CREATE_A] = FUNCTION(domain_create_a),
    [ML_NVTX_DOMAIN_CREATE_W] = FUNCTION(domain_create_w),
};

/* An older NVTX has shorter tables, or lacks a module. */
static bool attach(const struct ml_nvtx_callbacks *callbacks, enum ml_nvtx_module module,
                   const ml_nvtx_function *functions, unsigned count)
{
    ml_nvtx_function **table = NULL;
    unsigned entries = 0;

    if (!callbacks->module_table((int)module, &table, &entries) || !table)
        return false;
    for (unsigned i = 1; i < count && i < entries; i++) {
        if (functions[i] && table[i])
            *table[i] = functions[i];
    }
    return true;
}

int InitializeInjectionNvtx2(ml_nvtx_get_table get_table);

/* After a result of 0 NVTX turns itself off: its calls then cost a load and a branch. */
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(ml_nvtx_get_table get_table)
{
    const struct ml_nvtx_callbacks *callbacks =
        get_table ? get_table(ML_NVTX_TABLE_CALLBACKS) : NULL;

    if (!callbacks || callbacks->struct_bytes < sizeof(*callbacks) || !ml_recorder_start())
        return 0;
    ml_nvtx_ranges_init();
    if (!attach(callbacks, ML_NVTX_CORE, core, ML_ARRAY_SIZE(core)))
        return 0;
    attach(callbacks, ML_NVTX_CORE2, core2, ML_ARRAY_SIZE(core2));
    return 1;
}
