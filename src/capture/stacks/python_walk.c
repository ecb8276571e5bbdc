/* python_walk.c: see python_walk.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "python_walk.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "compiler.h"
#include "filtered.h"
#include "python_memory.h"

/* Frames to look at, including internal ones of the interpreter. */
#define STEPS_MAX (4 * ML_STACK_MAX_FRAMES)

/* Odd, with bits spread over the word. */
#define MIXER 0x9e3779b97f4a7c15u

/* Whether a word can be read there: the kernel fetches the argument before it finds the call
 * invalid. */
static bool readable(uintptr_t at)
{
    int saved_errno = errno;
    bool ok = ml_calls_allowed() &&
              syscall(SYS_rt_sigprocmask, ~0L, at, NULL, sizeof(uint64_t)) == -1 && errno != EFAULT;

    errno = saved_errno;
    return ok;
}

/* Whether an object is readable from its beginning to the last field that is used. */
static bool object_readable(uintptr_t at, uint16_t last_field)
{
    return ml_python_plausible(at) && readable(at) && readable(at + last_field);
}

/* ---- Frames -------------------------------------------------------------------- */

/* The thread's innermost frame, 0: none. */
static ML_ALWAYS_INLINE uintptr_t first_frame(const struct ml_python *py, bool careful)
{
    const struct ml_python_layout *at = &py->layout;
    uintptr_t state = (uintptr_t)py->thread_state();

    if (!state || (careful && !object_readable(state, at->thread_frame)))
        return 0;
    if (!at->by_cframe)
        return ml_python_word(state + at->thread_frame);
    state = ml_python_word(state + at->thread_frame);
    if (!ml_python_plausible(state) || (careful && !object_readable(state, at->cframe_frame)))
        return 0;
    return ml_python_word(state + at->cframe_frame);
}

/* Some versions use the lowest bit of a reference as a flag. */
static ML_ALWAYS_INLINE uintptr_t code_of(const struct ml_python *py, uintptr_t frame)
{
    return ml_python_word(frame + py->layout.frame_code) & ~(uintptr_t)7;
}

static ML_ALWAYS_INLINE bool has_code(const struct ml_python *py, uintptr_t frame)
{
    uint16_t owner = py->layout.frame_owner;

    return !owner || ml_python_byte(frame + owner) < ML_PYTHON_OWNER_NONE;
}

/* In bytes from the first instruction; negative: the code has not begun. */
static ML_ALWAYS_INLINE int32_t instruction_of(const struct ml_python_layout *at, uintptr_t frame,
                                               uintptr_t code)
{
    uintptr_t field = frame + at->frame_instruction;

    if (at->instruction == ML_PYTHON_BY_POINTER)
        return (int32_t)(ml_python_word(field) - code - at->code_instructions);
    return ml_python_int(field) * (at->instruction == ML_PYTHON_IN_WORDS ? 2 : 1);
}

/* ---- Code objects -------------------------------------------------------------- */

/* All of a table that has a few bytes, otherwise its size and its two ends. The last word may begin
 * before the table, but within the object. */
static ML_ALWAYS_INLINE uint64_t lines_of(const struct ml_python_layout *at, uintptr_t table)
{
    uint64_t size = ml_python_word(table + at->bytes_size);
    uintptr_t data = table + at->bytes_data;
    uint64_t end = ml_python_word(data + size - sizeof(uint64_t)) * (size > 0);

    if (size < sizeof(uint64_t))
        return size ^ (end >> (64 - 8 * size) % 64) << 8;
    return size ^ ml_python_word(data) * MIXER ^ end * (MIXER >> 7 | 1);
}

static ML_ALWAYS_INLINE bool place_of(const struct ml_python *py, uintptr_t frame,
                                      struct ml_python_place *ret)
{
    const struct ml_python_layout *at = &py->layout;
    uintptr_t code = code_of(py, frame);

    if (!ml_python_plausible(code) || !ml_python_is(code, py->code_type))
        return false;
    *ret = (struct ml_python_place){
        .code = code,
        .file = ml_python_word(code + at->code_file),
        .name = ml_python_word(code + at->code_name),
        .lines = lines_of(at, ml_python_word(code + at->code_lines)),
        .instruction = instruction_of(at, frame, code),
        .first_line = ml_python_int(code + at->code_first_line),
    };
    return true;
}

/* Whole places are compared later, so this has to be fast rather than good. */
static ML_ALWAYS_INLINE uint64_t mix(uint64_t hash, const struct ml_python_place *place)
{
    return (hash ^ place->code ^ (uint64_t)place->instruction << 40) * MIXER;
}

void ml_python_walk(const struct ml_python *py, struct ml_python_walk *ret)
{
    uintptr_t frame = py->finalizing() ? 0 : first_frame(py, false);
    uint64_t hash = 0;
    unsigned n = 0;

    for (unsigned i = 0; i < STEPS_MAX && n < ML_STACK_MAX_FRAMES; i++) {
        struct ml_python_place *place = &ret->places[n];
        if (!ml_python_plausible(frame))
            break;
        if (has_code(py, frame) && place_of(py, frame, place)) {
            hash = mix(hash, place);
            n++;
        }
        frame = ml_python_word(frame + py->layout.frame_previous);
    }
    ret->n = n;
    ret->hash = (uint32_t)(hash >> 32);
}

/* ---- The first time ------------------------------------------------------------ */

static bool is(uintptr_t object, uintptr_t type)
{
    return ml_python_plausible(object) && readable(object + ML_PYTHON_TYPE) &&
           ml_python_is(object, type);
}

static bool sound_code(const struct ml_python *py, uintptr_t code)
{
    const struct ml_python_layout *at = &py->layout;

    return object_readable(code, at->code_lines) && ml_python_is(code, py->code_type) &&
           is(ml_python_word(code + at->code_file), py->text_type) &&
           is(ml_python_word(code + at->code_name), py->text_type) &&
           is(ml_python_word(code + at->code_lines), py->bytes_type) &&
           (!at->code_full_name || is(ml_python_word(code + at->code_full_name), py->text_type));
}

enum ml_python_sound ml_python_try(const struct ml_python *py)
{
    uintptr_t frame = py->finalizing() ? 0 : first_frame(py, true);
    uint16_t owner = py->layout.frame_owner, last_field = py->layout.frame_instruction;
    enum ml_python_sound sound = ML_PYTHON_NO_FRAMES;

    if (owner > last_field)
        last_field = owner;
    for (unsigned i = 0; i < STEPS_MAX && frame; i++) {
        if (!object_readable(frame, last_field))
            return ML_PYTHON_UNSOUND;
        if (has_code(py, frame)) {
            if (!sound_code(py, code_of(py, frame)))
                return ML_PYTHON_UNSOUND;
            sound = ML_PYTHON_SOUND;
        }
        frame = ml_python_word(frame + py->layout.frame_previous);
    }
    return sound;
}
