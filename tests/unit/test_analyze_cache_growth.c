/* test_analyze_cache_growth.c: how keys and values grow, from the lifetimes of their blocks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_story.h"

#include "summary.h"

static struct ml_summary summarize(struct story *s)
{
    struct ml_trace *trace = fixture_open(&s->f);
    struct ml_summary_opts opts = {.top = 10};
    struct ml_summary summary;
    struct ml_error err = {0};

    assert_int_equal(ml_summarize(trace, &opts, &summary, &err), 0);
    ml_trace_free(trace);
    return summary;
}

static uint32_t string(struct story *s, const char *text)
{
    return ml_maker_string(s->f.maker, text);
}

static void label(struct story *s, uint64_t at, uint32_t text)
{
    story_event(
        s, (struct ml_event){.kind = ML_LABEL, .addr = at, .args = {text, MEMLEDGER_KV_CACHE}});
}

/* The block at `to` takes the place of the one at `from`. */
static void replace(struct story *s, uint64_t from, uint64_t to, uint64_t bytes, uint32_t text)
{
    born(s, to, bytes);
    dies(s, from);
    label(s, to, text);
}

static void keep(struct story *s, uint64_t at, uint64_t bytes, uint32_t text)
{
    born(s, at, bytes);
    label(s, at, text);
}

static void assert_growth(const struct ml_cache_growth *g, uint64_t growths, int64_t mean,
                          int64_t least, int64_t most)
{
    assert_int_equal(g->growths, growths);
    assert_int_equal(g->each.mean, mean);
    assert_int_equal(g->each.least, least);
    assert_int_equal(g->each.most, most);
}

static void keys_and_values_grow_together(void **state)
{
    struct story s = story_begin();
    uint32_t attention = story_module(&s, story_module(&s, 0, "GPT"), "h.0.attn");
    uint32_t keys = string(&s, "h.0.attn.keys"), values = string(&s, "h.0.attn.values");
    struct ml_summary summary;

    (void)state;
    be_in(&s, attention);
    keep(&s, 0x1000, 1000, keys);
    keep(&s, 0x2000, 1000, values);
    born(&s, 0x5000, 7); /* the layer goes on */
    replace(&s, 0x1000, 0x3000, 1100, keys);
    replace(&s, 0x2000, 0x4000, 1100, values);
    replace(&s, 0x3000, 0x1000, 1200, keys);
    replace(&s, 0x4000, 0x2000, 1200, values);
    summary = summarize(&s);
    assert_int_equal(summary.caches.layers.len, 1);
    assert_string_equal(summary.caches.layers.items[0].module, "GPT > h.0.attn");
    assert_growth(&summary.caches, 2, 200, 200, 200);
    assert_int_equal(summary.caches.peak_bytes, 1200 + 1200 + 1100);
    assert_false(summary.caches.fixed);
    ml_summary_release(&summary);
}

/* Each has its own blocks under the same name. */
static void requests_in_turn_do_not_mix(void **state)
{
    struct story s = story_begin();
    uint32_t attention = story_module(&s, story_module(&s, 0, "GPT"), "attn");
    uint32_t keys = string(&s, "attn.keys");
    struct ml_summary summary;

    (void)state;
    be_in(&s, attention);
    keep(&s, 0x1000, 1000, keys);
    born(&s, 0x8000, 7);
    keep(&s, 0x2000, 5000, keys);
    dies(&s, 0x8000);
    born(&s, 0x8000, 7);
    replace(&s, 0x1000, 0x3000, 1100, keys);
    replace(&s, 0x2000, 0x4000, 5100, keys);
    keep(&s, 0x5000, 300, keys); /* a third begins … */
    dies(&s, 0x8000);
    born(&s, 0x8000, 7);
    dies(&s, 0x3000); /* … before the first ends */
    summary = summarize(&s);
    assert_growth(&summary.caches, 2, 100, 100, 100);
    ml_summary_release(&summary);
}

static void beams_in_another_order_are_no_growth(void **state)
{
    struct story s = story_begin();
    uint32_t attention = story_module(&s, story_module(&s, 0, "GPT"), "attn");
    uint32_t keys = string(&s, "attn.keys");
    struct ml_summary summary;

    (void)state;
    be_in(&s, attention);
    keep(&s, 0x1000, 1000, keys);
    be_in(&s, 0);
    replace(&s, 0x1000, 0x2000, 1000, keys);
    be_in(&s, attention);
    replace(&s, 0x2000, 0x1000, 1100, keys);
    summary = summarize(&s);
    assert_growth(&summary.caches, 1, 100, 100, 100);
    ml_summary_release(&summary);
}

/* The allocator rounds: the average is what counts. */
static void rounded_sizes_grow_now_and_then(void **state)
{
    struct story s = story_begin();
    uint32_t attention = story_module(&s, story_module(&s, 0, "GPT"), "attn");
    uint32_t keys = string(&s, "attn.keys");
    struct ml_summary summary;

    (void)state;
    be_in(&s, attention);
    keep(&s, 0x1000, 512, keys);
    replace(&s, 0x1000, 0x2000, 512, keys);
    replace(&s, 0x2000, 0x1000, 1024, keys);
    replace(&s, 0x1000, 0x2000, 1024, keys);
    replace(&s, 0x2000, 0x1000, 1536, keys);
    summary = summarize(&s);
    assert_growth(&summary.caches, 4, 256, 0, 512);
    ml_summary_release(&summary);
}

static void a_static_cache_is_fixed(void **state)
{
    struct story s = story_begin();
    uint32_t attention = story_module(&s, story_module(&s, 0, "GPT"), "attn");
    uint32_t keys = string(&s, "attn.keys");
    struct ml_summary summary;

    (void)state;
    be_in(&s, attention);
    keep(&s, 0x1000, 4096, keys);
    label(&s, 0x1000, keys);
    dies(&s, 0x1000);
    keep(&s, 0x1000, 4096, keys); /* the next request's */
    summary = summarize(&s);
    assert_growth(&summary.caches, 0, 0, 0, 0);
    assert_true(summary.caches.fixed);
    ml_summary_release(&summary);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_and_values_grow_together),
        cmocka_unit_test(requests_in_turn_do_not_mix),
        cmocka_unit_test(beams_in_another_order_are_no_growth),
        cmocka_unit_test(rounded_sizes_grow_now_and_then),
        cmocka_unit_test(a_static_cache_is_fixed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
