/* request.c: see request.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "request.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/futex.h>

#include "api_error.h"
#include "collector_watch.h"
#include "nanoseconds.h"
#include "owner_lock.h"
#include "recorder.h"
#include "sys.h"

#define LOOK_NS 20000000 /* how long to sleep before looking for signs of life again */
#define LOOKS_MAX 1500

static struct ml_owner_lock request_lock;

/* Guarded by the lock. A child continues from its parent's number, which the child's own ring set
 * has not seen yet. */
static uint32_t last_number;

static uint32_t next_number(void)
{
    if (!++last_number)
        ++last_number; /* 0 is the value in a fresh ring set */
    return last_number;
}

/* One that was sent and is waited for. */
struct request {
    struct ml_ringset *set;
    uint32_t number;
    int looks;
    uint64_t until_ns; /* 0: as long as the collector may come back */
    struct ml_collector_watch watch;
};

static bool is_late(const struct request *r)
{
    return r->until_ns && ml_clock_ns(CLOCK_MONOTONIC) >= r->until_ns;
}

enum reply {
    REPLY_HERE,
    REPLY_NONE,     /* the collector is gone, or has had its time */
    REPLY_REPLACED, /* by that to a later request */
    REPLY_LATER,    /* a signal waits: let it in, then go on */
};

static enum reply wait_for_reply(struct request *r)
{
    struct timespec limit = {.tv_nsec = LOOK_NS};

    for (; r->looks < LOOKS_MAX; r->looks++) {
        /* Before the look at the collector, which gives up for a signal that is kept waiting. */
        bool signal = r->looks > 0 && ml_sys_signal_waits();
        bool alive = signal || ml_collector_alive(&r->watch);
        /* Pairs with the collector's release store: status and text are there. */
        uint32_t seen = atomic_load_explicit(&r->set->reply_number, memory_order_acquire);

        if (seen == r->number)
            return REPLY_HERE;
        if (seen && (int32_t)(seen - r->number) > 0)
            return REPLY_REPLACED;
        if (!alive || is_late(r))
            return REPLY_NONE;
        ml_ring_doorbell();
        if (ml_calls_allowed())
            syscall(SYS_futex, &r->set->reply_number, FUTEX_WAIT, seen, &limit, NULL, 0);
        if (signal) { /* after the nap: a timer may have one ready at each look */
            r->looks++;
            return REPLY_LATER;
        }
    }
    return REPLY_NONE;
}

/* The set is shared memory: the length is read once and checked, and the text is terminated here.
 */
static int take_reply(const struct ml_ringset *set, const char **ret_text)
{
    uint32_t said = __atomic_load_n(&set->reply_bytes, __ATOMIC_RELAXED);
    int status = __atomic_load_n(&set->reply_status, __ATOMIC_RELAXED);
    size_t bytes = ml_min_u64(said, ML_REPLY_BYTES - 1);
    char *text = ml_thread_text(bytes + 1);

    if (!text || !ml_recorder_read_reply(text, bytes))
        return ml_fail("not enough memory for the collector's answer");
    text[bytes] = '\0';
    if (status)
        return ml_fail(bytes ? text : "not enough memory for the collector's answer");
    if (ret_text)
        *ret_text = text;
    return 0;
}

/* No handler runs and nobody cancels this thread while it has the lock: one that left by
 * siglongjmp would keep it. They get their turn while another thread has it.
 * @return false: this thread has it, in a sandbox, or another does not let go */
static bool take_turn(const struct request *r, struct ml_quiet *quiet)
{
    for (unsigned i = 0; i < ML_OWNER_LOCK_TRIES && ml_calls_allowed() && !is_late(r); i++) {
        enum ml_owner_try got;

        ml_quiet_begin(quiet);
        got = ml_owner_lock_try(&request_lock);
        if (got == ML_OWNER_OURS)
            return true;
        ml_quiet_end(quiet);
        if (got == ML_OWNER_REENTERED)
            return false;
    }
    return false;
}

static void end_turn(const struct ml_quiet *quiet)
{
    ml_owner_unlock(&request_lock);
    ml_quiet_end(quiet);
}

static bool send_request(struct request *r, enum ml_request what, uint64_t argument)
{
    uint64_t words[] = {ml_record_word(ML_REC_REQUEST, 0, ml_now()), 0, argument};

    r->number = next_number();
    words[1] = ml_pair(r->number, what);
    ml_record(words, 3);
    return ml_writer->ring;
}

static int end_request(const struct request *r, enum reply reply, const char **ret_text)
{
    if (reply == REPLY_HERE)
        return take_reply(r->set, ret_text);
    if (reply == REPLY_REPLACED)
        return ml_fail("another call took this one's place while a signal handler ran");
    return ml_calls_allowed()
               ? ml_fail("the collector does not answer; was `memledger run` killed?")
               : ml_fail_in_sandbox();
}

static int fail_without_turn(void)
{
    return ml_fail("a signal handler interrupted the recorder, or another thread's call hangs");
}

static int ask(struct request *request, enum ml_request what, uint64_t argument,
               const char **ret_text)
{
    struct ml_quiet quiet;
    enum reply reply;
    int r;

    /* A signal handler inside a record: ours would wait behind that one. */
    if (ml_writer->busy || !take_turn(request, &quiet))
        return fail_without_turn();
    if (!send_request(request, what, argument)) {
        end_turn(&quiet);
        return ml_fail("this thread is not being recorded: there are too many, or no memory");
    }
    while ((reply = wait_for_reply(request)) == REPLY_LATER) {
        end_turn(&quiet); /* handlers run here, and may not come back */
        if (!take_turn(request, &quiet))
            return fail_without_turn();
    }
    r = end_request(request, reply, ret_text);
    end_turn(&quiet);
    return r;
}

int ml_request(enum ml_request what, uint64_t argument, const char **ret_text)
{
    return ml_request_within(0, what, argument, ret_text);
}

int ml_request_within(uint64_t patience_ns, enum ml_request what, uint64_t argument,
                      const char **ret_text)
{
    struct request request = {.set = ml_recorder_first_set()};
    int saved_errno = errno;
    int r;

    if (!request.set)
        return ml_fail("this process is not being recorded");
    if (!ml_calls_allowed())
        return ml_fail_in_sandbox();
    if (patience_ns)
        request.until_ns = ml_clock_ns(CLOCK_MONOTONIC) + patience_ns;
    r = ask(&request, what, argument, ret_text);
    errno = saved_errno;
    return r;
}
