/* python_layout.h: offsets into the structures of CPython that a stack is read from, by version.
 *
 * Tables describe 3.9 to 3.12. From 3.13 on the interpreter itself contains most offsets, in a
 * structure for debuggers at the beginning of _PyRuntime. That structure also changes with each
 * version, so versions after the last one listed are unknown.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PYTHON_LAYOUT_H
#define ML_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "python_lines.h"

/* How a frame stores its instruction. */
enum ml_python_instruction {
    ML_PYTHON_IN_BYTES = 1, /* 3.9: an int, in bytes from the first instruction */
    ML_PYTHON_IN_WORDS,     /* 3.10: an int, in units of two bytes */
    ML_PYTHON_BY_POINTER,   /* from 3.11 on */
};

/* How many frames one call of the interpreter's loop, which is one native frame, runs. */
enum ml_python_runs {
    ML_PYTHON_RUNS_ONE = 1,     /* 3.9, 3.10 */
    ML_PYTHON_RUNS_TO_FLAG,     /* 3.11: up to one with a flag; frame_entry, cframe_previous */
    ML_PYTHON_RUNS_TO_INTERNAL, /* from 3.12 on: up to an internal one, on the native stack */
};

struct ml_python_layout {
    uint8_t runs;        /* enum ml_python_runs */
    uint8_t lines;       /* enum ml_python_lines */
    uint8_t instruction; /* enum ml_python_instruction */
    bool by_cframe;      /* the thread's frame is found through a structure on the C stack */

    uint16_t thread_frame; /* in the thread state: the innermost frame */
    uint16_t cframe_frame;
    uint16_t cframe_previous;

    uint16_t frame_code;
    uint16_t frame_previous;
    uint16_t frame_instruction;
    uint16_t frame_entry;
    uint16_t frame_owner; /* 0: frames have none */

    uint16_t code_file;
    uint16_t code_name;
    uint16_t code_full_name; /* 0: there is none */
    uint16_t code_first_line;
    uint16_t code_lines;
    uint16_t code_instructions; /* the base of instruction pointers */

    uint16_t text_state;
    uint16_t text_length;
    uint16_t text_ascii; /* offset of the characters, of ASCII and of other text */
    uint16_t text_other;
    uint16_t bytes_size;
    uint16_t bytes_data;
};

/* Owners from here on mean an internal frame of the interpreter, without code. */
#define ML_PYTHON_OWNER_NONE 3

/* In every object, in known builds. */
#define ML_PYTHON_TYPE 8

/* The layout of that version (PY_VERSION_HEX), whose _PyRuntime is at `runtime`.
 * @return whether it is known */
bool ml_python_layout(uint32_t version, const void *runtime, struct ml_python_layout *ret);

#endif
