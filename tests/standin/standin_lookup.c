/* standin_lookup.c: cuGetProcAddress, which run-time libraries use for lookups.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "standin_types.h"

#include <stdbool.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

/* Only the addresses matter here. */
#define NAME(name, version, symbol) EXPORTED void symbol(void);
#define PER_THREAD(name, version, symbol, per_thread)                                              \
    EXPORTED void symbol(void);                                                                    \
    EXPORTED void per_thread(void);
#define cuGetProcAddress declared_below
#define cuGetProcAddress_v2 declared_below
#include "standin_names.h"
#undef cuGetProcAddress
#undef cuGetProcAddress_v2
#undef NAME
#undef PER_THREAD

#define WANTS_PER_THREAD ((uint64_t)2)

enum status {
    FOUND = 0,
    NO_SUCH_SYMBOL = 1,
    VERSION_TOO_LOW = 2,
};

EXPORTED int cuGetProcAddress(const char *name, void **ret_function, int version, uint64_t flags);
EXPORTED int cuGetProcAddress_v2(const char *name, void **ret_function, int version, uint64_t flags,
                                 int *ret_status);

struct row {
    const char *name;
    int version;
    void (*function)(void);
    void (*per_thread)(void); /* or NULL */
};

#define NAME(name, version, symbol) {#name, version, (void (*)(void))symbol, NULL},
#define PER_THREAD(name, version, symbol, per_thread) {#name, version, symbol, per_thread},
static const struct row rows[] = {
#include "standin_names.h"
};

static enum status find(const char *name, int version, const struct row **ret_row)
{
    enum status status = NO_SUCH_SYMBOL;
    *ret_row = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *row = &rows[i];
        if (strcmp(row->name, name) != 0)
            continue;
        if (row->version > version) {
            status = *ret_row ? FOUND : VERSION_TOO_LOW;
        } else if (!*ret_row || row->version > (*ret_row)->version) {
            *ret_row = row;
            status = FOUND;
        }
    }
    return status;
}

int cuGetProcAddress_v2(const char *name, void **ret_function, int version, uint64_t flags,
                        int *ret_status)
{
    const struct row *row;
    if (!name || !ret_function)
        return CUDA_ERROR_INVALID_VALUE;
    enum status status = find(name, version, &row);
    if (ret_status)
        *ret_status = (int)status;
    *ret_function = NULL;
    if (status != FOUND)
        return CUDA_ERROR_NOT_FOUND;
    bool per_thread = (flags & WANTS_PER_THREAD) && row->per_thread;
    *ret_function = (void *)(per_thread ? row->per_thread : row->function);
    return CUDA_SUCCESS;
}

int cuGetProcAddress(const char *name, void **ret_function, int version, uint64_t flags)
{
    return cuGetProcAddress_v2(name, ret_function, version, flags, NULL);
}
