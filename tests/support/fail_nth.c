/* fail_nth.c: see fail_nth.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fail_nth.h"

#include <stddef.h>

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *p, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *p, size_t bytes);

static long allowed = -1; /* allocations until one fails; negative: all succeed */
static bool goes_on;      /* the ones after it fail too */
static bool refused;

static void begin(long n, bool then_all)
{
    goes_on = then_all;
    refused = false;
    allowed = n;
}

void fail_nth(long n)
{
    begin(n, false);
}

void fail_from_nth(long n)
{
    begin(n, true);
}

bool fail_end(void)
{
    allowed = -1;
    return refused;
}

static bool refuse(void)
{
    bool now = allowed == 0;

    if (allowed > 0 || (now && !goes_on))
        allowed--;
    refused |= now;
    return now;
}

void *__wrap_malloc(size_t bytes)
{
    return refuse() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return refuse() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *p, size_t bytes)
{
    return refuse() ? NULL : __real_realloc(p, bytes);
}
