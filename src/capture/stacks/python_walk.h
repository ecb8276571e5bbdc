/* python_walk.h: where the calling thread is in Python, without the interpreter's
 * lock.
 *
 * A thread's own frames stand still while it is in C, whoever else holds the lock, and
 * keep their code objects alive. Nothing else is read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PYTHON_WALK_H
#define ML_PYTHON_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "python_find.h"
#include "ring.h"

/* An instruction of a code object. Code objects die and others take their address;
 * the rest tells them apart. */
struct ml_python_place {
    uintptr_t code;
    uintptr_t file; /* str objects */
    uintptr_t name;
    uint64_t lines; /* made of the size, the begin and the end of its table of lines */
    int32_t instruction;
    int32_t first_line;
};

struct ml_python_walk {
    unsigned n;
    uint32_t hash;                                      /* of code objects and instructions */
    struct ml_python_place places[ML_STACK_MAX_FRAMES]; /* innermost first */
};

/* Frames beyond ML_STACK_MAX_FRAMES are left out, and so are those of the interpreter's
 * own. None: the thread runs no Python. */
void ml_python_walk(const struct ml_python *py, struct ml_python_walk *ret);

/* The same with an eye on every step, for the first time: whether the layout is what
 * was taken for it. A few system calls for each frame. */
enum ml_python_sound { ML_PYTHON_NO_FRAMES, ML_PYTHON_SOUND, ML_PYTHON_UNSOUND };
enum ml_python_sound ml_python_try(const struct ml_python *py);

#endif
