/* torch_frames.h: what the stack of an allocation says about its purpose.
 *
 * A snapshot has no modules, phases or categories, but the functions of PyTorch in a stack show
 * them: the forward of a module, a backward pass, an optimizer's step, the conversion of a model's
 * parameters. A frame has no class, only a file, a function and a line. Modules of torch.nn are
 * named after the class that their file defines, others after their file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TORCH_FRAMES_H
#define ML_TORCH_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "dict.h"
#include "map.h"
#include "vec.h"

/* A scope that a stack is in. */
struct ml_torch_call {
    uint32_t kind; /* enum memledger_scope_kind */
    uint32_t name;
    uint32_t class_name; /* 0: unknown */
    uint32_t frame;      /* of the function that runs in it, + 1; 0: of no matter */
};

struct ml_torch_place {
    uint32_t first_call, call_count; /* outermost first */
    uint8_t phase;                   /* enum ml_phase, of the outermost call */
    uint8_t category;                /* that the functions imply, else MEMLEDGER_OTHER */
    uint32_t workspace;              /* the name of the library that the block is for; 0: none */
    bool multiplies; /* the innermost function in Python is one of torch.nn that multiplies
                      * matrices, and has no memory of its own */
};

/* All zero bytes, except for the dictionary, is a valid one without stacks. */
struct ml_torch_places {
    struct ml_dict *dict;
    bool telling;              /* a stack so far says something */
    bool has_backward;         /* a stack so far is in backward */
    ML_VEC(uint32_t) by_stack; /* index of its place + 1; 0: not looked at yet */
    ML_VEC(struct ml_torch_place) list;
    ML_VEC(struct ml_torch_call) calls;
    ML_VEC(uint32_t) frames; /* of the stack that is being looked at, innermost first */
    struct ml_map class_of;  /* frame of a module's forward -> name of its class */
};

void ml_torch_places_release(struct ml_torch_places *places);

/* Learns the classes of modules from all stacks of the dictionary, so that a module has the same
 * name in each. Call it before the next function. @return 0 or -ENOMEM */
int ml_torch_places_learn(struct ml_torch_places *places);

/* The place of a stack. The pointer is valid until the next call.
 * @stack   of the dictionary, not 0
 * @return  NULL: out of memory */
const struct ml_torch_place *ml_torch_place_of(struct ml_torch_places *places, uint32_t stack);

#endif
