/* smi_columns.c: see smi_columns.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "smi_columns.h"

#include <string.h>

#include "compiler.h"

static const struct {
    const char *name;
    enum ml_smi_column column;
} known[] = {
    {"memory.used", ML_SMI_USED},    {"memory.free", ML_SMI_FREE},
    {"memory.total", ML_SMI_TOTAL},  {"timestamp", ML_SMI_TIMESTAMP},
    {"index", ML_SMI_INDEX},         {"uuid", ML_SMI_IDENTITY},
    {"gpu_uuid", ML_SMI_IDENTITY},   {"pci.bus_id", ML_SMI_IDENTITY},
    {"gpu_bus_id", ML_SMI_IDENTITY}, {"serial", ML_SMI_IDENTITY},
    {"gpu_serial", ML_SMI_IDENTITY}, {"name", ML_SMI_NAME},
    {"gpu_name", ML_SMI_NAME},
};

/* "memory.used [MiB]" without its unit. */
static struct ml_slice without_unit(struct ml_slice p)
{
    const char *bracket = p.len ? memchr(p.text, '[', p.len) : NULL;

    if (bracket)
        p.len = (size_t)(bracket - p.text);
    return ml_slice_trim(p);
}

static enum ml_smi_column column_of(struct ml_slice name)
{
    for (size_t i = 0; i < ML_ARRAY_SIZE(known); i++)
        if (ml_slice_is(name, known[i].name))
            return known[i].column;
    return ML_SMI_OTHER;
}

bool ml_smi_columns_named(struct ml_slice line, struct ml_smi_columns *ret)
{
    struct ml_smi_columns found = {.count = 0};
    struct ml_slice name;
    bool memory = false;

    while (ml_slice_next(&line, ',', &name)) {
        enum ml_smi_column column = column_of(without_unit(name));

        if (found.count == ML_SMI_COLUMNS_MAX)
            return false;
        memory |= column == ML_SMI_USED || column == ML_SMI_FREE || column == ML_SMI_TOTAL;
        found.kinds[found.count++] = column;
    }
    if (memory)
        *ret = found;
    return memory;
}

/* ---- Times -------------------------------------------------------------- */

/* Days since 1970-01-01 of a date of the Gregorian calendar. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t m = month <= 2 ? month + 9 : month - 3; /* March is 0, so that leap days come last */

    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

static bool take_sign(struct ml_slice *p, char sign)
{
    if (p->len == 0 || p->text[0] != sign)
        return false;
    p->text++;
    p->len--;
    return true;
}

/* The decimals, as nanoseconds. */
static bool take_fraction(struct ml_slice *p, uint64_t *ret)
{
    uint64_t digits;
    size_t before = p->len, count;

    if (!ml_slice_take_u64(p, &digits))
        return false;
    count = before - p->len;
    if (count > 9)
        return false;
    for (; count < 9; count++)
        digits *= 10;
    *ret = digits;
    return true;
}

bool ml_smi_time(struct ml_slice p, uint64_t *ret_ns)
{
    uint64_t v[6], fraction = 0;
    static const char signs[6] = {'/', '/', ' ', ':', ':', '.'};

    for (int i = 0; i < 6; i++) {
        if (!ml_slice_take_u64(&p, &v[i]))
            return false;
        if (i < 5 && !take_sign(&p, signs[i]))
            return false;
    }
    if (take_sign(&p, signs[5]) && !take_fraction(&p, &fraction))
        return false;
    if (p.len || v[0] < 1970 || v[0] > 2500 || v[1] < 1 || v[1] > 12 || v[2] < 1 || v[2] > 31 ||
        v[3] > 23 || v[4] > 59 || v[5] > 60)
        return false;
    *ret_ns = ((uint64_t)days_of((int64_t)v[0], (int64_t)v[1], (int64_t)v[2]) * 86400 +
               v[3] * 3600 + v[4] * 60 + v[5]) *
                  1000000000u +
              fraction;
    return true;
}
