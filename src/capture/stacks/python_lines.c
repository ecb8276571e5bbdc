/* python_lines.c: the source line of an instruction.
 *
 * Each table is a list of code ranges, each with the difference of its line to the one before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdbool.h>

#include "python_layout.h"

/* 3.9: pairs of bytes: the distance in the code to the next line, and the difference of lines. */
static int32_t in_lnotab(const uint8_t *table, size_t size, int32_t line, int32_t instruction)
{
    int32_t at = 0;

    for (size_t i = 0; i + 1 < size; i += 2) {
        at += table[i];
        if (at > instruction)
            break;
        line += (int8_t)table[i + 1];
    }
    return line;
}

/* 3.10: pairs of bytes: the length of a range, and the difference of its line. */
static int32_t in_linetable(const uint8_t *table, size_t size, int32_t line, int32_t instruction)
{
    int32_t end = 0;

    for (size_t i = 0; i + 1 < size; i += 2) {
        bool has_line = (int8_t)table[i + 1] != INT8_MIN;
        if (has_line)
            line += (int8_t)table[i + 1];
        end += table[i];
        if (end > instruction)
            return has_line ? line : 0;
    }
    return 0;
}

/* From 3.11 on a byte with its highest bit set begins a range: its form and its length in words.
 * The following bytes depend on the form. */
enum {
    FORM_ONE_LINE = 10,   /* 10, 11, 12: the difference plus 10; columns follow */
    FORM_NO_COLUMNS = 13, /* the difference follows */
    FORM_LONG = 14,       /* the same, then an end line and columns */
    FORM_NONE = 15,       /* no line */
};

/* A number in groups of six bits, lowest first, with its sign in its lowest bit. */
static int32_t signed_number(const uint8_t *p, const uint8_t *end)
{
    uint32_t value = 0;

    for (unsigned shift = 0; p < end && shift < 32; shift += 6) {
        value |= (uint32_t)(*p & 63) << shift;
        if (!(*p++ & 64))
            break;
    }
    return value & 1 ? -(int32_t)(value >> 1) : (int32_t)(value >> 1);
}

static int32_t difference(unsigned form, const uint8_t *p, const uint8_t *end)
{
    if (form == FORM_NO_COLUMNS || form == FORM_LONG)
        return signed_number(p, end);
    return form >= FORM_ONE_LINE && form < FORM_NO_COLUMNS ? (int32_t)form - FORM_ONE_LINE : 0;
}

static int32_t in_locations(const uint8_t *table, size_t size, int32_t line, int32_t instruction)
{
    const uint8_t *p = table, *end = table + size;
    int32_t reached = 0;

    while (p < end) {
        unsigned form = *p >> 3 & 15;
        reached += 2 * ((*p & 7) + 1);
        p++;
        line += difference(form, p, end);
        if (reached > instruction)
            return form == FORM_NONE ? 0 : line;
        while (p < end && !(*p & 128))
            p++;
    }
    return 0;
}

uint32_t ml_python_line(enum ml_python_lines kind, const uint8_t *table, size_t size,
                        int32_t first_line, int32_t instruction)
{
    int32_t line = 0;

    if (instruction < 0)
        return 0;
    if (kind == ML_PYTHON_LNOTAB)
        line = in_lnotab(table, size, first_line, instruction);
    else if (kind == ML_PYTHON_LINETABLE)
        line = in_linetable(table, size, first_line, instruction);
    else if (kind == ML_PYTHON_LOCATIONS)
        line = in_locations(table, size, first_line, instruction);
    return line > 0 ? (uint32_t)line : 0;
}
