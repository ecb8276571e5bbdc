/* python_lines.h: the source line of an instruction of Python.
 *
 * Each table is a list of code ranges, each with the difference of its line to the one before.
 * Freestanding: usable inside the target.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_PYTHON_LINES_H
#define ML_BASE_PYTHON_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a code object encodes the line of an instruction. */
enum ml_python_lines {
    ML_PYTHON_LNOTAB = 1, /* 3.9 */
    ML_PYTHON_LINETABLE,  /* 3.10 */
    ML_PYTHON_LOCATIONS,  /* from 3.11 on */
};

/* Wraps around where a damaged table leads too far. */
static inline int32_t ml_line_add(int32_t line, int32_t difference)
{
    return (int32_t)((uint32_t)line + (uint32_t)difference);
}

/* 3.9: pairs of bytes: the distance in the code to the next line, and the difference of lines. */
static inline int32_t ml_line_in_lnotab(const uint8_t *table, size_t size, int32_t line,
                                        int32_t instruction)
{
    int32_t at = 0;

    for (size_t i = 0; i + 1 < size; i += 2) {
        at += table[i];
        if (at > instruction)
            break;
        line = ml_line_add(line, (int8_t)table[i + 1]);
    }
    return line;
}

/* 3.10: pairs of bytes: the length of a range, and the difference of its line. */
static inline int32_t ml_line_in_linetable(const uint8_t *table, size_t size, int32_t line,
                                           int32_t instruction)
{
    int32_t end = 0;

    for (size_t i = 0; i + 1 < size; i += 2) {
        bool has_line = (int8_t)table[i + 1] != INT8_MIN;
        if (has_line)
            line = ml_line_add(line, (int8_t)table[i + 1]);
        end += table[i];
        if (end > instruction)
            return has_line ? line : 0;
    }
    return 0;
}

/* From 3.11 on a byte with its highest bit set begins a range: its form and its length in words.
 * The following bytes depend on the form. */
enum {
    ML_LINE_FORM_ONE_LINE = 10,   /* 10, 11, 12: the difference plus 10; columns follow */
    ML_LINE_FORM_NO_COLUMNS = 13, /* the difference follows */
    ML_LINE_FORM_LONG = 14,       /* the same, then an end line and columns */
    ML_LINE_FORM_NONE = 15,       /* no line */
};

/* A number in groups of six bits, lowest first, with its sign in its lowest bit. */
static inline int32_t ml_line_number(const uint8_t *p, const uint8_t *end)
{
    uint32_t value = 0;

    for (unsigned shift = 0; p < end && shift < 32; shift += 6) {
        value |= (uint32_t)(*p & 63) << shift;
        if (!(*p++ & 64))
            break;
    }
    return value & 1 ? -(int32_t)(value >> 1) : (int32_t)(value >> 1);
}

static inline int32_t ml_line_difference(unsigned form, const uint8_t *p, const uint8_t *end)
{
    if (form == ML_LINE_FORM_NO_COLUMNS || form == ML_LINE_FORM_LONG)
        return ml_line_number(p, end);
    return form >= ML_LINE_FORM_ONE_LINE && form < ML_LINE_FORM_NO_COLUMNS
               ? (int32_t)form - ML_LINE_FORM_ONE_LINE
               : 0;
}

static inline int32_t ml_line_in_locations(const uint8_t *table, size_t size, int32_t line,
                                           int32_t instruction)
{
    const uint8_t *p = table, *end = table + size;
    int32_t reached = 0;

    while (p < end) {
        unsigned form = *p >> 3 & 15;
        reached += 2 * ((*p & 7) + 1);
        p++;
        line = ml_line_add(line, ml_line_difference(form, p, end));
        if (reached > instruction)
            return form == ML_LINE_FORM_NONE ? 0 : line;
        while (p < end && !(*p & 128))
            p++;
    }
    return 0;
}

/* The source line of an instruction. `table` is the code object's table, `instruction` counts bytes
 * of its code.
 * @return 0: it belongs to no line, or the code has not begun */
static inline uint32_t ml_python_line(enum ml_python_lines kind, const uint8_t *table, size_t size,
                                      int32_t first_line, int32_t instruction)
{
    int32_t line = 0;

    if (instruction < 0)
        return 0;
    if (kind == ML_PYTHON_LNOTAB)
        line = ml_line_in_lnotab(table, size, first_line, instruction);
    else if (kind == ML_PYTHON_LINETABLE)
        line = ml_line_in_linetable(table, size, first_line, instruction);
    else if (kind == ML_PYTHON_LOCATIONS)
        line = ml_line_in_locations(table, size, first_line, instruction);
    return line > 0 ? (uint32_t)line : 0;
}

#endif
