/* test_trace_symbols.c: the symbols section of a trace: stored, replaced, and damaged.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "block.h"
#include "defs.h"
#include "section_write.h"
#include "trace.h"
#include "trace_maker.h"

static char path[64];

/* main calls work, work calls malloc; Python calls work, too. */
enum { MAIN, WORK, SCRIPT };

static int make_trace(void **state)
{
    struct ml_maker *m;
    int fd;

    (void)state;
    snprintf(path, sizeof(path), "/tmp/memledger-symbols-XXXXXX");
    fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    m = ml_maker_create(path, NULL);
    ml_maker_library(m, 0, 4096, 8192, "/bin/work", "abcd");
    ml_maker_frame(m, 0, 100);
    ml_maker_frame(m, 0, 200);
    ml_maker_python_frame(m, "script", "script.py", 7);
    ml_maker_symbol(m, WORK, "_Z4workv");
    ml_maker_stack(m, 0, MAIN);   /* 1 */
    ml_maker_stack(m, 1, WORK);   /* 2 */
    ml_maker_stack(m, 0, SCRIPT); /* 3 */
    ml_maker_stack(m, 3, WORK);   /* 4 */
    ml_maker_event(m, &(struct ml_event){.kind = ML_ALLOC, .addr = 4096, .size = 64, .stack = 2});
    return ml_maker_close(m);
}

static int remove_trace(void **state)
{
    (void)state;
    return unlink(path);
}

/* ---- Writing ---------------------------------------------------------------- */

static struct ml_buf section;

static void put(struct ml_def def)
{
    uint8_t *end;

    assert_int_equal(ml_buf_reserve(&section, ml_def_room(&def) + def.len), 0);
    end = ml_def_put(section.data + section.len, &def);
    section.len = (size_t)(end - section.data);
}

static void put_string(uint32_t id, const char *text)
{
    put((struct ml_def){
        .tag = ML_DEF_STRING, .id = id, .bytes = text, .len = (uint32_t)strlen(text)});
}

static void put_symbol(uint32_t frame, uint32_t function, uint32_t file, uint32_t line)
{
    put((struct ml_def){.tag = ML_DEF_SYMBOL, .id = frame, .fields = {function, file, line}});
}

static struct ml_trace *open_trace(int wanted)
{
    struct ml_trace *t = NULL;
    struct ml_error err = {0};

    assert_int_equal(ml_trace_open(path, NULL, &t, &err), wanted);
    return t;
}

static void store(void)
{
    struct ml_trace *t = open_trace(0);
    struct ml_error err = {0};

    if (ml_trace_put_section(t, ML_BLOCK_SYMBOLS, section.data, section.len, &err))
        fail_msg("%s", err.text);
    ml_trace_free(t);
    ml_buf_release(&section);
}

/* ---- Reading ---------------------------------------------------------------- */

static void check_stack(const struct ml_trace *t, uint32_t stack, const char *const *functions,
                        const uint32_t *lines)
{
    uint32_t depth = ml_trace_stack(t, stack)->depth;
    size_t i = 0;

    for (; stack; stack = ml_trace_stack(t, stack)->caller, i++) {
        const struct ml_frame *frame = ml_trace_frame(t, ml_trace_stack(t, stack)->frame);

        assert_non_null(functions[i]);
        assert_string_equal(ml_trace_string(t, frame->function, NULL), functions[i]);
        assert_int_equal(frame->line, lines[i]);
        assert_int_equal(ml_trace_stack(t, stack)->depth, depth - i);
    }
    assert_int_equal(i, depth);
    assert_null(functions[i]);
}

static void put_all(void)
{
    put_string(1, "main");
    put_string(2, "main.c");
    put_symbol(MAIN, 1, 2, 30);
    put_string(3, "inner");
    put_symbol(WORK, 3, 2, 10);
    put_string(4, "work");
    put_symbol(WORK, 4, 2, 20);
}

static void inlined_functions_are_frames(void **state)
{
    struct ml_trace *t;

    (void)state;
    put_all();
    store();
    t = open_trace(0);
    assert_true(ml_trace_info(t)->has_index);
    assert_int_equal(ml_trace_info(t)->events, 1);
    assert_int_equal(ml_trace_stacks(t), 5);
    check_stack(t, 2, (const char *const[]){"inner", "work", "main", NULL},
                (const uint32_t[]){10, 20, 30});
    check_stack(t, 4, (const char *const[]){"inner", "work", "script", NULL},
                (const uint32_t[]){10, 20, 7});
    ml_trace_free(t);
}

static void the_last_section_counts(void **state)
{
    struct ml_trace *t;

    (void)state;
    put_all();
    store();
    put_string(1, "lonely");
    put_string(2, "lonely.c");
    put_symbol(WORK, 1, 2, 5);
    store();
    t = open_trace(0);
    check_stack(t, 2, (const char *const[]){"lonely", "", NULL}, (const uint32_t[]){5, 0});
    ml_trace_free(t);
}

/* A function that is not known keeps its recorded name. */
static void recorded_names_stay(void **state)
{
    struct ml_trace *t;

    (void)state;
    put_string(1, "work.c");
    put_symbol(WORK, 0, 1, 5);
    store();
    t = open_trace(0);
    assert_string_equal(ml_trace_string(t, ml_trace_frame(t, WORK)->function, NULL), "_Z4workv");
    assert_int_equal(ml_trace_frame(t, WORK)->line, 5);
    ml_trace_free(t);
}

static void false_sections_are_refused(void **state)
{
    (void)state;
    put_string(2, "numbered wrongly");
    store();
    open_trace(-EBADMSG);
}

static void false_frames_are_refused(void **state)
{
    (void)state;
    put_symbol(77, 0, 0, 1);
    store();
    open_trace(-EBADMSG);
}

static void python_frames_are_refused(void **state)
{
    (void)state;
    put_symbol(SCRIPT, 0, 0, 1);
    store();
    open_trace(-EBADMSG);
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, make_trace, remove_trace)
    const struct CMUnitTest tests[] = {
        EACH(inlined_functions_are_frames), EACH(the_last_section_counts),
        EACH(recorded_names_stay),          EACH(false_sections_are_refused),
        EACH(false_frames_are_refused),     EACH(python_frames_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
