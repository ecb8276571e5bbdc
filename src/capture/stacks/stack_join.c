/* stack_join.c: see stack_join.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stack_join.h"

#include "python_walk.h"
#include "ring.h"

struct joining {
    const struct ml_join *in;
    uint32_t python; /* frames that are done */
    uint32_t n;
    uint64_t *ret;
};

static void put(struct joining *j, uint64_t word)
{
    if (j->n < ML_STACK_MAX_FRAMES)
        j->ret[j->n++] = word;
}

/* Puts Python frames up to the index. */
static void put_python(struct joining *j, uint32_t end)
{
    for (; j->python < end; j->python++) {
        if (j->in->numbers[j->python])
            put(j, ML_STACK_PYTHON_FRAME | j->in->numbers[j->python]);
    }
}

/* The end of the Python frames that one native frame runs, from the next one on. 0: there are
 * none, or it is not known which. */
static uint32_t run_end(const struct joining *j)
{
    for (uint32_t i = j->python; i < j->in->python; i++) {
        if (j->in->runners[i])
            return i + 1;
    }
    return 0;
}

static bool in_loop(const struct ml_join *in, uint32_t frame)
{
    return in->pcs[frame] - 1 - in->loop.begin < in->loop.end - in->loop.begin;
}

/* Whether the native frame's memory contains the address. That of the last one has no known end. */
static bool contains(const struct ml_join *in, uint32_t frame, uintptr_t address)
{
    return address >= in->sps[frame] && frame + 1 < in->native && address < in->sps[frame + 1];
}

static void join_frame(struct joining *j, uint32_t frame)
{
    const struct ml_join *in = j->in;
    uint32_t end = run_end(j);
    uintptr_t runner = end ? in->runners[end - 1] : 0;

    /* A runner that the walk did not meet is further in. */
    while (end && runner != ML_PYTHON_ANY_RUNNER && runner < in->sps[frame]) {
        put_python(j, end);
        end = run_end(j);
        runner = end ? in->runners[end - 1] : 0;
    }
    if (end && (runner == ML_PYTHON_ANY_RUNNER ? in_loop(in, frame) : contains(in, frame, runner)))
        put_python(j, end);
    else
        put(j, in->pcs[frame]);
}

static uint32_t frames_in_loop(const struct ml_join *in)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < in->native; i++)
        n += in_loop(in, i);
    return n;
}

/* The native frames to go through. If it is unclear which of them runs which Python frame, because
 * the compiler has moved part of the loop to another place, those up to the first. */
static uint32_t frames_to_join(const struct ml_join *in)
{
    uint32_t n = 0;

    if (!in->python || in->runners[0] != ML_PYTHON_ANY_RUNNER || in->is_cut ||
        frames_in_loop(in) == in->python)
        return in->native;
    while (n < in->native && !in_loop(in, n))
        n++;
    return n;
}

uint32_t ml_stack_join(const struct ml_join *in, uint64_t *ret)
{
    struct joining j = {.in = in, .ret = ret};
    uint32_t frames = frames_to_join(in);

    for (uint32_t i = 0; i < frames; i++)
        join_frame(&j, i);
    put_python(&j, in->python);
    return j.n;
}
