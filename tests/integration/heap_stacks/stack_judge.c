/* stack_judge.c: a library to preload that compares the recorder's walk with libgcc's unwinder, in
 * the mallocs of any program.
 *
 * Every process appends a line to the file that STACK_JUDGE names: the number of stacks that were
 * equal, that ended early, and that differed, and the first differences: the number of the frame,
 * our address, theirs. STACK_JUDGE_EVERY is how many calls of malloc lie between two that are
 * compared.
 *
 * Built with JUDGE_LIBUNWIND, it compares with libunwind instead. That is opened privately: it has
 * functions of libgcc's names, which the program's exceptions must not find.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifdef JUDGE_LIBUNWIND
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#endif
#include <dlfcn.h>
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
#define EVERY 5 /* calls of malloc, unless STACK_JUDGE_EVERY says how many */
#define LISTED 8u

extern void *__libc_malloc(size_t bytes);

struct frames {
    unsigned n;
    uintptr_t pc[FRAMES_MAX];
};

static struct {
    _Atomic unsigned calls, same, early, different;
    struct {
        unsigned frame;
        uintptr_t ours, theirs;
    } first[LISTED]; /* that differed */
    unsigned every;
    bool is_ready;
} judged;

static __thread bool inside;
static __thread struct ml_stack_range stack;

/* ---- The other unwinder ------------------------------------------------------------- */

#ifdef JUDGE_LIBUNWIND
#define STRING_OF(x) #x
#define NAME_OF(x) STRING_OF(x)

static struct {
    int (*init)(unw_cursor_t *cursor, unw_context_t *context);
    int (*step)(unw_cursor_t *cursor);
    int (*reg)(unw_cursor_t *cursor, unw_regnum_t number, unw_word_t *ret);
} libunwind;

static bool open_oracle(void)
{
    void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);

    if (!library)
        return false;
    libunwind.init =
        (int (*)(unw_cursor_t *, unw_context_t *))dlsym(library, NAME_OF(unw_init_local));
    libunwind.step = (int (*)(unw_cursor_t *))dlsym(library, NAME_OF(unw_step));
    libunwind.reg =
        (int (*)(unw_cursor_t *, unw_regnum_t, unw_word_t *))dlsym(library, NAME_OF(unw_get_reg));
    return libunwind.init && libunwind.step && libunwind.reg;
}

/* The first frame is the caller's. */
static ML_NOINLINE void ask_oracle(struct frames *ret)
{
    unw_context_t context;
    unw_cursor_t cursor;
    unw_word_t pc;

    if (getcontext(&context) || libunwind.init(&cursor, &context))
        return;
    while (ret->n < FRAMES_MAX && libunwind.step(&cursor) > 0) {
        if (libunwind.reg(&cursor, UNW_REG_IP, &pc) || !pc)
            return;
        ret->pc[ret->n++] = pc;
    }
}
#else
static bool open_oracle(void)
{
    return true;
}

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *arg)
{
    struct frames *frames = arg;

    frames->pc[frames->n] = _Unwind_GetIP(context);
    frames->n += frames->pc[frames->n] != 0;
    return frames->n < FRAMES_MAX ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static inline __attribute__((always_inline)) void ask_oracle(struct frames *ret)
{
    _Unwind_Backtrace(on_frame, ret);
}
#endif

/* ---- Comparing ---------------------------------------------------------------------- */

static void list(unsigned frame, uintptr_t ours, uintptr_t theirs)
{
    unsigned n = judged.different++;

    if (n < LISTED) {
        judged.first[n].frame = frame;
        judged.first[n].ours = ours;
        judged.first[n].theirs = theirs;
    }
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
        list(i, ours->pc[i], there);
        return;
    }
    if (ours->n + 1 == theirs->n)
        judged.same++;
    else if (end == ML_UNWOUND_LOST || end == ML_UNWOUND_COMPLEX)
        judged.early++;
    else
        list(ours->n, 0, theirs->n > ours->n + 1 ? theirs->pc[ours->n + 1] : 0);
}

static ML_NOINLINE void compare(const void *frame_address)
{
    static __thread struct frames ours, theirs;

    ours.n = theirs.n = 0;
    ask_oracle(&theirs);
    /* It began with this function. */
    for (unsigned i = 1; i < theirs.n; i++)
        theirs.pc[i - 1] = theirs.pc[i];
    theirs.n -= theirs.n > 0;
    judge(walk(ml_frame_of_caller(frame_address), &ours), &ours, &theirs);
}

__attribute__((visibility("default"))) void *malloc(size_t bytes)
{
    if (judged.is_ready && !inside && judged.calls++ % judged.every == 0) {
        inside = true;
        compare(__builtin_frame_address(0));
        inside = false;
    }
    return __libc_malloc(bytes);
}

static __attribute__((constructor)) void start(void)
{
    const char *every = getenv("STACK_JUDGE_EVERY");

    judged.every = every && atoi(every) > 0 ? (unsigned)atoi(every) : EVERY;
    ml_unwind_init();
    judged.is_ready = open_oracle();
}

static __attribute__((destructor)) void report(void)
{
    const char *path = getenv("STACK_JUDGE");
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;

    judged.is_ready = false;
    if (fd < 0)
        return;
    dprintf(fd, "%u %u %u", judged.same, judged.early, judged.different);
    for (unsigned i = 0; i < LISTED && i < judged.different; i++)
        dprintf(fd, " %u:%#lx:%#lx", judged.first[i].frame, (unsigned long)judged.first[i].ours,
                (unsigned long)judged.first[i].theirs);
    dprintf(fd, "\n");
    close(fd);
}
