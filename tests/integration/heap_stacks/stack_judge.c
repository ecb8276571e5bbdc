/* stack_judge.c: a library to preload that compares the recorder's walk with libgcc's unwinder, in
 * the mallocs of any program.
 *
 * Every process appends a line to the file that STACK_JUDGE names: the number of stacks that were
 * equal, that ended early, and that differed, and the first difference.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <unwind.h>

#include "compiler.h"
#include "frame_step.h"

#define FRAMES_MAX 512
#define EVERY 5 /* calls of malloc */

extern void *__libc_malloc(size_t bytes);

struct frames {
    unsigned n;
    uintptr_t pc[FRAMES_MAX];
};

static struct {
    _Atomic unsigned calls, same, early, different;
    _Atomic uintptr_t ours, theirs; /* the first frame that differed */
    bool is_ready;
} judged;

static __thread bool inside;
static __thread struct ml_stack_range stack;

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *arg)
{
    struct frames *frames = arg;

    frames->pc[frames->n] = _Unwind_GetIP(context);
    frames->n += frames->pc[frames->n] != 0;
    return frames->n < FRAMES_MAX ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static enum ml_unwound walk(struct ml_native_frame f, struct frames *ret)
{
    uint32_t unloads = ml_row_unloads();
    enum ml_unwound step = ML_UNWOUND_DONE;

    if (!ml_stack_covers(&stack, f.sp))
        ml_stack_cover(&stack, f.sp);
    while (step == ML_UNWOUND_DONE && ret->n < FRAMES_MAX - 1) {
        ret->pc[ret->n++] = f.pc;
        step = ml_unwind_step(&stack, unloads, &f);
    }
    return step;
}

/* The first frame is malloc's own, which we leave out. */
static void judge(enum ml_unwound end, const struct frames *ours, const struct frames *theirs)
{
    for (unsigned i = 0; i < ours->n; i++) {
        uintptr_t there = i + 1 < theirs->n ? theirs->pc[i + 1] : 0;
        if (ours->pc[i] == there)
            continue;
        if (!judged.different++) {
            judged.ours = ours->pc[i];
            judged.theirs = there;
        }
        return;
    }
    if (ours->n + 1 == theirs->n)
        judged.same++;
    else if (end == ML_UNWOUND_LOST || end == ML_UNWOUND_COMPLEX)
        judged.early++;
    else
        judged.different++;
}

static ML_NOINLINE void compare(const void *frame_address)
{
    static __thread struct frames ours, theirs;

    ours.n = theirs.n = 0;
    _Unwind_Backtrace(on_frame, &theirs);
    /* libgcc began with this function. */
    for (unsigned i = 1; i < theirs.n; i++)
        theirs.pc[i - 1] = theirs.pc[i];
    theirs.n--;
    judge(walk(ml_frame_of_caller(frame_address), &ours), &ours, &theirs);
}

__attribute__((visibility("default"))) void *malloc(size_t bytes)
{
    if (judged.is_ready && !inside && judged.calls++ % EVERY == 0) {
        inside = true;
        compare(__builtin_frame_address(0));
        inside = false;
    }
    return __libc_malloc(bytes);
}

static __attribute__((constructor)) void start(void)
{
    ml_unwind_init();
    judged.is_ready = true;
}

static __attribute__((destructor)) void report(void)
{
    const char *path = getenv("STACK_JUDGE");
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;

    judged.is_ready = false;
    if (fd < 0)
        return;
    dprintf(fd, "%u %u %u %#lx %#lx\n", judged.same, judged.early, judged.different,
            (unsigned long)judged.ours, (unsigned long)judged.theirs);
    close(fd);
}
