/* ledger_leaving.c: see ledger_leaving.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ledger_leaving.h"

#include <errno.h>

#include "each_event.h"

/* Remainders are equal if they differ by less than this fraction of a process's memory. */
#define SAME_PART 8

/* ---- Lifetimes of processes ---------------------------------------------- */

struct reading {
    const struct ml_trace *trace;
    struct ml_ledger_lives *lives;
    uint64_t events;
};

static struct ml_ledger_life *life_of(struct ml_ledger_lives *lives, uint64_t process)
{
    while (lives->of.len <= process)
        if (ml_vec_push(&lives->of, (struct ml_ledger_life){0}) < 0)
            return NULL;
    return &lives->of.items[process];
}

bool ml_ledger_is_own(const struct ml_event *event)
{
    if (event->kind == ML_SAMPLE)
        return event->args[1] & ML_SAMPLE_INSIDE;
    return event->kind != ML_LOST && event->kind != ML_PROCESS_END && event->kind != ML_THREAD_END;
}

static int on_event(void *ctx, const struct ml_event *event)
{
    struct reading *r = ctx;
    uint64_t process = event->args[0];
    struct ml_ledger_life *life;

    r->events++;
    if (ml_ledger_is_own(event))
        process = ml_trace_thread(r->trace, event->thread)->process;
    else if (event->kind != ML_PROCESS_END)
        return 0;
    if (process >= ml_trace_processes(r->trace))
        return 0;
    life = life_of(r->lives, process);
    if (!life)
        return -ENOMEM;
    if (event->kind != ML_PROCESS_END) {
        life->last_event = r->events;
    } else if (!life->end_event) {
        life->end_event = r->events;
        life->end_ns = event->time_ns;
    }
    return 0;
}

int ml_ledger_lives(const struct ml_trace *trace, struct ml_ledger_lives *ret, struct ml_error *err)
{
    struct reading r = {.trace = trace, .lives = ret};

    *ret = (struct ml_ledger_lives){0};
    return ml_each_event(trace, on_event, &r, err);
}

void ml_ledger_lives_release(struct ml_ledger_lives *lives)
{
    ml_vec_release(&lives->of);
    ml_vec_release(&lives->left);
}

/* ---- Processes that have left -------------------------------------------- */

uint64_t ml_ledger_given(const struct ml_replay *replay, uint32_t process, uint32_t device,
                         uint32_t level)
{
    uint32_t s = replay->processes.items[process].first_space;
    uint64_t sum = 0;

    for (; s > 0; s = replay->spaces.items[s - 1].next_of_process) {
        const struct ml_replay_space *space = &replay->spaces.items[s - 1];

        if (space->device == device && space->level == level)
            sum += space->bytes.live_bytes;
    }
    return sum;
}

bool ml_ledger_has_left(const struct ml_ledger_lives *lives, const struct ml_ledger_sample *sample,
                        uint32_t process)
{
    for (uint32_t i = 0; i < sample->left_count; i++)
        if (lives->left.items[sample->left_first + i] == process)
            return true;
    return false;
}

/* Whether the sample is after the process's last event and shortly before its end. */
static bool may_have_left(const struct ml_ledger_lives *lives, uint32_t process,
                          const struct ml_ledger_sample *sample)
{
    const struct ml_ledger_life *life =
        process < lives->of.len ? &lives->of.items[process] : &(struct ml_ledger_life){0};

    return life->last_event < sample->event && life->end_event > sample->event &&
           life->end_ns - sample->time_ns <= ML_LEDGER_LEAVING_NS;
}

struct search {
    struct ml_ledger_lives *lives;
    const struct ml_replay *replay;
    const struct ml_ledger_users *users;
    uint32_t device, level;
    struct ml_ledger_sample *sample;
    uint64_t missing;  /* from the remainder, not explained yet */
    uint64_t given;    /* to processes that have left */
    uint64_t smallest; /* the least memory of a process that may have left; 0: none */
};

static uint64_t apart(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* The index of the process whose memory is closest to the missing bytes; -1: none. */
static int64_t find_next(struct search *s, uint64_t *ret_given)
{
    uint64_t nearest = s->missing;
    int64_t found = -1;

    for (size_t i = 0; i < s->users->running.len; i++) {
        uint32_t index = s->users->running.items[i];
        uint32_t process = s->replay->processes.items[index].number;
        uint64_t given;

        if (!may_have_left(s->lives, process, s->sample) ||
            ml_ledger_has_left(s->lives, s->sample, process))
            continue;
        given = ml_ledger_given(s->replay, index, s->device, s->level);
        if (given > 0 && (s->smallest == 0 || given < s->smallest))
            s->smallest = given;
        if (given == 0 || apart(s->missing, given) >= nearest)
            continue;
        nearest = apart(s->missing, given);
        found = index;
        *ret_given = given;
    }
    return found;
}

/* @return 0 or -ENOMEM */
static int find_all(struct search *s)
{
    uint64_t given = 0;
    int64_t found;

    s->sample->left_first = (uint32_t)s->lives->left.len;
    while (s->missing > 0 && (found = find_next(s, &given)) >= 0) {
        if (ml_vec_push(&s->lives->left, s->replay->processes.items[found].number) < 0)
            return -ENOMEM;
        s->sample->left_count++;
        s->given += given;
        if (given >= s->missing) {
            s->missing = given - s->missing;
            break;
        }
        s->missing -= given;
    }
    return 0;
}

static int64_t remainder_of(const struct ml_replay *replay, uint32_t device, uint32_t level,
                            const struct ml_ledger_sample *sample)
{
    uint64_t booked = replay->devices.items[device].levels[level].live_bytes;

    return (int64_t)(sample->used - booked - (sample->has_others ? sample->others : 0));
}

int ml_ledger_find_left(struct ml_ledger_lives *lives, const struct ml_replay *replay,
                        uint32_t device, uint32_t level, struct ml_ledger_users *users,
                        struct ml_ledger_sample *sample, bool *ret_settled)
{
    int64_t now = remainder_of(replay, device, level, sample);
    struct search s = {.lives = lives,
                       .replay = replay,
                       .users = users,
                       .device = device,
                       .level = level,
                       .sample = sample};
    uint64_t same;

    if (users->has_remainder && now < users->remainder)
        s.missing = (uint64_t)users->remainder - (uint64_t)now;
    if (find_all(&s) < 0)
        return -ENOMEM;
    same = (sample->left_count > 0 ? s.given : s.smallest) / SAME_PART;
    *ret_settled = s.missing <= same || s.smallest == 0;
    if (!*ret_settled) {
        lives->left.len = sample->left_first;
        sample->left_count = 0;
    } else if (!users->has_remainder || !users->inside || (sample->bits & ML_SAMPLE_INSIDE)) {
        users->has_remainder = true;
        users->inside = sample->bits & ML_SAMPLE_INSIDE;
        users->remainder = (int64_t)((uint64_t)now + s.given);
    }
    return 0;
}
