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

uintptr_t ml_python_innermost(const struct ml_python *py)
{
    uintptr_t frame = py->finalizing() ? 0 : first_frame(py, false);

    return ml_python_plausible(frame) ? frame : 0;
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

uintptr_t ml_python_next_code(const struct ml_python *py, uintptr_t *frame)
{
    uintptr_t code = 0;

    for (unsigned i = 0; !code && *frame && i < STEPS_MAX; i++) {
        uintptr_t found = has_code(py, *frame) ? code_of(py, *frame) : 0;
        uintptr_t caller = ml_python_word(*frame + py->layout.frame_previous);

        if (ml_python_plausible(found) && ml_python_is(found, py->code_type))
            code = found;
        *frame = ml_python_plausible(caller) ? caller : 0;
    }
    return code;
}

/* ---- Native frames ------------------------------------------------------------- */

/* The structure on the native stack that the frames to come are run with. */
static ML_ALWAYS_INLINE uintptr_t first_cframe(const struct ml_python *py)
{
    if (py->layout.runs != ML_PYTHON_RUNS_TO_FLAG)
        return 0;
    return ml_python_word((uintptr_t)py->thread_state() + py->layout.thread_frame);
}

static ML_ALWAYS_INLINE bool is_entry(const struct ml_python_layout *at, uintptr_t frame)
{
    return at->runs == ML_PYTHON_RUNS_TO_FLAG && ml_python_byte(frame + at->frame_entry);
}

/* The runner of a frame with code, as far as the frame says. */
static ML_ALWAYS_INLINE uintptr_t runner_of(const struct ml_python_layout *at, uintptr_t frame,
                                            uintptr_t *cframe)
{
    uintptr_t runner = *cframe;

    if (at->runs == ML_PYTHON_RUNS_ONE)
        return ML_PYTHON_ANY_RUNNER;
    if (!is_entry(at, frame) || !ml_python_plausible(runner))
        return 0;
    *cframe = ml_python_word(runner + at->cframe_previous);
    return runner;
}

/* ---- Instructions -------------------------------------------------------------- */

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

/* A word that is different for every instruction. */
static ML_ALWAYS_INLINE uint64_t instruction_word(const struct ml_python_layout *at,
                                                  uintptr_t frame)
{
    uintptr_t field = frame + at->frame_instruction;

    if (at->instruction == ML_PYTHON_BY_POINTER)
        return ml_python_word(field) | (uint64_t)is_entry(at, frame) << 63;
    return ml_python_word(frame + at->frame_code) ^ (uint64_t)(uint32_t)ml_python_int(field) << 40;
}

uint64_t ml_python_trail(const struct ml_python *py)
{
    uintptr_t frame = py->finalizing() ? 0 : first_frame(py, false);
    uint64_t hash = 0;
    unsigned n = 0;

    for (unsigned i = 0; i < STEPS_MAX && n < ML_STACK_MAX_FRAMES; i++) {
        if (!ml_python_plausible(frame))
            break;
        hash = (hash ^ instruction_word(&py->layout, frame)) * MIXER;
        hash ^= hash >> 32;
        n += has_code(py, frame);
        frame = ml_python_word(frame + py->layout.frame_previous);
    }
    return n ? hash | 1 : 0;
}

void ml_python_walk(const struct ml_python *py, struct ml_python_walk *ret)
{
    uintptr_t frame = py->finalizing() ? 0 : first_frame(py, false);
    uintptr_t cframe = frame ? first_cframe(py) : 0;
    uint64_t hash = 0;
    unsigned n = 0;

    for (unsigned i = 0; i < STEPS_MAX && n < ML_STACK_MAX_FRAMES; i++) {
        struct ml_python_place *place = &ret->places[n];
        if (!ml_python_plausible(frame))
            break;
        if (has_code(py, frame) && place_of(py, frame, place)) {
            hash = mix(hash, place);
            ret->runners[n] = runner_of(&py->layout, frame, &cframe);
            n++;
        } else if (n && !has_code(py, frame) && !ret->runners[n - 1]) {
            ret->runners[n - 1] = frame;
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
