/* test_analyze_ledger.c: the book of a device: what is in it, and that it balances.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_books.h"

#include <errno.h>
#include <stdio.h>

/* ---- What is in the book ----------------------------------------------- */

static void every_byte_is_entered_once(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t tensors = space_on(&f, 0, "cuda:0", MEMLEDGER_BLOCK, "tensors");
    uint32_t memory = driver_space(&f, ML_CUDA_MEMORY);
    struct ml_ledger ledger;

    (void)state;
    ml_maker_setting(f.maker, "gpu cuda:0", "NVIDIA H200");
    sample(&f, 0, 3);
    fixture_alloc(&f, driver_space(&f, ML_CUDA_CONTEXT), 1, 500 * MIB);
    fixture_alloc(&f, driver_space(&f, ML_CUDA_MODULES), 1, 90 * MIB);
    fixture_alloc(&f, driver_space(&f, ML_CUDA_LIMITS), 1, 11);
    fixture_alloc(&f, driver_space(&f, ML_CUDA_ROUNDING), 1, 12);
    fixture_alloc(&f, driver_space(&f, ML_CUDA_OTHER), 1, 13);
    fixture_alloc(&f, driver_space(&f, ML_CUDA_ARRAYS), 1, 14);
    fixture_alloc(&f, driver_space(&f, ML_CUDA_GRAPHS), 1, 15);
    fixture_alloc(&f, memory, 0x10000, 0x1000);
    fixture_alloc(&f, memory, 0x20000, 77);
    fixture_alloc(&f, tensors, 0x10000, 0x200);
    fixture_label(&f, tensors, 0x10000, "w", MEMLEDGER_PARAMETER);
    fixture_alloc(&f, tensors, 0x10400, 0x100);
    sample(&f, ML_SAMPLE_INSIDE, 600 * MIB);
    ledger = book_at(&f, ML_AT_PEAK, 0);
    assert_entry(&ledger, "context", 500 * MIB);
    assert_entry(&ledger, "kernels and modules", 90 * MIB);
    assert_entry(&ledger, "limits: stacks, heap, printf", 11);
    assert_entry(&ledger, "rounding to pages", 12);
    assert_entry(&ledger, "streams, events, first copies", 13);
    assert_entry(&ledger, "arrays", 14);
    assert_entry(&ledger, "graphs", 15);
    assert_entry(&ledger, "driver allocations", 77);
    assert_entry(&ledger, "blocks", 0x1000);
    assert_entry(&ledger, "blocks/parameter", 0x200);
    assert_entry(&ledger, "blocks/parameter/w", 0x200);
    assert_entry(&ledger, "blocks/without a category", 0x100);
    assert_entry(&ledger, "blocks/slack", 0xd00);
    assert_entry(&ledger, "used before the run began", 3);
    assert_balanced(&ledger, (int64_t)(10 * MIB - 11 - 12 - 13 - 14 - 15 - 77 - 0x1000 - 3));
    assert_string_equal(ledger.devices.items[0].model, "NVIDIA H200");
    assert_int_equal(ledger.devices.items[0].reserved_bytes, 300 * MIB);
    assert_string_equal(ledger.devices.items[0].book.entries.items[0].name, "context");
    ml_ledger_release(&ledger);
}

static void slack_is_split_where_segments_are_known(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t tensors = space_on(&f, 0, "cuda:0", MEMLEDGER_BLOCK, "tensors");
    uint32_t segments = space_on(&f, 0, "cuda:0", MEMLEDGER_POOL, "caching");
    uint32_t memory = driver_space(&f, ML_CUDA_MEMORY);
    struct ml_ledger ledger;

    (void)state;
    fixture_alloc(&f, memory, 0x10000, 0x1000);
    fixture_alloc(&f, segments, 0x10000, 0xc00);
    fixture_alloc(&f, tensors, 0x10100, 0x200);
    fixture_alloc(&f, memory, 0x30000, 0x500); /* a segment that is all free */
    fixture_alloc(&f, segments, 0x30000, 0x500);
    fixture_alloc(&f, memory, 0x40000, 0x10);
    sample(&f, 0, 0x1510);
    ledger = book_at(&f, ML_AT_PEAK, 0);
    assert_entry(&ledger, "blocks", 0x1500);
    assert_entry(&ledger, "blocks/pool slack", 0x1300);
    assert_entry(&ledger, "blocks/pool slack/free inside segments", 0xa00 + 0x500);
    assert_entry(&ledger, "blocks/pool slack/outside segments", 0x400);
    assert_entry(&ledger, "driver allocations", 0x10);
    assert_balanced(&ledger, 0);
    ml_ledger_release(&ledger);
}

static void private_pools_stand_by_region(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t tensors = space_on(&f, 0, "cuda:0", MEMLEDGER_BLOCK, "tensors");
    uint32_t memory = driver_space(&f, ML_CUDA_MEMORY);
    uint32_t net =
        ml_maker_scope(f.maker, 0, MEMLEDGER_SCOPE_MODULE, ml_maker_string(f.maker, "net"));
    uint32_t layer =
        ml_maker_scope(f.maker, net, MEMLEDGER_SCOPE_MODULE, ml_maker_string(f.maker, "fc"));
    struct ml_ledger ledger;

    (void)state;
    fixture_alloc(&f, memory, 0x10000, 0x1000);
    fixture_alloc(&f, tensors, 0x10000, 0x200);
    fixture_event(
        &f, (struct ml_event){
                .kind = ML_ALLOC, .space = memory, .scope = layer, .addr = 0x20000, .size = 0x800});
    fixture_label(&f, memory, 0x20000, "CUDA graphs", MEMLEDGER_OTHER);
    fixture_alloc(&f, tensors, 0x20000, 0x300);
    fixture_label(&f, tensors, 0x20000, "h", MEMLEDGER_ACTIVATION);
    fixture_alloc(&f, tensors, 0x20400, 0x100);
    fixture_alloc(&f, memory, 0x30000, 0x400); /* a pool of the program, all free */
    fixture_label(&f, memory, 0x30000, "MemPool", MEMLEDGER_OTHER);
    sample(&f, 0, 0x1c00);
    ledger = book_at(&f, ML_AT_PEAK, 0);
    assert_entry(&ledger, "blocks", 0x1000);
    assert_entry(&ledger, "private pools", 0xc00);
    assert_entry(&ledger, "private pools/CUDA graphs: net", 0x800);
    assert_entry(&ledger, "private pools/CUDA graphs: net/activation", 0x300);
    assert_entry(&ledger, "private pools/CUDA graphs: net/without a category", 0x100);
    assert_entry(&ledger, "private pools/CUDA graphs: net/slack", 0x400);
    assert_entry(&ledger, "private pools/MemPool", 0x400);
    assert_balanced(&ledger, 0);
    ml_ledger_release(&ledger);
}

/* Segments that grow are mapped piece by piece, and tensors lie across. */
static void a_block_may_lie_across_allocations(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t tensors = space_on(&f, 0, "cuda:0", MEMLEDGER_BLOCK, "tensors");
    uint32_t mapped = driver_space(&f, ML_CUDA_VIRTUAL);
    struct ml_ledger ledger;

    (void)state;
    fixture_alloc(&f, mapped, 0x10000, 0x1000);
    fixture_alloc(&f, mapped, 0x11000, 0x1000);
    fixture_alloc(&f, mapped, 0x13000, 0x1000); /* behind a gap */
    fixture_alloc(&f, tensors, 0x10800, 0x1000);
    fixture_alloc(&f, tensors, 0x12800, 0x900); /* begins in the gap */
    sample(&f, 0, 0x3000);
    ledger = book_at(&f, ML_AT_PEAK, 0);
    assert_entry(&ledger, "blocks", 0x3000);
    assert_entry(&ledger, "blocks/without a category", 0x1100);
    assert_entry(&ledger, "blocks/slack", 0x1f00);
    assert_int_equal(ledger.devices.items[0].stray_bytes, 0x800);
    assert_balanced(&ledger, 0);
    ml_ledger_release(&ledger);
}

static void blocks_over_each_other_count_once(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t outer = space_on(&f, 0, "cuda:0", MEMLEDGER_BLOCK, "outer");
    uint32_t inner = space_on(&f, 0, "cuda:0", MEMLEDGER_BLOCK, "inner");
    struct ml_ledger ledger;

    (void)state;
    fixture_alloc(&f, driver_space(&f, ML_CUDA_MEMORY), 0x10000, 0x1000);
    fixture_alloc(&f, outer, 0x10000, 0x800);
    fixture_label(&f, outer, 0x10000, "o", MEMLEDGER_BUFFER);
    fixture_alloc(&f, inner, 0x10400, 0x800);
    fixture_label(&f, inner, 0x10400, "i", MEMLEDGER_INPUT);
    sample(&f, 0, 0x1000);
    ledger = book_at(&f, ML_AT_PEAK, 0);
    assert_entry(&ledger, "blocks/buffer", 0x800);
    assert_entry(&ledger, "blocks/input", 0x400);
    assert_entry(&ledger, "blocks/slack", 0x400);
    assert_balanced(&ledger, 0);
    ml_ledger_release(&ledger);
}

static void stream_ordered_blocks_lie_in_their_pools(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t async = space_on(&f, 0, "cuda:0", MEMLEDGER_BLOCK, ML_CUDA_ASYNC);
    uint32_t tensors = space_on(&f, 0, "cuda:0", MEMLEDGER_BLOCK, "tensors");
    struct ml_ledger ledger;

    (void)state;
    fixture_alloc(&f, driver_space(&f, ML_CUDA_POOLS), 1, 0x4000);
    fixture_alloc(&f, async, 0x70000, 0x1000);
    fixture_alloc(&f, async, 0x80000, 0x1000); /* with a tensor inside */
    fixture_alloc(&f, tensors, 0x80100, 0x300);
    fixture_label(&f, tensors, 0x80100, "x", MEMLEDGER_ACTIVATION);
    sample(&f, 0, 0x4000);
    ledger = book_at(&f, ML_AT_PEAK, 0);
    assert_entry(&ledger, "stream-ordered pools", 0x4000);
    assert_entry(&ledger, "stream-ordered pools/without a category", 0x1000);
    assert_entry(&ledger, "stream-ordered pools/activation", 0x300);
    assert_entry(&ledger, "stream-ordered pools/pool slack", 0x2000 + 0xd00);
    assert_int_equal(ledger.devices.items[0].stray_bytes, 0);
    assert_balanced(&ledger, 0);
    ml_ledger_release(&ledger);
}

static void pools_smaller_than_their_blocks_are_not_hidden(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t async = space_on(&f, 0, "cuda:0", MEMLEDGER_BLOCK, ML_CUDA_ASYNC);
    struct ml_ledger ledger;

    (void)state;
    fixture_alloc(&f, driver_space(&f, ML_CUDA_POOLS), 1, 100);
    fixture_alloc(&f, async, 0x70000, 150);
    sample(&f, 0, 100);
    ledger = book_at(&f, ML_AT_PEAK, 0);
    assert_entry(&ledger, "stream-ordered pools", 100);
    assert_entry(&ledger, "stream-ordered pools/pool slack", -50);
    assert_balanced(&ledger, 0);
    ml_ledger_release(&ledger);
}

static void without_categories_scopes_stand_in_their_place(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t tensors = space_on(&f, 0, "cuda:0", MEMLEDGER_BLOCK, "tensors");
    uint32_t net =
        ml_maker_scope(f.maker, 0, MEMLEDGER_SCOPE_USER, ml_maker_string(f.maker, "net"));
    uint32_t op =
        ml_maker_scope(f.maker, net, MEMLEDGER_SCOPE_OPERATOR, ml_maker_string(f.maker, "conv2d"));
    struct ml_ledger ledger;

    (void)state;
    fixture_alloc(&f, driver_space(&f, ML_CUDA_MEMORY), 0x10000, 0x1000);
    fixture_event(
        &f, (struct ml_event){
                .kind = ML_ALLOC, .space = tensors, .scope = op, .addr = 0x10000, .size = 0x100});
    fixture_event(
        &f, (struct ml_event){
                .kind = ML_ALLOC, .space = tensors, .scope = net, .addr = 0x10100, .size = 0x200});
    sample(&f, 0, 0x1000);
    ledger = book_at(&f, ML_AT_PEAK, 0);
    assert_entry(&ledger, "blocks/net", 0x300); /* the operator says less than what is around it */
    assert_entry(&ledger, "blocks/slack", 0xd00);
    assert_none(&ledger, "blocks/without a category");
    assert_balanced(&ledger, 0);
    ml_ledger_release(&ledger);
}

static void a_module_gives_categories(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t tensors = space_on(&f, 0, "cuda:0", MEMLEDGER_BLOCK, "tensors");
    uint32_t net =
        ml_maker_scope(f.maker, 0, MEMLEDGER_SCOPE_MODULE, ml_maker_string(f.maker, "net"));
    struct ml_ledger ledger;

    (void)state;
    fixture_alloc(&f, driver_space(&f, ML_CUDA_MEMORY), 0x10000, 0x1000);
    fixture_event(
        &f, (struct ml_event){
                .kind = ML_ALLOC, .space = tensors, .scope = net, .addr = 0x10000, .size = 0x100});
    sample(&f, 0, 0x1000);
    ledger = book_at(&f, ML_AT_PEAK, 0);
    assert_entry(&ledger, "blocks/activation", 0x100);
    assert_entry(&ledger, "blocks/activation/net", 0x100);
    assert_balanced(&ledger, 0);
    ml_ledger_release(&ledger);
}

static void long_lists_are_cut(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t tensors = space_on(&f, 0, "cuda:0", MEMLEDGER_BLOCK, "tensors");
    struct ml_ledger ledger;

    (void)state;
    fixture_alloc(&f, driver_space(&f, ML_CUDA_MEMORY), 0x10000, 0x10000);
    for (uint64_t i = 0; i < 6; i++) {
        char name[] = {(char)('a' + i), '\0'};

        fixture_alloc(&f, tensors, 0x10000 + i * 0x1000, 0x100 * (i + 1));
        fixture_label(&f, tensors, 0x10000 + i * 0x1000, name, MEMLEDGER_PARAMETER);
    }
    sample(&f, 0, 0x10000);
    ledger = book_with(&f, (struct ml_ledger_opts){.top = 2});
    assert_int_equal(find(&ledger, "blocks/parameter")->entries.len, 3);
    assert_entry(&ledger, "blocks/parameter", 0x1500);
    assert_entry(&ledger, "blocks/parameter/f", 0x600);
    assert_entry(&ledger, "blocks/parameter/e", 0x500);
    assert_entry(&ledger, "blocks/parameter/4 more", 0xa00);
    assert_string_equal(find(&ledger, "blocks/parameter")->entries.items[2].name, "4 more");
    assert_balanced(&ledger, 0);
    ml_ledger_release(&ledger);
}

static void names_given_later_count(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t tensors = space_on(&f, 0, "cuda:0", MEMLEDGER_BLOCK, "tensors");
    struct ml_ledger ledger;

    (void)state;
    fixture_alloc(&f, driver_space(&f, ML_CUDA_MEMORY), 0x10000, 0x1000);
    fixture_alloc(&f, tensors, 0x10000, 0x100);
    sample(&f, 0, 0x1000);
    fixture_label(&f, tensors, 0x10000, "w", MEMLEDGER_PARAMETER);
    fixture_free(&f, tensors, 0x10000);
    ledger = book_at(&f, ML_AT_PEAK, 0);
    assert_entry(&ledger, "blocks/parameter/w", 0x100);
    ml_ledger_release(&ledger);
}

/* A program that reports its pools, recorded without the driver's calls. */
static void reported_blocks_stand_for_unrecorded_calls(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t blocks = space_on(&f, 0, "cuda:0", MEMLEDGER_BLOCK, "mine");
    uint32_t segments = space_on(&f, 0, "cuda:0", MEMLEDGER_POOL, "mine");
    struct ml_ledger ledger;

    (void)state;
    fixture_alloc(&f, segments, 0x10000, 0x1000);
    fixture_alloc(&f, blocks, 0x10000, 0x100);
    fixture_alloc(&f, blocks, 0x90000, 0x200);
    sample(&f, 0, 0x2000);
    ledger = book_at(&f, ML_AT_PEAK, 0);
    assert_entry(&ledger, "reported by the program", 0x1200);
    assert_entry(&ledger, "reported by the program/without a category", 0x300);
    assert_entry(&ledger, "reported by the program/pool slack", 0xf00);
    assert_int_equal(ledger.devices.items[0].stray_bytes, 0);
    assert_balanced(&ledger, 0xe00);
    ml_ledger_release(&ledger);
}

static void more_in_the_book_than_used_is_told(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_ledger ledger;

    (void)state;
    fixture_alloc(&f, driver_space(&f, ML_CUDA_CONTEXT), 1, 300);
    sample(&f, 0, 200);
    ledger = book_at(&f, ML_AT_PEAK, 0);
    assert_balanced(&ledger, -100);
    assert_true(ledger.devices.items[0].unexplained_percent < -49.9);
    ml_ledger_release(&ledger);
}

/* ---- Processes --------------------------------------------------------- */

static void several_processes_have_pages_of_their_own(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t second = fixture_process(&f, 1, 200, 0, ML_STARTED);
    uint32_t tensors = space_on(&f, second, "cuda:0", MEMLEDGER_BLOCK, "tensors");
    struct ml_ledger ledger;

    (void)state;
    fixture_alloc(&f, driver_space(&f, ML_CUDA_CONTEXT), 1, 300);
    fixture_alloc(&f, driver_space(&f, ML_CUDA_MEMORY), 0x10000, 0x1000);
    fixture_alloc(&f, space_on(&f, second, "cuda:0", MEMLEDGER_DRIVER, ML_CUDA_MEMORY), 0x10000,
                  0x2000);
    fixture_alloc(&f, tensors, 0x10000, 0x100); /* in the second's memory, not the first's */
    sample(&f, 0, 300 + 0x3000 + 5);
    ledger = book_at(&f, ML_AT_PEAK, 0);
    assert_entry(&ledger, "process 100: program", 300 + 0x1000);
    assert_entry(&ledger, "process 100: program/context", 300);
    assert_entry(&ledger, "process 100: program/driver allocations", 0x1000);
    assert_entry(&ledger, "process 200: ", 0x2000);
    assert_entry(&ledger, "process 200: /blocks/without a category", 0x100);
    assert_balanced(&ledger, 5);
    ml_ledger_release(&ledger);
}

static void what_ended_processes_had_is_gone(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t second = fixture_process(&f, 1, 200, 0, ML_STARTED);
    struct ml_ledger ledger;

    (void)state;
    fixture_alloc(&f, driver_space(&f, ML_CUDA_CONTEXT), 1, 300);
    fixture_alloc(&f, space_on(&f, second, "cuda:0", MEMLEDGER_DRIVER, ML_CUDA_CONTEXT), 1, 400);
    end_process(&f, second);
    sample(&f, 0, 310);
    ledger = book_at(&f, ML_AT_PEAK, 0);
    assert_entry(&ledger, "context", 300);
    assert_balanced(&ledger, 10);
    ml_ledger_release(&ledger);
}

static void other_processes_are_as_the_driver_says(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_ledger ledger;

    (void)state;
    sample(&f, 0, 50 * MIB); /* before the run; the driver's word counts more */
    fixture_alloc(&f, driver_space(&f, ML_CUDA_CONTEXT), 1, 3 * MIB);
    sample_on(&f, "cuda:0", ML_SAMPLE_BY_PROCESS, 0);
    sample_on(&f, "cuda:0", KNOWN | ML_SAMPLE_BY_PROCESS | 1 << ML_SAMPLE_PROCESS_SHIFT, 60 * MIB);
    ledger = book_at(&f, ML_AT_PEAK, 0);
    assert_entry(&ledger, "other processes", 7 * MIB);
    assert_none(&ledger, "used before the run began");
    assert_true(ledger.devices.items[0].others_known);
    assert_balanced(&ledger, 50 * MIB);
    ml_ledger_release(&ledger);
}

static void a_figure_with_the_reserve_needs_the_first_sample(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_ledger ledger;

    (void)state;
    ml_maker_setting(f.maker, "gpu_used_has_reserve", "yes");
    sample(&f, ML_SAMPLE_BY_PROCESS, 600 * MIB);
    fixture_alloc(&f, driver_space(&f, ML_CUDA_CONTEXT), 1, 3 * MIB);
    sample(&f, 0, 603 * MIB);
    ledger = book_at(&f, ML_AT_PEAK, 0);
    assert_entry(&ledger, "used before the run began", 600 * MIB);
    assert_none(&ledger, "other processes");
    assert_balanced(&ledger, 0);
    ml_ledger_release(&ledger);
}

static void a_first_sample_after_the_first_entry_tells_nothing_of_others(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_ledger ledger;

    (void)state;
    fixture_alloc(&f, driver_space(&f, ML_CUDA_CONTEXT), 1, 3);
    sample(&f, 0, 60);
    ledger = book_at(&f, ML_AT_PEAK, 0);
    assert_none(&ledger, "used before the run began");
    assert_false(ledger.devices.items[0].others_known);
    assert_balanced(&ledger, 57);
    ml_ledger_release(&ledger);
}

/* ---- Managed memory ---------------------------------------------------- */

static struct ml_ledger managed_book(uint64_t managed, uint64_t used)
{
    struct fixture f = fixture_begin();

    fixture_alloc(&f, driver_space(&f, ML_CUDA_CONTEXT), 1, 300);
    fixture_alloc(&f, space_on(&f, 0, ML_CUDA_MANAGED_DEVICE, MEMLEDGER_DRIVER, ML_CUDA_MANAGED),
                  0x10000, managed);
    sample(&f, 0, used);
    return book_at(&f, ML_AT_PEAK, 0);
}

static void managed_memory_takes_the_remainder_up_to_its_size(void **state)
{
    static const struct {
        uint64_t used;
        int64_t managed, unexplained;
    } cases[] = {{350, 50, 0}, {500, 100, 100}, {300, 0, 0}, {290, 0, -10}};

    (void)state;
    for (size_t i = 0; i < ML_ARRAY_SIZE(cases); i++) {
        struct ml_ledger ledger = managed_book(100, cases[i].used);
        const struct ml_ledger_entry *entry = find(&ledger, "managed memory");

        assert_non_null(entry);
        assert_int_equal(entry->bytes, cases[i].managed);
        assert_true(entry->inferred);
        assert_int_equal(entry->of_bytes, 100);
        assert_balanced(&ledger, cases[i].unexplained);
        assert_int_equal(ledger.devices.len, 1);
        ml_ledger_release(&ledger);
    }
}

static void without_managed_memory_nothing_is_inferred(void **state)
{
    struct ml_ledger ledger = managed_book(0, 500);

    (void)state;
    assert_none(&ledger, "managed memory");
    assert_balanced(&ledger, 200);
    ml_ledger_release(&ledger);
}

/* ---- The host ---------------------------------------------------------- */

static void resident(struct fixture *f, uint32_t process, uint64_t more_bits, uint64_t bytes)
{
    uint64_t bits = ML_SAMPLE_BY_PROCESS | more_bits | (1 + process) << ML_SAMPLE_PROCESS_SHIFT;

    fixture_event(
        f, (struct ml_event){.kind = ML_SAMPLE,
                             .args = {ml_maker_string(f->maker, "cpu"), bits, 0, 0, 0, bytes}});
}

static void the_host_is_what_processes_have_resident(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t second = fixture_process(&f, 1, 200, 0, ML_STARTED);
    struct ml_ledger ledger;

    (void)state;
    fixture_alloc(&f, fixture_space(&f, ML_MAP_SPACE_NAME), 0x10000, 4000);
    fixture_alloc(&f, fixture_space(&f, ML_HEAP_SPACE_NAME), 0x10000, 3000); /* in the mapping */
    fixture_alloc(&f, f.block, 0x10000, 500);                                /* in that one */
    fixture_alloc(&f, fixture_space(&f, ML_CUDA_PINNED), 0x90000, 70);
    fixture_alloc(&f, fixture_space(&f, ML_TORCH_SPACE_NAME), 0x10800, 30); /* in malloc's */
    sample_on(&f, "cpu", KNOWN, 999 * MIB);                                 /* the whole system */
    resident(&f, 0, 0, 5000);
    resident(&f, second, 0, 800);
    resident(&f, 0, ML_SAMPLE_SHARE, 9000000);
    resident(&f, 0, 0, 4500);
    end_process(&f, second);
    resident(&f, 0, 0, 4400);
    ledger = book_with(&f, (struct ml_ledger_opts){.device = "cpu", .top = 5});
    assert_true(ledger.devices.items[0].host);
    assert_int_equal(ledger.devices.items[0].used_bytes, 5800);
    assert_entry(&ledger, "mmap", 1000);
    assert_entry(&ledger, "malloc", 2470);
    assert_entry(&ledger, "PyTorch", 30);
    assert_entry(&ledger, "reported by the program", 500);
    assert_entry(&ledger, "pinned for CUDA", 70);
    assert_balanced(&ledger, 5800 - 4070);
    ml_ledger_release(&ledger);
}

static void the_host_at_the_end_has_only_who_is_left(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t second = fixture_process(&f, 1, 200, 0, ML_STARTED);
    uint32_t same = fixture_process(&f, 2, 100, 0, ML_EXECED);
    struct ml_ledger ledger;

    (void)state;
    resident(&f, 0, 0, 5000);
    resident(&f, second, 0, 800);
    end_process(&f, second);
    resident(&f, same, 0, 70);
    ledger = book_with(&f, (struct ml_ledger_opts){.at = {.kind = ML_AT_END}, .device = "cpu"});
    assert_int_equal(ledger.devices.items[0].used_bytes, 70);
    assert_balanced(&ledger, 70);
    ml_ledger_release(&ledger);
}

/* ---- Devices ----------------------------------------------------------- */

static void used_devices_are_listed_in_order(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_ledger ledger;

    (void)state;
    fixture_alloc(&f, space_on(&f, 0, "cuda:10", MEMLEDGER_DRIVER, ML_CUDA_MEMORY), 1, 10);
    fixture_alloc(&f, space_on(&f, 0, "cuda:2", MEMLEDGER_DRIVER, ML_CUDA_MEMORY), 1, 20);
    fixture_alloc(&f, f.block, 1, 20);
    sample_on(&f, "cuda:1", KNOWN, 1);
    sample_on(&f, "cuda:2", KNOWN, 21);
    sample_on(&f, "cuda:10", KNOWN, 12);
    ledger = book_at(&f, ML_AT_PEAK, 0);
    assert_int_equal(ledger.devices.len, 2); /* cuda:1 was only watched */
    assert_string_equal(ledger.devices.items[0].name, "cuda:2");
    assert_int_equal(ledger.devices.items[0].unexplained_bytes, 1);
    assert_string_equal(ledger.devices.items[1].name, "cuda:10");
    assert_int_equal(ledger.devices.items[1].unexplained_bytes, 2);
    ml_ledger_release(&ledger);
}

static void a_device_is_found_by_name_or_number(void **state)
{
    static const char *const names[] = {"cuda:1", "1"};

    (void)state;
    for (size_t i = 0; i < ML_ARRAY_SIZE(names); i++) {
        struct fixture f = fixture_begin();
        struct ml_ledger ledger;

        fixture_alloc(&f, driver_space(&f, ML_CUDA_MEMORY), 1, 20);
        sample_on(&f, "cuda:1", KNOWN, 7);
        ledger = book_with(&f, (struct ml_ledger_opts){.device = names[i]});
        assert_int_equal(ledger.devices.len, 1);
        assert_string_equal(ledger.devices.items[0].name, "cuda:1");
        assert_entry(&ledger, "used before the run began", 7);
        assert_balanced(&ledger, 0);
        ml_ledger_release(&ledger);
    }
}

static void devices_with_a_context_alone_are_left_out(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_ledger ledger;

    (void)state;
    fixture_alloc(&f, driver_space(&f, ML_CUDA_CONTEXT), 1, 3);
    fixture_alloc(&f, space_on(&f, 0, "cuda:1", MEMLEDGER_DRIVER, ML_CUDA_CONTEXT), 1, 3);
    fixture_alloc(&f, space_on(&f, 0, "cuda:1", MEMLEDGER_DRIVER, ML_CUDA_MEMORY), 1, 3);
    ledger = book_at(&f, ML_AT_PEAK, 0);
    assert_int_equal(ledger.devices.len, 1);
    assert_string_equal(ledger.devices.items[0].name, "cuda:1");
    assert_int_equal(ledger.bare_devices, 1);
    ml_ledger_release(&ledger);
}

/* Each book takes a reading of the trace: as many as there are devices would take hours. */
static void of_many_devices_those_that_used_most_are_listed(void **state)
{
    enum { DEVICES = 30000 };
    struct fixture f = fixture_begin();
    struct ml_ledger ledger;
    char name[32];

    (void)state;
    for (uint32_t i = 0; i < DEVICES; i++) {
        snprintf(name, sizeof(name), "cuda:%u", i);
        fixture_alloc(&f, space_on(&f, 0, name, MEMLEDGER_DRIVER, ML_CUDA_MEMORY), i + 1, i + 1);
    }
    ledger = book_at(&f, ML_AT_PEAK, 0);
    assert_int_equal(ledger.devices.len, ML_LEDGER_DEVICES_MAX);
    assert_int_equal(ledger.unlisted_devices, DEVICES - ML_LEDGER_DEVICES_MAX);
    assert_string_equal(ledger.devices.items[ML_LEDGER_DEVICES_MAX - 1].name, "cuda:29999");
    ml_ledger_release(&ledger);
}

static void watched_devices_are_listed_when_none_is_used(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_ledger ledger;

    (void)state;
    sample_on(&f, "cuda:1", KNOWN, 7);
    sample_on(&f, "cpu", KNOWN, 7);
    sample_on(&f, "cuda:0", KNOWN, 7);
    ledger = book_at(&f, ML_AT_PEAK, 0);
    assert_int_equal(ledger.devices.len, 2);
    assert_string_equal(ledger.devices.items[0].name, "cuda:0");
    ml_ledger_release(&ledger);
}

static void expect_no_device(struct fixture *f, const char *asked, const char *words)
{
    struct ml_trace *trace = fixture_open(f);
    struct ml_ledger_opts opts = {.device = asked};
    struct ml_error err = {0};
    struct ml_ledger ledger;

    assert_int_equal(ml_ledger(trace, &opts, &ledger, &err), -ENODEV);
    if (!strstr(err.text, words))
        fail_msg("'%s' does not say '%s'", err.text, words);
    ml_ledger_release(&ledger);
    ml_trace_free(trace);
}

static void a_missing_device_is_told_with_a_way_out(void **state)
{
    struct fixture f = fixture_begin();

    (void)state;
    fixture_alloc(&f, f.block, 1, 20);
    expect_no_device(&f, NULL, "memledger summary");
    f = fixture_begin();
    fixture_alloc(&f, driver_space(&f, ML_CUDA_MEMORY), 1, 20);
    expect_no_device(&f, "cuda:3", "cuda:0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_is_entered_once),
        cmocka_unit_test(slack_is_split_where_segments_are_known),
        cmocka_unit_test(private_pools_stand_by_region),
        cmocka_unit_test(a_block_may_lie_across_allocations),
        cmocka_unit_test(blocks_over_each_other_count_once),
        cmocka_unit_test(stream_ordered_blocks_lie_in_their_pools),
        cmocka_unit_test(pools_smaller_than_their_blocks_are_not_hidden),
        cmocka_unit_test(without_categories_scopes_stand_in_their_place),
        cmocka_unit_test(a_module_gives_categories),
        cmocka_unit_test(long_lists_are_cut),
        cmocka_unit_test(names_given_later_count),
        cmocka_unit_test(reported_blocks_stand_for_unrecorded_calls),
        cmocka_unit_test(more_in_the_book_than_used_is_told),
        cmocka_unit_test(several_processes_have_pages_of_their_own),
        cmocka_unit_test(what_ended_processes_had_is_gone),
        cmocka_unit_test(other_processes_are_as_the_driver_says),
        cmocka_unit_test(a_figure_with_the_reserve_needs_the_first_sample),
        cmocka_unit_test(a_first_sample_after_the_first_entry_tells_nothing_of_others),
        cmocka_unit_test(managed_memory_takes_the_remainder_up_to_its_size),
        cmocka_unit_test(without_managed_memory_nothing_is_inferred),
        cmocka_unit_test(the_host_is_what_processes_have_resident),
        cmocka_unit_test(the_host_at_the_end_has_only_who_is_left),
        cmocka_unit_test(used_devices_are_listed_in_order),
        cmocka_unit_test(a_device_is_found_by_name_or_number),
        cmocka_unit_test(devices_with_a_context_alone_are_left_out),
        cmocka_unit_test(of_many_devices_those_that_used_most_are_listed),
        cmocka_unit_test(watched_devices_are_listed_when_none_is_used),
        cmocka_unit_test(a_missing_device_is_told_with_a_way_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
