/* test_analyze_pyramid.c: each level of a pyramid has what a replay finds with as many buckets.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_random.h"

#include <errno.h>

#include "pyramid.h"
#include "pyramid_maker.h"

struct built {
    struct ml_trace *file;
    struct ml_pyramid pyramid;
};

static struct ml_buf bytes_of_pyramid(const struct ml_trace *trace, enum ml_bands_by by,
                                      const char *device)
{
    int fd = memfd_create("pyramid", MFD_CLOEXEC);
    struct ml_block_writer writer;
    struct ml_error err = {0};
    struct ml_buf bytes = {0};

    ml_block_writer_open(&writer, fd, 0);
    assert_int_equal(ml_pyramid_make(trace, by, device, &writer, &err), 0);
    assert_int_equal(ml_block_writer_finish(&writer), 0);
    ml_block_writer_release(&writer);
    assert_int_equal(ml_bytes_of_fd(fd, &bytes), 0);
    close(fd);
    return bytes;
}

static struct built build(const struct ml_trace *trace, enum ml_bands_by by, const char *device)
{
    struct ml_buf bytes = bytes_of_pyramid(trace, by, device);
    struct built b = {0};

    assert_int_equal(ml_bytes_open(bytes.data, bytes.len, false, &b.file, NULL), 0);
    assert_int_equal(ml_pyramid_open(b.file, &b.pyramid), 0);
    ml_buf_release(&bytes);
    return b;
}

static void built_release(struct built *b)
{
    ml_pyramid_release(&b->pyramid);
    ml_trace_free(b->file);
}

static void assert_same_bands(const struct ml_pyramid *p, const struct ml_bands *bands)
{
    assert_int_equal(p->by, bands->by);
    assert_int_equal(p->count, bands->count);
    assert_int_equal(p->span_ns, bands->total.span_ns);
    assert_int_equal(p->peak_bytes, bands->total.peak_bytes);
    assert_int_equal(p->peak_time_ns, bands->total.peak_time_ns);
    for (size_t i = 0; i < p->count; i++)
        assert_string_equal(p->list[i].name, bands->list[i].name);
}

static void assert_same_level(const struct ml_pyramid *p, unsigned level,
                              const struct ml_bands *bands)
{
    static struct ml_bands_moment tile[2 * ML_PYRAMID_TILE];
    size_t columns = ml_pyramid_columns(level);

    assert_int_equal(bands->moments.len, 2 * columns);
    for (size_t at = 0; at < columns; at += ML_PYRAMID_TILE) {
        int n = ml_pyramid_read(p, level, at / ML_PYRAMID_TILE, tile);

        assert_true(n > 0);
        assert_memory_equal(tile, bands->moments.items + 2 * at, 2 * (size_t)n * sizeof(tile[0]));
    }
}

static void compare(uint64_t seed, enum ml_bands_by by, const char *device)
{
    struct ml_trace *trace = random_trace_that_lasts(seed);
    struct built b = build(trace, by, device);
    const struct ml_level_caps caps = {.only_device = device};

    for (unsigned level = 0; level < ML_PYRAMID_LEVELS; level += 4) {
        const struct ml_timeline_opts opts = {.buckets = ml_pyramid_columns(level), .caps = &caps};
        struct ml_error err = {0};
        struct ml_bands bands;

        assert_int_equal(ml_bands(trace, by, &opts, &bands, &err), 0);
        assert_same_bands(&b.pyramid, &bands);
        assert_same_level(&b.pyramid, level, &bands);
        ml_bands_release(&bands);
    }
    built_release(&b);
    ml_trace_free(trace);
}

static void levels_by_category(void **state)
{
    (void)state;
    compare(1, ML_BANDS_CATEGORY, NULL);
    compare(2, ML_BANDS_CATEGORY, "cuda:0");
}

static void levels_by_module(void **state)
{
    (void)state;
    compare(3, ML_BANDS_MODULE, NULL);
}

static void levels_by_device(void **state)
{
    (void)state;
    compare(4, ML_BANDS_DEVICE, NULL);
}

static void times_and_columns(void **state)
{
    const struct ml_pyramid p = {.span_ns = 1000003};

    (void)state;
    for (unsigned level = 0; level < ML_PYRAMID_LEVELS; level++)
        for (size_t column = 0; column < ml_pyramid_columns(level); column += 1 + column / 7)
            assert_int_equal(ml_pyramid_column_at(&p, level, ml_pyramid_time_ns(&p, level, column)),
                             column);
    assert_int_equal(ml_pyramid_level(&p, p.span_ns, 1024), 10);
    assert_int_equal(ml_pyramid_level(&p, p.span_ns / 2, 1024), 12);
    assert_int_equal(ml_pyramid_level(&p, 1, 1024), ML_PYRAMID_LEVELS - 1);
}

static void a_first_picture_is_small(void **state)
{
    struct ml_trace *trace = random_trace_that_lasts(5);
    struct built b = build(trace, ML_BANDS_CATEGORY, NULL);
    struct ml_buf bytes = {0};

    (void)state;
    assert_int_equal(ml_trace_read_section(b.file, b.pyramid.first_tile[10], 6, &bytes), 0);
    assert_true(bytes.len < 300000);
    ml_buf_release(&bytes);
    built_release(&b);
    ml_trace_free(trace);
}

/* @return 0 or the first failure */
static int read_all(const struct ml_pyramid *p)
{
    static struct ml_bands_moment tile[2 * ML_PYRAMID_TILE];
    int r = 0;

    for (unsigned level = 0; level < ML_PYRAMID_LEVELS; level++)
        for (size_t t = 0; r >= 0 && t * ML_PYRAMID_TILE < ml_pyramid_columns(level); t++)
            r = ml_pyramid_read(p, level, t, tile);
    return r < 0 ? r : 0;
}

static void damaged_bytes_are_refused(void **state)
{
    struct ml_trace *trace = random_trace_that_lasts(6);
    struct ml_buf bytes = bytes_of_pyramid(trace, ML_BANDS_CATEGORY, NULL);
    int refused = 0;

    (void)state;
    for (size_t i = 64; i < bytes.len; i += bytes.len / 50) {
        struct ml_trace *file = NULL;
        struct ml_pyramid pyramid = {0};
        int r;

        bytes.data[i] ^= 0x20;
        r = ml_bytes_open(bytes.data, bytes.len, false, &file, NULL);
        if (r == 0)
            r = ml_pyramid_open(file, &pyramid);
        if (r == 0)
            r = read_all(&pyramid);
        refused += r < 0;
        ml_pyramid_release(&pyramid);
        ml_trace_free(file);
        bytes.data[i] ^= 0x20;
    }
    assert_true(refused > 40); /* the sequence numbers of blocks do not matter */
    ml_buf_release(&bytes);
    ml_trace_free(trace);
}

static void a_file_without_pyramid(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_trace *trace = fixture_open(&f);
    struct ml_pyramid pyramid;

    (void)state;
    assert_int_equal(ml_pyramid_open(trace, &pyramid), -ENOENT);
    ml_pyramid_release(&pyramid);
    ml_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_by_category),       cmocka_unit_test(levels_by_module),
        cmocka_unit_test(levels_by_device),         cmocka_unit_test(times_and_columns),
        cmocka_unit_test(a_first_picture_is_small), cmocka_unit_test(damaged_bytes_are_refused),
        cmocka_unit_test(a_file_without_pyramid),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
