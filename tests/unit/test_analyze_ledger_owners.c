/* test_analyze_ledger_owners.c: the ledger names the owner of an allocation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_fixture.h"

#include "cuda_spaces.h"
#include "ledger.h"

static uint32_t space(struct fixture *f, uint32_t level, const char *name)
{
    return ml_maker_space(f->maker, 0, ml_maker_string(f->maker, "cuda:0"), level,
                          ml_maker_string(f->maker, name));
}

/* A stack whose innermost frame lies in that library. */
static uint32_t stack_in(struct fixture *f, const char *path, uint64_t address)
{
    uint32_t library = ml_maker_library(f->maker, 0, 0x1000, 0x100000, path, "");

    return ml_maker_stack(f->maker, 0, ml_maker_frame(f->maker, library, address));
}

static void alloc(struct fixture *f, uint32_t in, uint32_t stack, uint64_t addr, uint64_t size)
{
    fixture_event(f,
                  (struct ml_event){
                      .kind = ML_ALLOC, .space = in, .stack = stack, .addr = addr, .size = size});
}

static void sample(struct fixture *f, uint64_t used)
{
    fixture_event(
        f, (struct ml_event){.kind = ML_SAMPLE,
                             .args = {ml_maker_string(f->maker, "cuda:0"), ML_SAMPLE_USED, used}});
}

static void assert_entry(const struct ml_ledger_entry *parent, size_t i, const char *name,
                         int64_t bytes)
{
    assert_true(parent->entries.len > i);
    assert_string_equal(parent->entries.items[i].name, name);
    assert_int_equal(parent->entries.items[i].bytes, bytes);
}

static struct ml_ledger book_of(struct fixture *f)
{
    struct ml_trace *trace = fixture_open(f);
    struct ml_ledger_opts opts = {.top = 5};
    struct ml_error err = {0};
    struct ml_ledger ledger;

    if (ml_ledger(trace, &opts, &ledger, &err) < 0)
        fail_msg("%s", err.text);
    ml_trace_free(trace);
    return ledger;
}

static void allocations_and_modules_are_told_by_owner(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t memory = space(&f, MEMLEDGER_DRIVER, ML_CUDA_MEMORY);
    uint32_t modules = space(&f, MEMLEDGER_DRIVER, ML_CUDA_MODULES);
    uint32_t blas = stack_in(&f, "/usr/lib/libcublas.so.12", 1);
    uint32_t blas_too = stack_in(&f, "/usr/lib/libcublasLt.so.12", 2);
    struct ml_ledger ledger;
    const struct ml_ledger_entry *book;

    (void)state;
    alloc(&f, memory, blas, 0x10000, 60);
    alloc(&f, memory, blas_too, 0x20000, 30);
    alloc(&f, memory, stack_in(&f, "/opt/app/solver", 3), 0x30000, 20);
    alloc(&f, memory, 0, 0x40000, 5);
    alloc(&f, modules, blas, 1, 7);
    sample(&f, 125);
    ledger = book_of(&f);
    book = &ledger.devices.items[0].book;
    assert_entry(book, 0, "driver allocations", 115);
    assert_entry(&book->entries.items[0], 0, "cuBLAS", 90); /* two stacks, one owner */
    assert_entry(&book->entries.items[0], 1, "solver", 20);
    assert_entry(&book->entries.items[0], 2, "caller not recorded", 5);
    assert_entry(book, 1, "kernels and modules", 7);
    assert_entry(&book->entries.items[1], 0, "cuBLAS", 7);
    assert_int_equal(ledger.devices.items[0].unexplained_bytes, 3);
    assert_true(ledger.devices.items[0].balanced);
    ml_ledger_release(&ledger);
}

static void alloc_in(struct fixture *f, uint32_t in, uint32_t stack, uint32_t scope, uint64_t addr,
                     uint64_t size)
{
    fixture_event(f, (struct ml_event){.kind = ML_ALLOC,
                                       .space = in,
                                       .stack = stack,
                                       .scope = scope,
                                       .addr = addr,
                                       .size = size});
}

static void what_the_program_asked_for_is_told_by_scope(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t memory = space(&f, MEMLEDGER_DRIVER, ML_CUDA_MEMORY);
    uint32_t layer =
        ml_maker_scope(f.maker, 0, MEMLEDGER_SCOPE_MODULE, ml_maker_string(f.maker, "layer3"));
    uint32_t own = stack_in(&f, "/opt/app/solver", 3);
    struct ml_ledger ledger;
    const struct ml_ledger_entry *direct;

    (void)state;
    alloc_in(&f, memory, own, layer, 0x10000, 20);
    alloc_in(&f, memory, stack_in(&f, "/opt/app/solver", 4), layer, 0x20000, 30);
    alloc_in(&f, memory, own, 0, 0x30000, 7);
    alloc_in(&f, memory, stack_in(&f, "/usr/lib/libcublas.so.12", 1), layer, 0x40000, 100);
    sample(&f, 157);
    ledger = book_of(&f);
    direct = &ledger.devices.items[0].book.entries.items[0];
    assert_entry(direct, 0, "cuBLAS", 100);
    assert_int_equal(direct->entries.items[0].entries.len, 0);
    assert_entry(direct, 1, "solver", 57);
    assert_entry(&direct->entries.items[1], 0, "layer3", 50); /* two stacks, one scope */
    assert_entry(&direct->entries.items[1], 1, "no scope", 7);
    assert_true(ledger.devices.items[0].balanced);
    ml_ledger_release(&ledger);
}

static void stream_ordered_blocks_are_told_by_owner(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t async = space(&f, MEMLEDGER_BLOCK, ML_CUDA_ASYNC);
    struct ml_ledger ledger;
    const struct ml_ledger_entry *pools;

    (void)state;
    fixture_alloc(&f, space(&f, MEMLEDGER_DRIVER, ML_CUDA_POOLS), 1, 100);
    alloc(&f, async, stack_in(&f, "/x/torch/lib/libc10_cuda.so", 1), 0x10000, 60);
    alloc(&f, async, stack_in(&f, "/usr/lib/libcublas.so.12", 2), 0x20000, 30);
    sample(&f, 100);
    ledger = book_of(&f);
    pools = &ledger.devices.items[0].book.entries.items[0];
    assert_string_equal(pools->name, "stream-ordered pools");
    assert_entry(pools, 0, "PyTorch", 60);
    assert_entry(pools, 1, "cuBLAS", 30);
    assert_entry(pools, 2, "pool slack", 10);
    assert_true(ledger.devices.items[0].balanced);
    ml_ledger_release(&ledger);
}

static void a_block_that_does_not_say_goes_to_who_grew_the_pool(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t pool = space(&f, MEMLEDGER_DRIVER, ML_CUDA_POOLS);
    uint32_t async = space(&f, MEMLEDGER_BLOCK, ML_CUDA_ASYNC);
    uint32_t blas = stack_in(&f, "/usr/lib/libcublas.so.12", 2);
    struct ml_ledger ledger;
    const struct ml_ledger_entry *pools;

    (void)state;
    alloc(&f, pool, blas, 1, 40);
    alloc(&f, pool, stack_in(&f, "/x/torch/lib/libc10_cuda.so", 1), 2, 60);
    alloc(&f, async, 0, 0x10000, 70);
    alloc(&f, async, blas, 0x20000, 20);
    sample(&f, 100);
    ledger = book_of(&f);
    pools = &ledger.devices.items[0].book.entries.items[0];
    assert_entry(pools, 0, "PyTorch", 70);
    assert_entry(pools, 1, "cuBLAS", 20);
    assert_entry(pools, 2, "pool slack", 10);
    ml_ledger_release(&ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_and_modules_are_told_by_owner),
        cmocka_unit_test(what_the_program_asked_for_is_told_by_scope),
        cmocka_unit_test(stream_ordered_blocks_are_told_by_owner),
        cmocka_unit_test(a_block_that_does_not_say_goes_to_who_grew_the_pool),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
