/* request.c: see request.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "request.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/futex.h>

#include "api_error.h"
#include "collector_watch.h"
#include "owner_lock.h"
#include "recorder.h"

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

static bool wait_for_reply(struct ml_ringset *set, uint32_t number)
{
    struct timespec limit = {.tv_nsec = LOOK_NS};
    struct ml_collector_watch watch = {0};

    for (int looks = 0; looks < LOOKS_MAX; looks++) {
        bool alive = ml_collector_alive(&watch);
        /* Pairs with the collector's release store: status and text are written. */
        uint32_t seen = atomic_load_explicit(&set->reply_number, memory_order_acquire);
        if (seen == number)
            return true;
        if (!alive)
            return false;
        ml_ring_doorbell();
        if (ml_calls_allowed())
            syscall(SYS_futex, &set->reply_number, FUTEX_WAIT, seen, &limit, NULL, 0);
    }
    return false;
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

static int ask(struct ml_ringset *set, enum ml_request what, uint64_t argument,
               const char **ret_text)
{
    uint32_t number = next_number();
    uint64_t words[] = {ml_record_word(ML_REC_REQUEST, 0, ml_now()), ml_pair(number, what),
                        argument};

    ml_record(words, 3);
    if (!ml_writer->ring)
        return ml_fail("this thread is not being recorded: there are too many, or no memory");
    if (!wait_for_reply(set, number))
        return ml_calls_allowed()
                   ? ml_fail("the collector does not answer; was `memledger run` killed?")
                   : ml_fail_in_sandbox();
    return take_reply(set, ret_text);
}

static int ask_alone(struct ml_ringset *set, enum ml_request what, uint64_t argument,
                     const char **ret_text)
{
    int cancel_state, r;

    /* In a signal handler inside a record our record would wait for that one. */
    if (ml_writer->busy || !ml_owner_lock(&request_lock))
        return ml_fail("a signal handler interrupted the recorder, or another thread's call hangs");
    /* Signals stay enabled: the wait can be long. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    r = ask(set, what, argument, ret_text);
    ml_owner_unlock(&request_lock);
    pthread_setcancelstate(cancel_state, NULL);
    return r;
}

int ml_request(enum ml_request what, uint64_t argument, const char **ret_text)
{
    struct ml_ringset *set = ml_recorder_first_set();
    int saved_errno = errno;
    int r;

    if (!set)
        return ml_fail("this process is not being recorded");
    if (!ml_calls_begin())
        return ml_fail_in_sandbox();
    r = ask_alone(set, what, argument, ret_text);
    ml_calls_end();
    errno = saved_errno;
    return r;
}
