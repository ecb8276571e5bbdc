/* test_analyze_ranges.c: memory freed in ranges, and random books against a model that knows
 * the owner of each byte.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_replayed.h"

static void a_hole_splits_a_block(void **state)
{
    struct fixture f = fixture_begin();
    const struct ml_block *rest;
    struct replayed r;

    (void)state;
    fixture_alloc(&f, f.block, 1000, 100);
    fixture_label(&f, f.block, 1000, "map", MEMLEDGER_BUFFER);
    fixture_free_range(&f, f.block, 1020, 30);
    r = replay_fixture(&f);
    assert_int_equal(r.replay.bytes.live_bytes, 70);
    assert_int_equal(r.replay.splits, 1);
    assert_int_equal(r.replay.spaces.items[0].frees, 0);
    assert_int_equal(r.replay.spaces.items[0].live_blocks, 2);
    assert_int_equal(ml_replay_find(&r.replay, f.block, 1000)->size, 20);
    assert_null(ml_replay_find(&r.replay, f.block, 1020));
    assert_null(ml_replay_find(&r.replay, f.block, 1049));
    rest = ml_replay_find(&r.replay, f.block, 1075); /* also by an address inside */
    assert_int_equal(rest->addr, 1050);
    assert_int_equal(rest->size, 50);
    assert_int_equal(rest->category, MEMLEDGER_BUFFER);
    replayed_release(&r);
}

static void a_range_trims_and_frees_several(void **state)
{
    struct fixture f = fixture_begin();
    struct replayed r;

    (void)state;
    fixture_alloc(&f, f.block, 100, 100);
    fixture_alloc(&f, f.block, 200, 100);
    fixture_alloc(&f, f.block, 300, 100);
    fixture_alloc(&f, f.block, 400, 100);
    fixture_free_range(&f, f.block, 150, 300);
    fixture_free(&f, f.block, 100); /* what is left of the first */
    r = replay_fixture(&f);
    assert_int_equal(r.replay.spaces.items[0].frees, 3);
    assert_int_equal(r.replay.bytes.live_bytes, 50);
    assert_int_equal(ml_replay_find(&r.replay, f.block, 450)->size, 50);
    assert_null(ml_replay_find(&r.replay, f.block, 449));
    replayed_release(&r);
}

static void a_range_of_nothing_is_no_mistake(void **state)
{
    struct fixture f = fixture_begin();
    struct replayed r;

    (void)state;
    fixture_alloc(&f, f.block, 100, 100);
    fixture_free_range(&f, f.block, 200, 100);
    fixture_free_range(&f, f.block, 150, 0);
    r = replay_fixture(&f);
    assert_int_equal(r.replay.unknown_frees, 0);
    assert_int_equal(r.replay.bytes.live_bytes, 100);
    replayed_release(&r);
}

static void an_allocation_over_others_replaces_them(void **state)
{
    struct fixture f = fixture_begin();
    struct replayed r;

    (void)state;
    fixture_alloc(&f, f.block, 50, 10);
    fixture_free_range(&f, f.block, 50, 10); /* from here on the space has ranges */
    fixture_alloc(&f, f.block, 100, 100);
    fixture_alloc(&f, f.block, 200, 100);
    fixture_alloc(&f, f.block, 150, 170); /* cuts the first, covers the second */
    fixture_alloc(&f, f.block, 400, 0);
    fixture_alloc(&f, f.block, 400, 0);
    r = replay_fixture(&f);
    assert_int_equal(r.replay.bytes.live_bytes, 50 + 170);
    assert_int_equal(r.replay.replaced, 2);
    assert_int_equal(r.replay.spaces.items[0].frees, 1);
    assert_int_equal(r.replay.spaces.items[0].live_blocks, 3);
    replayed_release(&r);
}

static void the_end_of_the_address_space_is_an_end(void **state)
{
    struct fixture f = fixture_begin();
    struct replayed r;

    (void)state;
    fixture_alloc(&f, f.block, UINT64_MAX - 99, 100);
    fixture_alloc(&f, f.block, 1000, UINT64_MAX);
    fixture_free_range(&f, f.block, UINT64_MAX - 9, UINT64_MAX);
    r = replay_fixture(&f);
    assert_non_null(ml_replay_find(&r.replay, f.block, UINT64_MAX - 99));
    replayed_release(&r);
}

/* ---- Random books ------------------------------------------------------ */

#define BYTES 400

/* Owner of each byte, 0: none. */
struct model {
    uint32_t owner[BYTES];
    uint32_t next;
    uint64_t peak;
};

static uint64_t model_live(const struct model *m)
{
    uint64_t live = 0;

    for (size_t i = 0; i < BYTES; i++)
        live += m->owner[i] != 0;
    return live;
}

static void model_set(struct model *m, uint32_t from, uint32_t size, uint32_t owner)
{
    for (uint32_t i = from; i < from + size && i < BYTES; i++)
        m->owner[i] = owner;
}

/* A run of bytes of one owner is a block; a block of no bytes is not made. */
static size_t model_blocks(const struct model *m)
{
    size_t blocks = 0;

    for (size_t i = 0; i < BYTES; i++)
        blocks += m->owner[i] && (i == 0 || m->owner[i] != m->owner[i - 1]);
    return blocks;
}

static void random_ranges_agree_with_the_model(void **state)
{
    static struct model m;
    struct fixture f = fixture_begin();
    uint32_t random = 7;
    struct replayed r;

    (void)state;
    memset(&m, 0, sizeof(m));
    fixture_free_range(&f, f.block, 1, 1); /* the space has ranges */
    for (int i = 0; i < 20000; i++) {
        uint32_t from, size;

        random = random * 1664525 + 1013904223;
        from = (random >> 8) % (BYTES - 60);
        size = 1 + (random >> 20) % 50;
        if ((random >> 7) & 1) {
            fixture_alloc(&f, f.block, 5000 + from, size);
            model_set(&m, from, size, ++m.next);
        } else {
            fixture_free_range(&f, f.block, 5000 + from, size);
            model_set(&m, from, size, 0);
        }
        m.peak = m.peak > model_live(&m) ? m.peak : model_live(&m);
    }
    r = replay_fixture(&f);
    assert_int_equal(r.replay.bytes.live_bytes, model_live(&m));
    assert_int_equal(r.replay.bytes.peak_bytes, m.peak);
    assert_int_equal(r.replay.spaces.items[0].live_blocks, model_blocks(&m));
    for (uint32_t i = 0; i < BYTES; i++)
        assert_int_equal(ml_replay_find(&r.replay, f.block, 5000 + i) != NULL, m.owner[i] != 0);
    replayed_release(&r);
}

static void random_blocks_agree_with_the_model(void **state)
{
    static uint64_t sizes[2000];
    struct fixture f = fixture_begin();
    uint64_t live = 0, peak = 0, unknown = 0, replaced = 0;
    uint32_t random = 3;
    struct replayed r;

    (void)state;
    memset(sizes, 0, sizeof(sizes));
    for (int i = 0; i < 100000; i++) {
        uint32_t slot, size;

        random = random * 1664525 + 1013904223;
        slot = (random >> 9) % 2000;
        size = 1 + (random >> 21);
        if ((random >> 7) & 1) {
            fixture_alloc(&f, f.block, 4096 + 16 * (uint64_t)slot, size);
            replaced += sizes[slot] > 0;
            live += size - sizes[slot];
            sizes[slot] = size;
            peak = peak > live ? peak : live;
        } else {
            fixture_free(&f, f.block, 4096 + 16 * (uint64_t)slot);
            unknown += sizes[slot] == 0;
            live -= sizes[slot];
            sizes[slot] = 0;
        }
    }
    r = replay_fixture(&f);
    assert_int_equal(r.replay.bytes.live_bytes, live);
    assert_int_equal(r.replay.bytes.peak_bytes, peak);
    assert_int_equal(r.replay.unknown_frees, unknown);
    assert_int_equal(r.replay.replaced, replaced);
    for (size_t slot = 0; slot < 2000; slot++) {
        const struct ml_block *b = ml_replay_find(&r.replay, f.block, 4096 + 16 * slot);

        assert_int_equal(b ? b->size : 0, sizes[slot]);
    }
    replayed_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hole_splits_a_block),
        cmocka_unit_test(a_range_trims_and_frees_several),
        cmocka_unit_test(a_range_of_nothing_is_no_mistake),
        cmocka_unit_test(an_allocation_over_others_replaces_them),
        cmocka_unit_test(the_end_of_the_address_space_is_an_end),
        cmocka_unit_test(random_ranges_agree_with_the_model),
        cmocka_unit_test(random_blocks_agree_with_the_model),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
