/* test_late_recordings.c: a running process leaves one recording and joins another between an
 * allocation, its record and its free. The sessions are real; the test reads their rings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "live_blocks.h"
#include "mxnet_late.h"
#include "pointer_table.h"
#include "record.h"
#include "recorder.h"

#define RING_BYTES (1u << 20)
#define RINGS 4
#define SPACE 1
#define ALLOC_WORDS 3
#define FREE_WORDS 2

/* ---- Sessions without a collector ------------------------------------------------ */

struct session {
    char dir[64];
    int socket;
};

static void path_in(char *out, size_t room, const struct session *s, const char *file)
{
    snprintf(out, room, "%s/%s", s->dir, file);
}

static void make_page(const struct session *s)
{
    static const struct ml_session page = {.magic = ML_SHARED_MAGIC,
                                           .version = ML_SHARED_VERSION,
                                           .clock = ML_CLOCK_TSC,
                                           .ring_bytes = RING_BYTES,
                                           .ring_count = RINGS};
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
    int fd;

    path_in(path, sizeof(path), s, ML_SESSION_PAGE);
    fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, &page, sizeof(page)), sizeof(page));
    close(fd);
}

static void begin(struct session *s)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};

    strcpy(s->dir, "/tmp/memledger-late-XXXXXX");
    assert_non_null(mkdtemp(s->dir));
    make_page(s);
    path_in(at.sun_path, sizeof(at.sun_path), s, ML_SESSION_SOCKET);
    s->socket = socket(AF_UNIX, SOCK_DGRAM, 0);
    assert_int_equal(bind(s->socket, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(ml_recorder_join(s->dir), 0);
}

static void end(struct session *s)
{
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)];

    assert_int_equal(ml_recorder_leave(), 0);
    close(s->socket);
    path_in(path, sizeof(path), s, ML_SESSION_SOCKET);
    unlink(path);
    path_in(path, sizeof(path), s, ML_SESSION_PAGE);
    unlink(path);
    rmdir(s->dir);
}

/* ---- What a recording holds ------------------------------------------------------- */

static const struct ml_ring *ring_of(const struct ml_ringset *set, unsigned i)
{
    return (const struct ml_ring *)((const char *)set + ml_ringset_rings_offset()) + i;
}

static uint64_t words_in(const struct ml_ringset *set)
{
    uint64_t words = 0;

    for (unsigned i = 0; i < RINGS; i++)
        words += ring_of(set, i)->head;
    return words;
}

/* A thread has one block at a time. @return how many frees there are */
static unsigned frees_of_ring(const struct ml_ringset *set, unsigned i)
{
    const char *data = (const char *)set + ml_ringset_data_offset(RINGS) + (size_t)i * RING_BYTES;
    const uint64_t *words = (const uint64_t *)(const void *)data;
    uint64_t head = ring_of(set, i)->head;
    unsigned frees = 0;
    uint64_t live = 0;

    assert_true(head < RING_BYTES / sizeof(uint64_t)); /* else the beginning is gone */
    for (uint64_t at = 0; at < head;) {
        bool is_free = (words[at] & 0xff) == ML_FREE;
        assert_int_equal(live, is_free ? words[at + 1] : 0);
        live = is_free ? 0 : words[at + 1];
        frees += is_free;
        at += is_free ? FREE_WORDS : ALLOC_WORDS;
    }
    return frees;
}

/* ---- As the hooks do --------------------------------------------------------------- */

static void record_alloc(const void *p)
{
    ml_record_alloc(SPACE, p, 64);
}

static void note(const void *p)
{
    ml_mxnet_late_birth(ML_MXNET_BLOCK, p);
}

static void record_free(const void *p)
{
    ml_record_free_in(ml_mxnet_late_end(ML_MXNET_BLOCK, p), SPACE, p);
}

static const void *const block = (const void *)0x10000;

/* ---- Tests ------------------------------------------------------------------------ */

static void a_whole_life_in_one_recording(void **state)
{
    struct session only;

    (void)state;
    begin(&only);
    record_alloc(block);
    note(block);
    record_free(block);
    assert_int_equal(words_in(ml_recorder_first_set()), ALLOC_WORDS + FREE_WORDS);
    end(&only);
}

static void another_begins_before_the_note(void **state)
{
    struct session first, second;

    (void)state;
    begin(&first);
    record_alloc(block);
    assert_int_equal(words_in(ml_recorder_first_set()), ALLOC_WORDS);
    end(&first);
    begin(&second);
    note(block);
    record_free(block);
    assert_int_equal(words_in(ml_recorder_first_set()), 0);
    end(&second);
}

static void one_begins_before_the_note(void **state)
{
    struct session only;

    (void)state;
    record_alloc(block);
    begin(&only);
    note(block);
    record_free(block);
    assert_int_equal(words_in(ml_recorder_first_set()), 0);
    end(&only);
}

/* The thread still has a ring of the first. */
static void another_begins_before_the_allocation(void **state)
{
    struct session first, second;

    (void)state;
    begin(&first);
    record_alloc(block);
    end(&first);
    begin(&second);
    record_alloc(block);
    note(block);
    record_free(block);
    assert_int_equal(words_in(ml_recorder_first_set()), ALLOC_WORDS + FREE_WORDS);
    end(&second);
}

static void another_begins_before_the_free(void **state)
{
    struct session first, second;
    uint32_t belongs_to;

    (void)state;
    begin(&first);
    record_alloc(block);
    note(block);
    belongs_to = ml_mxnet_late_end(ML_MXNET_BLOCK, block);
    end(&first);
    begin(&second);
    ml_record_free_in(belongs_to, SPACE, block);
    assert_int_equal(words_in(ml_recorder_first_set()), 0);
    end(&second);
}

/* The same of PyTorch's blocks, which are in the table of live ones. */
static void a_live_block_outlives_its_recording(void **state)
{
    struct session first, second;
    uint32_t belongs_to;

    (void)state;
    assert_true(ml_live_switch_on(ML_LIVE_PROGRAM));
    begin(&first);
    record_alloc(block);
    end(&first);
    begin(&second);
    ml_live_add(SPACE, ML_LIVE_HOST, block, 64);
    belongs_to = ml_live_remove(block);
    ml_record_free_in(belongs_to, SPACE, block);
    assert_int_equal(words_in(ml_recorder_first_set()), 0);
    record_alloc(block);
    ml_live_add(SPACE, ML_LIVE_HOST, block, 64);
    ml_record_free_in(ml_live_remove(block), SPACE, block);
    assert_int_equal(words_in(ml_recorder_first_set()), ALLOC_WORDS + FREE_WORDS);
    end(&second);
}

/* Their ends are not recorded: the trace says of how many. */
static void more_than_can_be_followed(void **state)
{
    struct session only;

    (void)state;
    begin(&only);
    record_alloc(block);
    for (uintptr_t i = 0; i < ML_POINTERS_MAX + 3; i++)
        ml_mxnet_late_birth(ML_MXNET_SEGMENT, (const void *)(0x10000 + i * 16));
    assert_int_equal(ml_recorder_first_set()->not_followed, 3);
    for (uintptr_t i = 0; i < ML_POINTERS_MAX; i++)
        assert_true(ml_mxnet_late_end(ML_MXNET_SEGMENT, (const void *)(0x10000 + i * 16)));
    end(&only);
}

/* ---- Threads ----------------------------------------------------------------------- */

static void *free_twice(void *ignored)
{
    const uint64_t early[] = {ml_record_word(ML_FREE, SPACE, 1), (uintptr_t)block};

    ml_record(early, FREE_WORDS);
    ml_record(early, FREE_WORDS);
    return ignored;
}

/* The clock was read before the thread had a ring, and without a fence if no two had one. */
static void a_first_record_is_stamped_again(void **state)
{
    const struct ml_ringset *set;
    const uint64_t *words;
    struct session only;
    pthread_t thread;

    (void)state;
    begin(&only);
    set = ml_recorder_first_set();
    assert_int_equal(pthread_create(&thread, NULL, free_twice, NULL), 0);
    pthread_join(thread, NULL);
    assert_int_equal(words_in(set), 2 * FREE_WORDS);
    words = (const uint64_t *)(const void *)((const char *)set + ml_ringset_data_offset(RINGS));
    assert_true(words[0] >> ML_TIME_SHIFT > 1);
    assert_int_equal(words[0] << ML_TIME_BITS, words[FREE_WORDS] << ML_TIME_BITS);
    assert_int_equal(words[1], (uintptr_t)block);
    assert_int_equal(words[FREE_WORDS] >> ML_TIME_SHIFT, 1);
    end(&only);
}

#define THREADS 2
#define RECORDINGS 60

static _Atomic bool enough;

static void *allocate_and_free(void *mine)
{
    while (!enough) {
        record_alloc(mine);
        note(mine);
        record_free(mine);
    }
    return NULL;
}

static void threads_go_on_meanwhile(void **state)
{
    static const struct ml_ringset *sets[RECORDINGS];
    pthread_t threads[THREADS];
    struct session s;
    unsigned frees = 0;

    (void)state;
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, allocate_and_free, (void *)(0x20000 + i * 64)), 0);
    for (unsigned i = 0; i < RECORDINGS; i++) {
        begin(&s);
        sets[i] = ml_recorder_first_set();
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        end(&s);
    }
    enough = true;
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < RECORDINGS * RINGS; i++)
        frees += frees_of_ring(sets[i / RINGS], i % RINGS);
    assert_true(frees > RECORDINGS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_life_in_one_recording),
        cmocka_unit_test(another_begins_before_the_note),
        cmocka_unit_test(one_begins_before_the_note),
        cmocka_unit_test(another_begins_before_the_allocation),
        cmocka_unit_test(another_begins_before_the_free),
        cmocka_unit_test(a_live_block_outlives_its_recording),
        cmocka_unit_test(more_than_can_be_followed),
        cmocka_unit_test(a_first_record_is_stamped_again),
        cmocka_unit_test(threads_go_on_meanwhile),
    };

    unsetenv(ML_SESSION_ENV);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
