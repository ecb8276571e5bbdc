/* api_error.c: a table of threads with their texts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "api_error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "compiler.h"
#include "sys.h"

#define THREADS_MAX 256
#define PART_MAX 512

struct thread {
    _Atomic uint32_t tid; /* 0: never used */
    const char *last;     /* the error, or a constant; NULL: no call failed */
    char *error;          /* ML_ERROR_BYTES */
    char *text;
    size_t text_bytes;
};

static struct thread threads[THREADS_MAX];

static const char out_of_room[] = "the recorder has no room left for error messages";
static const char in_sandbox[] =
    "this process is in a seccomp sandbox, where the recorder cannot wait for an answer";

static void *map(size_t bytes)
{
    return ml_sys_map(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static struct thread *find(uint32_t tid)
{
    for (struct thread *t = threads; t < threads + THREADS_MAX; t++) {
        uint32_t owner = atomic_load_explicit(&t->tid, memory_order_relaxed);
        if (owner == tid)
            return t;
        if (!owner)
            return NULL;
    }
    return NULL;
}

static bool is_gone(uint32_t tid)
{
    bool gone;

    if (!ml_calls_begin())
        return false;
    gone = syscall(SYS_tgkill, getpid(), tid, 0) && errno == ESRCH;
    ml_calls_end();
    return gone;
}

/* The first entry that was never used or whose thread has ended. */
static struct thread *claim(uint32_t tid)
{
    for (struct thread *t = threads; t < threads + THREADS_MAX; t++) {
        uint32_t owner = atomic_load_explicit(&t->tid, memory_order_relaxed);
        if (owner && !is_gone(owner))
            continue;
        /* Acquire and release: this thread sees the memory that the entry's last owner mapped. */
        if (atomic_compare_exchange_strong_explicit(&t->tid, &owner, tid, memory_order_acq_rel,
                                                    memory_order_relaxed)) {
            t->last = NULL;
            return t;
        }
    }
    return NULL;
}

static struct thread *this_thread(void)
{
    uint32_t tid = ml_thread_id();
    struct thread *t = find(tid);

    return t ? t : claim(tid);
}

static size_t add_part(char *out, size_t len, const char *part)
{
    size_t room = ML_ERROR_BYTES - 1 - len;
    size_t n = strnlen(part, PART_MAX + 1);
    size_t dots = n > PART_MAX ? 3 : 0;

    n = ml_min_u64(n - (dots ? 1 : 0), room);
    dots = ml_min_u64(dots, room - n);
    memcpy(out + len, part, n);
    memset(out + len + n, '.', dots);
    return len + n + dots;
}

int ml_fail_parts(const char *first, ...)
{
    int saved_errno = errno;
    struct thread *t = this_thread();
    size_t len = 0;
    va_list parts;

    if (t && !t->error)
        t->error = map(ML_ERROR_BYTES);
    if (t && t->error) {
        va_start(parts, first);
        for (const char *part = first; part; part = va_arg(parts, const char *))
            len = add_part(t->error, len, part);
        va_end(parts);
        t->error[len] = '\0';
    }
    if (t)
        t->last = t->error ? t->error : out_of_room;
    errno = saved_errno;
    return -1;
}

/* There is no memory for a text, so this is a constant. */
int ml_fail_in_sandbox(void)
{
    struct thread *t = this_thread();

    if (t)
        t->last = in_sandbox;
    return -1;
}

const char *ml_last_error(void)
{
    struct thread *t = find(ml_thread_id());

    if (t)
        return t->last ? t->last : "";
    /* The thread has no entry: no call failed, or there was no room. */
    return atomic_load_explicit(&threads[THREADS_MAX - 1].tid, memory_order_relaxed) ? out_of_room
                                                                                     : "";
}

char *ml_thread_text(size_t bytes)
{
    int saved_errno = errno;
    struct thread *t = this_thread();

    if (t && t->text_bytes < bytes) {
        if (t->text)
            ml_sys_unmap(t->text, t->text_bytes);
        t->text = map(bytes);
        t->text_bytes = t->text ? bytes : 0;
    }
    errno = saved_errno;
    return t ? t->text : NULL;
}
