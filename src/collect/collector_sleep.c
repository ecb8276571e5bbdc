/* collector_sleep.c: see collector_sleep.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "collector_sleep.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sandboxed.h"

/* How long to sleep after a pass that found little: rings that fill wake us, so
 * this only bounds the delay of a trickle of events. A training step fills no ring;
 * a pass every millisecond took the collector two thirds more time than this. */
#define IDLE_NS_MIN 10000000u
#define IDLE_NS_MAX 50000000u

/* The longest sleep while a process is in a sandbox, where full rings cannot wake us; the second
 * applies once its rings have been quiet for a while. Its threads wait longer than that. */
#define SANDBOX_NS_MIN 1000000u
#define SANDBOX_NS_MAX 10000000u

/* The sum of the read positions of rings of processes in a sandbox.
 * @return whether there is such a process */
static bool sandbox_words(const struct ml_collector *c, uint64_t *ret)
{
    bool any = false;

    *ret = 0;
    for (size_t i = 0; i < c->stage.targets.len; i++) {
        const struct ml_target *t = c->stage.targets.items[i];
        if (t->dead || t->gone || !ml_target_in_sandbox(t))
            continue;
        any = true;
        *ret += ml_target_words_read(t);
    }
    return any;
}

static uint64_t idle_ns(struct ml_collector *c)
{
    uint64_t words;

    if (!sandbox_words(c, &words))
        return c->idle_ns;
    c->sandbox_ns =
        words != c->sandbox_words ? SANDBOX_NS_MIN : ml_min_u64(2 * c->sandbox_ns, SANDBOX_NS_MAX);
    c->sandbox_words = words;
    return ml_min_u64(c->sandbox_ns, c->idle_ns);
}

void ml_collector_sleep_init(struct ml_collector *c)
{
    c->idle_ns = IDLE_NS_MIN;
    c->sandbox_ns = SANDBOX_NS_MIN;
}

void ml_collector_sleep(struct ml_collector *c, bool found_records)
{
    struct ml_session *page = c->session->page;
    struct timespec limit = {0};

    c->idle_ns = found_records ? IDLE_NS_MIN : ml_min_u64(2 * c->idle_ns, IDLE_NS_MAX);
    limit.tv_nsec = (long)idle_ns(c);
    /* A thread that rang since the round began may have a ring that the round did not empty. Pairs
     * with ml_ring_doorbell: either it sees that we sleep, or we see that it rang. */
    atomic_store(&page->sleeping, 1);
    if (!atomic_load(&page->finish))
        syscall(SYS_futex, &page->doorbell, FUTEX_WAIT, c->bell, &limit, NULL, 0);
    atomic_store(&page->sleeping, 0);
}
