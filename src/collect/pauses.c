/* pauses.c: see pauses.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pauses.h"

#include <inttypes.h>
#include <stdio.h>

#include "collector_impl.h"
#include "event.h"

/* Beyond all addresses of a process. */
#define EVERY_ADDRESS (UINT64_C(1) << 48)

static void free_all(struct ml_collector *c, struct ml_target *t, uint32_t space, uint64_t time_ns)
{
    const struct ml_encoder *e = c->writer.encoder;
    struct ml_event ev = {.kind = ML_FREE_RANGE,
                          .time_ns = time_ns,
                          .thread = e->thread,
                          .space = t->spaces.items[space].id - 1,
                          .scope = e->scope,
                          .size = EVERY_ADDRESS};

    c->stage.own_events++;
    ml_stage_emit(&c->stage, t, &ev);
}

/* Samples and large blocks are followed through a pause. */
static void free_heaps(struct ml_collector *c, uint64_t time_ns)
{
    uint32_t heap = c->session->page->heap;

    if (heap != ML_HEAP_MALLOC && heap != ML_HEAP_ALL)
        return;
    for (size_t i = 0; i < c->stage.targets.len; i++) {
        struct ml_target *t = c->stage.targets.items[i];
        for (uint32_t s = 0; s < t->spaces.len; s++) {
            if (t->spaces.items[s].id && t->spaces.items[s].is_heap)
                free_all(c, t, s, time_ns);
        }
    }
}

static void keep_number(struct ml_collector *c, const char *key, uint64_t number)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRIu64, number);
    ml_dict_config(&c->dict, key, text);
}

/* For readers, which need not look for the marks. */
static void keep_settings(struct ml_collector *c, bool goes_on)
{
    keep_number(c, ML_SETTING_PAUSES, c->pauses);
    keep_number(c, ML_SETTING_PAUSED_NS, c->paused_ns);
    if (goes_on)
        keep_number(c, ML_SETTING_PAUSED_SINCE_NS, c->pause_ns);
    else
        ml_dict_config(&c->dict, ML_SETTING_PAUSED_SINCE_NS, "");
}

static void add_pause(struct ml_collector *c, uint64_t until_ns)
{
    c->paused_ns += until_ns - ml_min_u64(c->pause_ns, until_ns);
}

/* The next end of a pause, in the order in which they happened. */
static void turn(struct ml_collector *c, uint64_t time_ns)
{
    c->turn++;
    if (c->turn & 1) {
        c->pauses++;
        c->pause_ns = time_ns;
    } else {
        add_pause(c, time_ns);
    }
    ml_collector_mark(c, time_ns, c->turn & 1 ? ML_MARK_PAUSE : ML_MARK_RESUME, (c->turn + 1) / 2);
    free_heaps(c, time_ns);
    keep_settings(c, c->turn & 1);
}

/* The next turn. A recording that began paused has no time. */
static void take_turn(struct ml_collector *c)
{
    uint64_t ticks = atomic_load(&c->session->page->turned_ticks[(c->turn + 1) & 1]);

    if (ticks)
        ml_collector_take_records(c, ticks);
    turn(c, ticks ? ml_ticks_ns(&c->ticks, ticks) : c->ticks.ns);
}

static bool turned_before(const struct ml_collector *c, uint64_t until)
{
    return atomic_load(&c->session->page->turned_ticks[(c->turn + 1) & 1]) < until;
}

/* Of several turns since the last round only the times of the last two are known. */
void ml_collector_take_pauses(struct ml_collector *c, uint64_t until)
{
    uint32_t now = atomic_load(&c->session->page->turn);

    if (now - c->turn > 2)
        c->turn = now - 2;
    while (ML_UNLIKELY(c->turn != now) && turned_before(c, until))
        take_turn(c);
}

void ml_collector_end_pause(struct ml_collector *c)
{
    if (!(c->turn & 1))
        return;
    free_heaps(c, c->ticks.ns);
    add_pause(c, c->ticks.ns);
    keep_settings(c, false);
}
