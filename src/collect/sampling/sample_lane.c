/* sample_lane.c: the thread, its pace and its ring.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sample_lane.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "event.h"
#include "nanoseconds.h"

#define SECOND_NS 1000000000u
#define REST_HZ 50
#define REST_TICKS 20
/* Samples for a quarter of a second at the highest rate of eight GPUs; the
 * collector drains the ring every 50 ms. */
#define RING_WORDS (UINT64_C(1) << 17)

/* ---- The ring ----------------------------------------------------------- */

static bool put(struct ml_sample_lane *lane, const uint64_t *words, uint64_t count)
{
    struct ml_ring *ring = &lane->ring;
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    /* Pairs with the collector's release store: it is done with those words. */
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);

    if (head - tail + count > RING_WORDS) {
        atomic_fetch_add_explicit(&ring->lost, 1, memory_order_relaxed);
        return false;
    }
    for (uint64_t i = 0; i < count; i++)
        lane->words[(head + i) & (RING_WORDS - 1)] = words[i];
    /* Pairs with the collector's acquire load. */
    atomic_store_explicit(&ring->head, head + count, memory_order_release);
    return true;
}

uint32_t ml_lane_string(struct ml_sample_lane *lane, const char *text)
{
    uint64_t words[ML_RECORD_MAX_WORDS] = {0};
    size_t len = strnlen(text, ML_NAME_MAX_BYTES);

    words[0] = ml_record_word(ML_REC_STRING, 0, ml_ticks_now(&lane->clock));
    words[1] = ml_pair(lane->strings + 1, len);
    memcpy(&words[2], text, len);
    return put(lane, words, 2 + (len + 7) / 8) ? ++lane->strings : 0;
}

/* Stamped after the value was read: the value is not newer than its stamp. */
void ml_lane_send(struct ml_sample_lane *lane, struct ml_sample_last *last,
                  const struct ml_sample *s, uint64_t now_ns)
{
    const uint64_t words[] = {
        ml_record_word(ML_SAMPLE, 0, ml_ticks_now(&lane->clock)),
        ml_pair(s->device, s->bits),
        s->used,
        s->free,
        s->total,
        s->by_process,
    };

    if (ml_sample_is_news(last, s, now_ns))
        put(lane, words, ML_ARRAY_SIZE(words));
}

/* ---- The thread --------------------------------------------------------- */

/* A futex with a timeout, not clock_nanosleep: a request to stop does not have to wait
 * for the next tick, which may be a second away. */
static void sleep_until(struct ml_sample_lane *lane, uint64_t until_ns)
{
    struct timespec until = {(time_t)(until_ns / SECOND_NS), (long)(until_ns % SECOND_NS)};

    syscall(SYS_futex, &lane->stop, FUTEX_WAIT_BITSET_PRIVATE, 0, &until, NULL,
            FUTEX_BITSET_MATCH_ANY);
}

static void read_news(struct ml_sample_lane *lane)
{
    ml_process_watch_list taken;

    pthread_mutex_lock(&lane->lock);
    taken = lane->news;
    ml_vec_init(&lane->news);
    pthread_mutex_unlock(&lane->lock);
    for (size_t i = 0; i < taken.len; i++)
        lane->work->watch(lane, &taken.items[i]);
    ml_vec_release(&taken);
}

/* A slightly late wake-up is on time; the kernel can then combine wake-ups. */
static void set_slack(const struct ml_sample_lane *lane)
{
    prctl(PR_SET_TIMERSLACK, (unsigned long)(SECOND_NS / lane->pace.hz / 20), 0, 0, 0);
}

/* At rest: a twentieth of the pace, but at least REST_HZ or the pace. */
static uint32_t ticks_at_rest(uint32_t hz)
{
    return hz <= REST_HZ ? 1 : hz >= REST_TICKS * REST_HZ ? REST_TICKS : hz / REST_HZ;
}

static void tick_until_stopped(struct ml_sample_lane *lane)
{
    while (!atomic_load(&lane->stop)) {
        uint64_t now = ml_clock_ns(CLOCK_MONOTONIC);
        uint64_t next = ml_pace_take(&lane->pace, now);

        read_news(lane);
        lane->work->tick(lane, now);
        if (lane->at_rest)
            next = ml_pace_leave_out(&lane->pace, next, ticks_at_rest(lane->pace.hz) - 1);
        sleep_until(lane, next);
    }
}

static void *live(void *arg)
{
    struct ml_sample_lane *lane = arg;

    pthread_setname_np(pthread_self(), lane->work->name);
    set_slack(lane);
    if (lane->work->begin(lane)) {
        atomic_store(&lane->ready, 1);
        tick_until_stopped(lane);
    }
    lane->work->end(lane);
    lane->cpu_ns = ml_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    atomic_store(&lane->ended, 1);
    syscall(SYS_futex, &lane->ended, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
    return NULL;
}

int ml_lane_start(struct ml_sample_lane *lane, const struct ml_lane_work *work, void *context,
                  uint32_t hz, const struct ml_ticks *clock)
{
    lane->work = work;
    lane->context = context;
    lane->clock = *clock;
    lane->pace.hz = hz;
    pthread_mutex_init(&lane->lock, NULL);
    lane->words = calloc(RING_WORDS, sizeof(*lane->words));
    if (!lane->words)
        return -ENOMEM;
    lane->target.own = true;
    lane->target.pidfd = -1;
    lane->ring.state = ML_RING_ACTIVE;
    lane->source = (struct ml_source){.target = &lane->target,
                                      .ring = &lane->ring,
                                      .data = lane->words,
                                      .mask = RING_WORDS - 1,
                                      .open = true};
    lane->started = !pthread_create(&lane->thread, NULL, live, lane);
    return lane->started ? 0 : -EAGAIN;
}

void ml_lane_stop(struct ml_sample_lane *lane)
{
    atomic_store(&lane->stop, 1);
    syscall(SYS_futex, &lane->stop, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

bool ml_lane_await(struct ml_sample_lane *lane, uint64_t until_ns)
{
    struct timespec until = {(time_t)(until_ns / SECOND_NS), (long)(until_ns % SECOND_NS)};

    while (lane->started && !atomic_load(&lane->ended)) {
        if (syscall(SYS_futex, &lane->ended, FUTEX_WAIT_BITSET_PRIVATE, 0, &until, NULL,
                    FUTEX_BITSET_MATCH_ANY) &&
            errno == ETIMEDOUT)
            return false;
    }
    return true;
}

void ml_lane_release(struct ml_sample_lane *lane)
{
    if (lane->started)
        pthread_join(lane->thread, NULL);
    ml_vec_release(&lane->news);
    ml_vec_release(&lane->waiting);
    ml_vec_release(&lane->target.strings);
    free(lane->words);
    if (lane->work)
        pthread_mutex_destroy(&lane->lock);
}

void ml_lane_watch(struct ml_sample_lane *lane, const struct ml_process_watch *watch)
{
    /* A process that finds no room is not sampled. */
    (void)ml_vec_push(&lane->waiting, *watch);
    ml_lane_deliver(lane);
}

void ml_lane_deliver(struct ml_sample_lane *lane)
{
    if (!lane->waiting.len || pthread_mutex_trylock(&lane->lock))
        return;
    for (size_t i = 0; i < lane->waiting.len; i++)
        (void)ml_vec_push(&lane->news, lane->waiting.items[i]);
    pthread_mutex_unlock(&lane->lock);
    ml_vec_clear(&lane->waiting);
}
