/* python_layout.c: see python_layout.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "python_layout.h"

#include <stddef.h>
#include <string.h>

/* Strings and bytes, which have the same layout in several versions. */
#define TEXT_BEFORE_3_12                                                                           \
    .text_state = 32, .text_length = 16, .text_ascii = 48, .text_other = 72, BYTES
#define TEXT_3_12 .text_state = 32, .text_length = 16, .text_ascii = 40, .text_other = 56, BYTES
#define BYTES .bytes_size = 16, .bytes_data = 32

static const struct ml_python_layout python_3_9 = {
    .runs = ML_PYTHON_RUNS_ONE,
    .lines = ML_PYTHON_LNOTAB,
    .instruction = ML_PYTHON_IN_BYTES,
    .thread_frame = 24,
    .frame_previous = 24,
    .frame_code = 32,
    .frame_instruction = 104,
    .code_first_line = 40,
    .code_file = 104,
    .code_name = 112,
    .code_lines = 120,
    TEXT_BEFORE_3_12,
};

static const struct ml_python_layout python_3_10 = {
    .runs = ML_PYTHON_RUNS_ONE,
    .lines = ML_PYTHON_LINETABLE,
    .instruction = ML_PYTHON_IN_WORDS,
    .thread_frame = 24,
    .frame_previous = 24,
    .frame_code = 32,
    .frame_instruction = 96,
    .code_first_line = 40,
    .code_file = 104,
    .code_name = 112,
    .code_lines = 120,
    TEXT_BEFORE_3_12,
};

static const struct ml_python_layout python_3_11 = {
    .runs = ML_PYTHON_RUNS_TO_FLAG,
    .lines = ML_PYTHON_LOCATIONS,
    .instruction = ML_PYTHON_BY_POINTER,
    .by_cframe = true,
    .thread_frame = 56,
    .cframe_frame = 8,
    .cframe_previous = 16,
    .frame_code = 32,
    .frame_previous = 48,
    .frame_instruction = 56,
    .frame_entry = 68,
    .frame_owner = 69,
    .code_first_line = 72,
    .code_file = 112,
    .code_name = 120,
    .code_full_name = 128,
    .code_lines = 136,
    .code_instructions = 184,
    TEXT_BEFORE_3_12,
};

static const struct ml_python_layout python_3_12 = {
    .runs = ML_PYTHON_RUNS_TO_INTERNAL,
    .lines = ML_PYTHON_LOCATIONS,
    .instruction = ML_PYTHON_BY_POINTER,
    .by_cframe = true,
    .thread_frame = 56,
    .cframe_frame = 0,
    .frame_code = 0,
    .frame_previous = 8,
    .frame_instruction = 56,
    .frame_owner = 70,
    .code_first_line = 68,
    .code_file = 112,
    .code_name = 120,
    .code_full_name = 128,
    .code_lines = 136,
    .code_instructions = 192,
    TEXT_3_12,
};

/* ---- The interpreter's structure for debuggers --------------------------------- */

#define COOKIE "xdebugpy"

/* Its first words: 8 bytes of cookie, then numbers. */
enum { WORD_VERSION = 1, WORD_FREE_THREADED = 2 };

/* The index of the first word of each part, which differs between versions. */
struct debug_words {
    uint16_t thread_frame;
    uint16_t frame; /* size, previous, code, instruction, local variables, owner */
    uint16_t code;  /* size, file, name, full name, lines, first line, …, instructions */
    uint16_t object_type;
    uint16_t bytes; /* size, length, data */
    uint16_t text;  /* size, state, length, size of a string that is ASCII */
};

static const struct debug_words words_3_13 = {
    .thread_frame = 23, .frame = 28, .code = 34, .object_type = 45, .bytes = 64, .text = 67};
static const struct debug_words words_3_14 = {
    .thread_frame = 26, .frame = 31, .code = 39, .object_type = 51, .bytes = 74, .text = 77};

/* After its head, a string that is not ASCII has a length and a pointer. */
#define TEXT_OTHER_MORE 16

static uint16_t offset(const uint64_t *words, unsigned which, bool *ok)
{
    if (words[which] > UINT16_MAX)
        *ok = false;
    return (uint16_t)words[which];
}

static bool layout_from_runtime(uint32_t version, const void *runtime, const struct debug_words *at,
                                struct ml_python_layout *ret)
{
    const uint64_t *words = runtime;
    const unsigned frame = at->frame, code = at->code;
    bool ok = true;

    if (memcmp(runtime, COOKIE, sizeof(*words)) || words[WORD_VERSION] != version ||
        words[WORD_FREE_THREADED])
        return false;
    *ret = (struct ml_python_layout){
        .runs = ML_PYTHON_RUNS_TO_INTERNAL,
        .lines = ML_PYTHON_LOCATIONS,
        .instruction = ML_PYTHON_BY_POINTER,
        .thread_frame = offset(words, at->thread_frame, &ok),
        .frame_previous = offset(words, frame + 1, &ok),
        .frame_code = offset(words, frame + 2, &ok),
        .frame_instruction = offset(words, frame + 3, &ok),
        .frame_owner = offset(words, frame + 5, &ok),
        .code_file = offset(words, code + 1, &ok),
        .code_name = offset(words, code + 2, &ok),
        .code_full_name = offset(words, code + 3, &ok),
        .code_lines = offset(words, code + 4, &ok),
        .code_first_line = offset(words, code + 5, &ok),
        .code_instructions = offset(words, code + 9, &ok),
        .bytes_size = offset(words, at->bytes + 1, &ok),
        .bytes_data = offset(words, at->bytes + 2, &ok),
        .text_state = offset(words, at->text + 1, &ok),
        .text_length = offset(words, at->text + 2, &ok),
        .text_ascii = offset(words, at->text + 3, &ok),
    };
    ret->text_other = ret->text_ascii + TEXT_OTHER_MORE;
    return ok && words[at->object_type] == ML_PYTHON_TYPE;
}

bool ml_python_layout(uint32_t version, const void *runtime, struct ml_python_layout *ret)
{
    switch (version >> 16) {
    case 0x309: *ret = python_3_9; return true;
    case 0x30a: *ret = python_3_10; return true;
    case 0x30b: *ret = python_3_11; return true;
    case 0x30c: *ret = python_3_12; return true;
    case 0x30d: return layout_from_runtime(version, runtime, &words_3_13, ret);
    case 0x30e: return layout_from_runtime(version, runtime, &words_3_14, ret);
    default: return false;
    }
}
