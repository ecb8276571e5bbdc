/* chrome_flows.c: see chrome_flows.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "chrome_flows.h"

#include <errno.h>

#include "event_names.h"

#define FLOW_NAME "block"
#define CATEGORY "memory"

void ml_chrome_flows_init(struct ml_chrome_flows *f, struct ml_chrome *chrome,
                          const struct ml_replay *replay, uint64_t peak_bytes)
{
    *f = (struct ml_chrome_flows){
        .chrome = chrome,
        .replay = replay,
        .min_bytes = peak_bytes / ML_FLOW_SHARE + 1,
    };
}

void ml_chrome_flows_release(struct ml_chrome_flows *f)
{
    ml_map_release(&f->open);
}

/* Arrows need slices at both ends; the slices around them on the thread are unaffected. */
static void put_end(struct ml_chrome_flows *f, const char *what, char arrow, uint64_t flow,
                    const struct ml_block *block, uint64_t time_ns, uint32_t thread)
{
    struct ml_chrome *c = f->chrome;
    struct ml_chrome_track track = ml_chrome_thread(c, thread);

    ml_chrome_begin(c, 'B', what, CATEGORY, time_ns, track);
    ml_json_kv_u64(ml_chrome_args(c), "bytes", block->size);
    ml_json_kv_cstr(&c->json, "category", ml_category_name(block->category));
    if (block->label)
        ml_json_kv_cstr(&c->json, "label", ml_trace_string(c->trace, block->label, NULL));
    ml_chrome_end(c);
    ml_chrome_begin(c, arrow, FLOW_NAME, CATEGORY, time_ns, track);
    ml_chrome_id(c, flow);
    if (arrow == 'f')
        ml_json_kv_cstr(&c->json, "bp", "e");
    ml_chrome_end(c);
    ml_chrome_begin(c, 'E', what, NULL, time_ns, track);
    ml_chrome_end(c);
}

static uint64_t key_of(const struct ml_chrome_flows *f, const struct ml_block *block)
{
    return (uint64_t)(block - f->replay->blocks.items);
}

void ml_chrome_flows_open(struct ml_chrome_flows *f, const struct ml_block *block)
{
    if (block->size < f->min_bytes || f->count == ML_FLOWS_MAX || f->error ||
        !f->replay->spaces.items[block->space].counted)
        return;
    if (ml_map_put(&f->open, key_of(f, block), ++f->count) < 0)
        f->error = -ENOMEM;
    else
        put_end(f, "allocate", 's', f->count, block, block->time_ns, ml_block_thread(block));
}

void ml_chrome_flows_close(struct ml_chrome_flows *f, const struct ml_block *block,
                           const struct ml_event *event)
{
    uint64_t flow;

    if (ml_map_take(&f->open, key_of(f, block), &flow))
        put_end(f, "free", 'f', flow, block, event->time_ns, event->thread);
}
