/* api_report.c: allocations, labels, scopes and marks from the public API.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "api_report.h"

#include <string.h>

#include "names.h"
#include "record.h"

static bool known(memledger_space space)
{
    return space && space <= ML_SPACE_MAX;
}

memledger_space ml_api_space_open(const char *device, int level, const char *name)
{
    if (level < MEMLEDGER_DRIVER || level > MEMLEDGER_BLOCK)
        level = MEMLEDGER_BLOCK;
    return ml_space_number(device, (uint32_t)level, name);
}

void ml_api_alloc(memledger_space space, const void *ptr, size_t bytes)
{
    if (ML_LIKELY(known(space) && ptr))
        ml_record_alloc(space, ptr, bytes);
}

void ml_api_alloc_ex(memledger_space space, const struct memledger_alloc_info *info)
{
    struct memledger_alloc_info i = {0};

    if (!known(space) || !info || !info->struct_bytes)
        return;
    memcpy(&i, info, ml_min_u64(info->struct_bytes, sizeof(i)));
    if (!i.ptr)
        return;
    uint64_t words[] = {ml_record_word(ML_ALLOC_EX, space, ml_now()), (uintptr_t)i.ptr, i.bytes,
                        i.requested_bytes ? i.requested_bytes : i.bytes, i.stream};
    ml_record_spaced(space, words, 5);
}

void ml_api_free(memledger_space space, const void *ptr)
{
    if (ML_LIKELY(known(space) && ptr))
        ml_record_free(space, ptr);
}

void ml_api_free_range(memledger_space space, const void *ptr, size_t bytes)
{
    if (known(space) && bytes)
        ml_record_free_range(space, ptr, bytes);
}

void ml_api_resize(memledger_space space, const void *old_ptr, const void *new_ptr, size_t bytes)
{
    if (!known(space))
        return;
    if (old_ptr)
        ml_record_move(space, old_ptr);
    if (new_ptr)
        ml_record_alloc(space, new_ptr, bytes);
}

void ml_api_label(memledger_space space, const void *ptr, const char *name, int category)
{
    if (known(space) && ptr)
        ml_record_label(space, ptr, (uint32_t)category, ml_name(name));
}

void ml_api_push(int kind, const char *name)
{
    ml_record_push((uint8_t)kind, ml_name(name));
}

void ml_api_pop(void)
{
    ml_record_pop();
}

void ml_api_mark(int kind, uint64_t number, const char *name)
{
    uint32_t string = ml_name(name);
    uint64_t words[] = {ml_record_word(ML_MARK, 0, ml_now()), (uint64_t)kind, number, string};
    ml_record(words, 4);
}
