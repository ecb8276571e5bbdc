/* limited_call.c: see limited_call.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "limited_call.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "compiler.h"
#include "lock.h"
#include "nanoseconds.h"
#include "recorder.h"
#include "sys.h"

#define STACK_BYTES (512u << 10)
#define LOOK_NS 20000000u
/* The most time that one check may add to a wait: more has passed if the process was stopped. */
#define LOOK_MAX_NS (5 * (uint64_t)LOOK_NS)

enum { IDLE, ASKED };

/* In memory that a forked child sees cleared. */
static struct caller {
    struct ml_lock lock;
    _Atomic bool has_thread;
    _Atomic bool hangs;
    _Atomic uint32_t state; /* a futex for both sides */
    void (*function)(void);
} * _Atomic the_caller;

static _Atomic bool used_before_fork; /* in this process or in one that forked it */

/* libc needs signals 32 and 33 in every thread, for pthread_cancel and setuid. */
static void block_program_signals(void)
{
    uint64_t blocked = ~((uint64_t)3 << 31);

    syscall(SYS_rt_sigprocmask, (long)SIG_SETMASK, &blocked, NULL, sizeof(blocked));
}

static void *make_calls(void *arg)
{
    struct caller *c = arg;

    block_program_signals();
    for (;;) {
        /* Pairs with the release store in ask: the function is set. */
        if (atomic_load_explicit(&c->state, memory_order_acquire) != ASKED) {
            syscall(SYS_futex, &c->state, FUTEX_WAIT_PRIVATE, (long)IDLE, NULL, NULL, 0L);
            continue;
        }
        c->function();
        /* Pairs with the acquire load in is_over: the call's results are visible. */
        atomic_store_explicit(&c->state, IDLE, memory_order_release);
        syscall(SYS_futex, &c->state, FUTEX_WAKE_PRIVATE, 1L, NULL, NULL, 0L);
    }
    return NULL;
}

/* A seccomp filter that kills for the creation of a thread kills the CUDA driver first, which
 * creates some before NVML is asked. */
static bool make_thread(struct caller *c)
{
    pthread_attr_t attributes;
    pthread_t thread;
    bool ok;

    if (pthread_attr_init(&attributes))
        return false;
    ok = !pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) &&
         !pthread_attr_setstacksize(&attributes, STACK_BYTES) &&
         !pthread_create(&thread, &attributes, make_calls, c);
    pthread_attr_destroy(&attributes);
    if (ok) {
        /* In this order: a second thread must not take this process for a forked child. */
        c->has_thread = true;
        used_before_fork = true;
    }
    return ok;
}

static struct caller *caller(void)
{
    struct caller *c = the_caller;

    if (c)
        return c;
    c = ml_recorder_map_wiped(sizeof(*c));
    /* Two threads may race here; the loser's page stays unused, see recorder.c. */
    if (c && !atomic_compare_exchange_strong(&the_caller, &(struct caller *){NULL}, c))
        c = the_caller;
    return c;
}

static bool is_over(struct caller *c)
{
    return atomic_load_explicit(&c->state, memory_order_acquire) == IDLE;
}

static bool wait_for(struct caller *c, uint64_t limit_ns)
{
    struct timespec look = {.tv_nsec = LOOK_NS};
    uint64_t last_ns = ml_clock_ns(CLOCK_MONOTONIC);

    for (uint64_t waited_ns = 0; !is_over(c) && waited_ns < limit_ns;) {
        uint64_t now_ns;

        syscall(SYS_futex, &c->state, FUTEX_WAIT_PRIVATE, (long)ASKED, &look, NULL, 0L);
        now_ns = ml_clock_ns(CLOCK_MONOTONIC);
        waited_ns += ml_min_u64(now_ns - last_ns, LOOK_MAX_NS);
        last_ns = now_ns;
    }
    return is_over(c);
}

static bool ask(struct caller *c, void (*function)(void), uint64_t limit_ns)
{
    if (c->hangs || (!c->has_thread && !make_thread(c)))
        return false;
    c->function = function;
    atomic_store_explicit(&c->state, ASKED, memory_order_release);
    syscall(SYS_futex, &c->state, FUTEX_WAKE_PRIVATE, 1L, NULL, NULL, 0L);
    c->hangs = !wait_for(c, limit_ns);
    return !c->hangs;
}

bool ml_limited_call(void (*function)(void), uint32_t limit_ms)
{
    struct caller *c;
    struct ml_quiet quiet;
    bool ok = false;

    if (!ml_calls_allowed() || !(c = caller()) || (used_before_fork && !c->has_thread))
        return false;
    ml_quiet_begin(&quiet);
    if (ml_calls_allowed() && ml_lock_at_once(&c->lock)) {
        ok = ask(c, function, limit_ms * (uint64_t)1000000);
        ml_unlock(&c->lock);
    }
    ml_quiet_end(&quiet);
    return ok;
}

bool ml_limited_call_hangs(void)
{
    struct caller *c = the_caller;

    return c && c->hangs;
}
