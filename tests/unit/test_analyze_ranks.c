/* test_analyze_ranks.c: the analysis of a job, with simulated digests: what tests with files do not
 * reach.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "memledger/memledger.h"
#include "ranks.h"
#include "ranks_report.h"
#include "simulated_rank.h"

#define RANKS 16 /* on two hosts */
#define MS INT64_C(1000000)
#define MIB (1 << 20)

static const struct simulated_job job = {
    .ranks = RANKS, .steps = 12, .layers = 4, .stages = 1, .noise = 0.003, .seed = 7};
static const struct simulated_job short_job = {
    .ranks = RANKS, .steps = 6, .layers = 4, .stages = 1, .noise = 0.003, .seed = 7};

struct simulation {
    struct ml_digest digests[RANKS];
    struct ml_rank_source sources[RANKS];
    struct ml_ranks ranks;
};

static struct simulation *make_job(const struct simulated_job *of, enum fault most,
                                   uint32_t other_rank, enum fault other)
{
    struct simulation *s = calloc(1, sizeof(*s));

    assert_non_null(s);
    for (uint32_t i = 0; i < RANKS; i++) {
        assert_int_equal(simulate_rank(of, i, i == other_rank ? other : most, &s->digests[i]), 0);
        s->sources[i] = (struct ml_rank_source){&s->digests[i], "t.mled", false};
    }
    return s;
}

static struct simulation *make(enum fault most, uint32_t other_rank, enum fault other)
{
    return make_job(&job, most, other_rank, other);
}

static const struct ml_ranks *judge(struct simulation *s)
{
    assert_int_equal(ml_ranks(s->sources, RANKS, NULL, &s->ranks, NULL), 0);
    return &s->ranks;
}

static void drop(struct simulation *s)
{
    ml_ranks_release(&s->ranks);
    for (size_t i = 0; i < RANKS; i++)
        ml_digest_release(&s->digests[i]);
    free(s);
}

/* The clock of the second host is 40 ms ahead; ranks begin steps within 1 ms of each other. */
static void test_clocks(void **state)
{
    struct simulation *s = make(FAULT_NONE, 0, FAULT_NONE);
    const struct ml_ranks *ranks;
    int64_t apart;

    (void)state;
    for (size_t i = RANKS / 2; i < RANKS; i++)
        s->digests[i].start_wall_ns += (uint64_t)(40 * MS);
    ranks = judge(s);
    assert_int_equal(ranks->findings.len, 0);
    assert_int_equal(ranks->clocks.len, 2);
    assert_string_equal(ranks->clocks.items[0].host, "node0");
    assert_string_equal(ranks->clocks.items[1].host, "node1");
    apart = ranks->clocks.items[1].ahead_ns - ranks->clocks.items[0].ahead_ns;
    assert_true(apart > 39 * MS && apart < 41 * MS);
    drop(s);
}

static void test_below(void **state)
{
    struct simulation *s = make(FAULT_LONGER, 5, FAULT_NONE);
    const struct ml_ranks *ranks = judge(s);
    const struct ml_rank_finding *f = ranks->findings.items;

    (void)state;
    assert_int_equal(ranks->findings.len, 1);
    assert_int_equal(f->kind, ML_RANK_BELOW);
    assert_int_equal(f->cause, ML_CAUSE_LONGER);
    assert_int_equal(f->category, MEMLEDGER_ACTIVATION);
    assert_int_equal(f->worst, 5);
    assert_true(f->bytes < 0 && f->ratio > 0.6 && f->ratio < 0.7);
    drop(s);
}

/* A small network: one module has all activations, but the inputs tell why. */
static void test_longer_in_one_module(void **state)
{
    struct simulation *s = make(FAULT_NONE, 5, FAULT_LONGER);
    const struct ml_ranks *ranks;

    (void)state;
    for (uint32_t i = 0; i < RANKS; i++) {
        struct ml_digest_rank *of = &s->digests[i].ranks.items[0];

        for (size_t k = 0; k < of->cells.len; k++)
            if (of->cells.items[k].category == MEMLEDGER_ACTIVATION)
                of->cells.items[k].module = 1;
    }
    ranks = judge(s);
    assert_int_equal(ranks->findings.len, 1);
    assert_int_equal(ranks->findings.items[0].cause, ML_CAUSE_LONGER);
    drop(s);
}

/* Each rank has its inputs in another module: as a whole they do not differ. */
static void test_scattered_category(void **state)
{
    struct simulation *s = make(FAULT_NONE, 5, FAULT_UNSHARDED);
    const struct ml_ranks *ranks;

    (void)state;
    for (uint32_t i = 0; i < RANKS; i++) {
        struct ml_digest_rank *of = &s->digests[i].ranks.items[0];
        for (size_t k = 0; k < of->cells.len; k++)
            if (of->cells.items[k].category == MEMLEDGER_INPUT) {
                of->cells.items[k].module =
                    (of->cells.items[k].module + i) % (uint32_t)s->digests[i].modules.len;
                of->values.items[k] += UINT64_C(1) << 40;
            }
    }
    ranks = judge(s);
    assert_int_equal(ranks->findings.len, 1);
    assert_int_equal(ranks->findings.items[0].worst, 5);
    assert_int_equal(ranks->findings.items[0].category, MEMLEDGER_OPTIMIZER_STATE);
    drop(s);
}

static void test_lacks_module(void **state)
{
    struct simulation *s = make(FAULT_MODULE, 5, FAULT_NONE);
    const struct ml_ranks *ranks = judge(s);

    (void)state;
    assert_int_equal(ranks->findings.len, 1);
    assert_int_equal(ranks->findings.items[0].kind, ML_RANK_MODULES);
    assert_int_equal(ranks->findings.items[0].cause, ML_CAUSE_LACKS_MODULE);
    assert_string_equal(ranks->findings.items[0].module, "adapter");
    drop(s);
}

static void test_lost(void **state)
{
    struct simulation *s = make(FAULT_NONE, 0, FAULT_NONE);
    const struct ml_ranks *ranks;

    (void)state;
    s->digests[3].lost = 17;
    ranks = judge(s);
    assert_int_equal(ranks->findings.len, 1);
    assert_int_equal(ranks->findings.items[0].kind, ML_RANK_LOST);
    assert_int_equal(ranks->findings.items[0].worst, 3);
    assert_int_equal(ranks->findings.items[0].bytes, 17);
    drop(s);
}

static void keep_each_step(struct simulation *s, uint32_t rank, uint64_t bytes)
{
    struct ml_digest_rank *of = &s->digests[rank].ranks.items[0];

    for (size_t i = 0; i < of->rows.len; i++)
        of->rows.items[i].end_bytes += i * bytes;
}

/* 1 MiB a step is found after six steps, less after more. */
static void test_short_leak(void **state)
{
    struct simulation *s = make_job(&short_job, FAULT_NONE, 0, FAULT_NONE);
    const struct ml_ranks *ranks;

    (void)state;
    keep_each_step(s, 5, MIB);
    keep_each_step(s, 6, MIB / 4);
    ranks = judge(s);
    assert_int_equal(ranks->findings.len, 1);
    assert_int_equal(ranks->findings.items[0].kind, ML_RANK_LEAKS);
    assert_int_equal(ranks->findings.items[0].worst, 5);
    assert_int_equal(ranks->findings.items[0].bytes, MIB);
    drop(s);
}

/* One sample in 64 MiB of a heap cannot tell 5 % apart, nor a leak of that size. */
static void test_sampled_heap(void **state)
{
    (void)state;
    for (int sampled = 0; sampled < 2; sampled++) {
        struct simulation *s = make(FAULT_NONE, 0, FAULT_NONE);
        const struct ml_ranks *ranks;

        for (size_t i = 0; i < RANKS; i++) {
            struct ml_digest_rank *of = &s->digests[i].ranks.items[0];

            of->devices.items[0].name = "cpu";
            s->digests[i].heap_sampled_bytes = sampled ? UINT64_C(64) * MIB : 0;
            for (size_t c = 0; c < of->cells.len; c++)
                of->cells.items[c].category = MEMLEDGER_OTHER;
        }
        s->digests[5].ranks.items[0].devices.items[0].peak_bytes *= 1.05;
        keep_each_step(s, 9, 4 * MIB);
        ranks = judge(s);
        assert_int_equal(ranks->findings.len, sampled ? 0 : 2);
        drop(s);
    }
}

/* Memory of other ranks goes up and down by more: chance may let one rise in each of four steps. */
static void test_noisy_ends(void **state)
{
    struct simulation *s = make_job(&short_job, FAULT_NONE, 0, FAULT_NONE);

    (void)state;
    for (uint32_t rank = 0; rank < RANKS; rank++)
        for (size_t i = 0; i < short_job.steps; i++)
            s->digests[rank].ranks.items[0].rows.items[i].end_bytes +=
                (rank * 7 + i * (rank + 3)) % 8 * MIB;
    keep_each_step(s, 5, MIB);
    assert_int_equal(judge(s)->findings.len, 0);
    drop(s);
}

/* Other threads free some memory after the end of the step, on all ranks alike. */
static void test_leak_with_late_frees(void **state)
{
    struct simulation *s = make(FAULT_NONE, 0, FAULT_NONE);
    const struct ml_ranks *ranks;

    (void)state;
    for (uint32_t rank = 0; rank < RANKS; rank++)
        for (size_t i = rank % 3; i < job.steps; i += 3)
            s->digests[rank].ranks.items[0].rows.items[i].end_bytes += UINT64_C(150) * MIB;
    keep_each_step(s, 5, UINT64_C(40) * MIB);
    ranks = judge(s);
    assert_int_equal(ranks->findings.len, 1);
    assert_int_equal(ranks->findings.items[0].kind, ML_RANK_LEAKS);
    assert_int_equal(ranks->findings.items[0].worst, 5);
    assert_int_equal(ranks->findings.items[0].bytes, 40 * MIB);
    drop(s);
}

/* Ray kills its workers at the end; one that took fewer steps than the others failed. */
static void test_ends_under_ray(void **state)
{
    struct simulation *s = make(FAULT_NONE, 5, FAULT_KILLED);
    const struct ml_ranks *ranks;

    (void)state;
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        struct ml_digest_rank *of = &s->digests[rank].ranks.items[0];
        char place[64];

        snprintf(place, sizeof(place), "launcher=ray job=01000000 rank=%u world_size=16", rank);
        of->place = ml_arena_dup(&s->digests[rank].arena, place, strlen(place));
        of->ending = ML_ENDING_SIGNAL;
        of->signal = SIGKILL;
    }
    ranks = judge(s);
    assert_int_equal(ranks->findings.len, 1);
    assert_int_equal(ranks->findings.items[0].kind, ML_RANK_KILLED);
    assert_int_equal(ranks->findings.items[0].worst, 5);
    drop(s);
}

static void test_words(void **state)
{
    static const struct ml_style style = {0};
    struct ml_rank_finding f = {.kind = ML_RANK_ABOVE,
                                .cause = ML_CAUSE_INPUT_THERE,
                                .bytes = 5 * MIB,
                                .has_category = true,
                                .category = MEMLEDGER_INPUT,
                                .part_bytes = 5 * MIB,
                                .module = "loader",
                                .ratio = 3,
                                .input_ratio = 3,
                                .shared = ""};
    struct ml_buf out;

    (void)state;
    ml_buf_init(&out);
    assert_int_equal(ml_vec_push(&f.ranks, 1), 0);
    assert_int_equal(ml_rank_finding_words(&f, &style, &out), 0);
    assert_string_equal(out.data, "rank 1: +5.0 MiB inputs in loader: in that module only, other "
                                  "modules are like those of its peers (3.0 times the inputs of "
                                  "its peers)");
    ml_vec_release(&f.ranks);
    ml_buf_release(&out);
}

static void test_words_about_a_signal(void **state)
{
    static const struct ml_style style = {0};
    struct ml_rank_finding f = {.kind = ML_RANK_KILLED, .signal = SIGKILL, .shared = ""};
    struct ml_buf out;

    (void)state;
    ml_buf_init(&out);
    assert_int_equal(ml_vec_push(&f.ranks, 1), 0);
    assert_int_equal(ml_rank_finding_words(&f, &style, &out), 0);
    assert_string_equal(out.data, "rank 1 was killed by signal 9 (Killed)");
    ml_vec_release(&f.ranks);
    ml_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clocks),
        cmocka_unit_test(test_below),
        cmocka_unit_test(test_longer_in_one_module),
        cmocka_unit_test(test_scattered_category),
        cmocka_unit_test(test_lacks_module),
        cmocka_unit_test(test_sampled_heap),
        cmocka_unit_test(test_lost),
        cmocka_unit_test(test_short_leak),
        cmocka_unit_test(test_noisy_ends),
        cmocka_unit_test(test_leak_with_late_frees),
        cmocka_unit_test(test_ends_under_ray),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_words_about_a_signal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
