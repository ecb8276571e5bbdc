/* cuda_steps.h: shared by the steps of cuda_steps.
 *
 * A step is VERB[:ARGUMENT]...; see the tables in cuda_steps_memory.c and
 * cuda_steps_other.c. What a step makes becomes an object with the next number,
 * from 0 on, by which later steps name it; numbers of what was freed stay valid,
 * so that a program may be wrong on purpose.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CUDA_STEPS_H
#define CUDA_STEPS_H

#include "cuda_api.h"

#define STEP_ARGS_MAX 4
#define STEP_OBJECTS_MAX 262144

struct step_object {
    cuda_address address; /* or what the handle points to */
    uint64_t bytes;
    void *handle;
    void *second; /* of things that come in pairs: a graph's node and its launcher */
};

struct step {
    const char *text;
    uint64_t args[STEP_ARGS_MAX]; /* sizes with K, M or G; what is not given is 0 */
    unsigned arg_count;
    struct step_object made; /* filled in by verbs that make something */
    bool makes;
};

struct step_verb {
    const char *name;
    int (*run)(struct step *step); /* returns the driver's result */
};

/* Ended by a row without a name. */
extern const struct step_verb memory_verbs[];
extern const struct step_verb other_verbs[];

/* The object with that number; ends the program when there is none. */
struct step_object *step_object(uint64_t number);

/* The handle of the object that an argument names; NULL when it is not given. */
void *step_handle(const struct step *step, unsigned arg);

#endif
