/* python_walk.h: reads the calling thread's position in Python, without the interpreter's lock.
 *
 * A thread's own frames do not change while it is in C, whichever thread holds the lock, and keep
 * their code objects alive. Nothing else is read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PYTHON_WALK_H
#define ML_PYTHON_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "python_find.h"
#include "ring.h"

/* An instruction of a code object. Code objects are freed and others get their address; the other
 * fields distinguish them. */
struct ml_python_place {
    uintptr_t code;
    uintptr_t file; /* str objects */
    uintptr_t name;
    uint64_t lines; /* from the size and both ends of its table of lines */
    int32_t instruction;
    int32_t first_line;
};

/* A runner where every frame has its own, and the frame does not say which. */
#define ML_PYTHON_ANY_RUNNER 1u

struct ml_python_walk {
    unsigned n;
    uint32_t hash;                                      /* of code objects and instructions */
    struct ml_python_place places[ML_STACK_MAX_FRAMES]; /* innermost first */
    /* The native frame that runs a Python frame: an address on the native stack, inside of it. 0:
     * the same one runs the caller too. */
    uintptr_t runners[ML_STACK_MAX_FRAMES];
};

/* The thread's innermost frame, as an address in the interpreter; 0: it runs no Python. */
uintptr_t ml_python_innermost(const struct ml_python *py);

/* The code object of a frame, or of the next one outside of it that has code; 0: none has. Moves
 * the frame to its caller, 0 for the outermost. */
uintptr_t ml_python_next_code(const struct ml_python *py, uintptr_t *frame);

/* A hash of the frames that ml_python_walk finds, by the addresses of their instructions and code
 * objects, which may be those of other code once a code object has been freed. 0: the thread runs
 * no Python. */
uint64_t ml_python_trail(const struct ml_python *py);

/* Frames beyond ML_STACK_MAX_FRAMES and internal frames of the interpreter are left out. No frames:
 * the thread runs no Python. */
void ml_python_walk(const struct ml_python *py, struct ml_python_walk *ret);

/* The same, checking every step, for the first time: whether the layout is as assumed. Takes a few
 * system calls per frame. */
enum ml_python_sound { ML_PYTHON_NO_FRAMES, ML_PYTHON_SOUND, ML_PYTHON_UNSOUND };
enum ml_python_sound ml_python_try(const struct ml_python *py);

#endif
