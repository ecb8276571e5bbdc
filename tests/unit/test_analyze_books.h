/* test_analyze_books.h: traces with samples of a device, and its book.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TEST_ANALYZE_BOOKS_H
#define TEST_ANALYZE_BOOKS_H

#include "test_analyze_fixture.h"

#include "cuda_spaces.h"
#include "ledger.h"

#define MIB UINT64_C(1048576)
#define KNOWN (ML_SAMPLE_USED | ML_SAMPLE_FREE | ML_SAMPLE_TOTAL)
#define TOTAL (1000 * MIB)
#define FREE (100 * MIB)

/* ---- Making traces ----------------------------------------------------- */

static inline uint32_t space_on(struct fixture *f, uint32_t process, const char *device,
                                uint32_t level, const char *name)
{
    return ml_maker_space(f->maker, process, ml_maker_string(f->maker, device), level,
                          ml_maker_string(f->maker, name));
}

static inline uint32_t driver_space(struct fixture *f, const char *name)
{
    return space_on(f, 0, "cuda:0", MEMLEDGER_DRIVER, name);
}

static inline void sample_on(struct fixture *f, const char *device, uint64_t bits, uint64_t used)
{
    fixture_event(f, (struct ml_event){.kind = ML_SAMPLE,
                                       .args = {ml_maker_string(f->maker, device), bits, used, FREE,
                                                TOTAL, 7 * MIB}});
}

static inline void sample(struct fixture *f, uint64_t bits, uint64_t used)
{
    sample_on(f, "cuda:0", KNOWN | bits, used);
}

static inline void end_process(struct fixture *f, uint32_t process)
{
    fixture_event(f, (struct ml_event){.kind = ML_PROCESS_END, .args = {process, 1}});
}

/* The first has 100 bytes of the device, the second 30. */
static inline struct fixture two_processes(void)
{
    struct fixture f = fixture_begin();
    uint32_t second = fixture_process(&f, 1, 200, 0, ML_STARTED);

    fixture_alloc(&f, driver_space(&f, ML_CUDA_MEMORY), 0x10000, 100);
    fixture_alloc(&f, space_on(&f, second, "cuda:0", MEMLEDGER_DRIVER, ML_CUDA_MEMORY), 0x10000,
                  30);
    return f;
}

/* ---- Reading books ----------------------------------------------------- */

static inline struct ml_ledger book_with(struct fixture *f, struct ml_ledger_opts opts)
{
    struct ml_trace *trace = fixture_open(f);
    struct ml_error err = {0};
    struct ml_ledger ledger;

    if (ml_ledger(trace, &opts, &ledger, &err) < 0)
        fail_msg("%s", err.text);
    ml_trace_free(trace); /* the ledger stands alone */
    return ledger;
}

static inline struct ml_ledger book_at(struct fixture *f, enum ml_at_kind at, uint64_t time_ns)
{
    return book_with(f, (struct ml_ledger_opts){.at = {.kind = at, .time_ns = time_ns}, .top = 10});
}

/* "blocks/parameter"; NULL where there is none. */
static inline const struct ml_ledger_entry *find(const struct ml_ledger *ledger, const char *path)
{
    const struct ml_ledger_entry *at = &ledger->devices.items[0].book;

    while (at && *path) {
        size_t len = strcspn(path, "/");
        const struct ml_ledger_entry *next = NULL;

        for (size_t i = 0; i < at->entries.len; i++)
            if (strncmp(at->entries.items[i].name, path, len) == 0 &&
                at->entries.items[i].name[len] == '\0')
                next = &at->entries.items[i];
        at = next;
        path += len + (path[len] == '/');
    }
    return at;
}

static inline void assert_entry(const struct ml_ledger *ledger, const char *path, int64_t bytes)
{
    const struct ml_ledger_entry *entry = find(ledger, path);

    if (!entry)
        fail_msg("no entry %s", path);
    if (entry->bytes != bytes)
        fail_msg("%s has %lld bytes, not %lld", path, (long long)entry->bytes, (long long)bytes);
}

static inline void assert_none(const struct ml_ledger *ledger, const char *path)
{
    if (find(ledger, path))
        fail_msg("there is an entry %s", path);
}

static inline void assert_balanced(const struct ml_ledger *ledger, int64_t unexplained)
{
    const struct ml_ledger_device *d = &ledger->devices.items[0];

    assert_true(d->sampled);
    assert_true(d->balanced);
    assert_int_equal(d->unexplained_bytes, unexplained);
    assert_int_equal(d->book.bytes + d->unexplained_bytes, (int64_t)d->used_bytes);
}

#endif
