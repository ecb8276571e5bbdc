/* band_processes.c: see band_processes.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "band_processes.h"

#include <errno.h>

#include "breakdown_keys.h"

struct candidate {
    uint32_t index; /* in the replay */
    uint64_t peak_bytes;
};

typedef ML_VEC(struct candidate) candidate_list;

static int highest_first(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    if (x->peak_bytes != y->peak_bytes)
        return x->peak_bytes > y->peak_bytes ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static int earliest_first(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    return x->index < y->index ? -1 : x->index > y->index;
}

/* Those with memory. */
static int find_candidates(const struct ml_replay *end, candidate_list *ret)
{
    for (uint32_t i = 0; i < end->processes.len; i++) {
        uint64_t peak_bytes = end->processes.items[i].bytes.peak_bytes;

        if (peak_bytes > 0 && ml_vec_push(ret, ((struct candidate){i, peak_bytes})) < 0)
            return -ENOMEM;
    }
    ml_vec_sort(ret, highest_first);
    return 0;
}

int ml_band_processes_init(struct ml_band_processes *p, const struct ml_replay *end)
{
    candidate_list list = {0};
    int r = find_candidates(end, &list);

    p->has_rest = list.len > ML_BANDS_MAX;
    if (p->has_rest)
        list.len = ML_BANDS_MAX - 1;
    ml_vec_sort(&list, earliest_first);
    p->count = list.len + p->has_rest;
    for (size_t i = 0; r == 0 && i < end->processes.len; i++)
        r = ml_vec_push(&p->band_of, ML_BANDS_MAX - 1);
    for (uint8_t i = 0; r == 0 && i < list.len; i++) {
        p->of_process[i] = end->processes.items[list.items[i].index].number;
        p->band_of.items[list.items[i].index] = i;
    }
    ml_vec_release(&list);
    return r;
}

void ml_band_processes_release(struct ml_band_processes *p)
{
    ml_vec_release(&p->band_of);
}

void ml_band_processes_count(struct ml_band_processes *p, const struct ml_replay *replay)
{
    for (uint32_t i = 0; i < replay->processes.len; i++)
        ml_band_processes_add(p, i, replay->processes.items[i].bytes.live_bytes);
}

int ml_band_processes_name(const struct ml_band_processes *p, const struct ml_replay *end,
                           struct ml_bands *ret)
{
    ret->count = p->count;
    for (size_t i = 0; i < p->count; i++) {
        bool rest = p->has_rest && i == p->count - 1;

        ret->list[i].rest = rest;
        ret->list[i].name =
            rest ? "" : ml_key_text(ML_KEY_PROCESS, end, NULL, p->of_process[i], &ret->arena);
        if (!ret->list[i].name)
            return -ENOMEM;
    }
    return 0;
}
