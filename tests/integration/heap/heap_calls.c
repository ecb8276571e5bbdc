/* heap_calls.c: each function of the malloc family once, also with failures. Prints errno, to
 * be compared with a run without the recorder. "nopvalloc" leaves out pvalloc, which not every
 * allocator replaces.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "heap_expect.h"

#define UNTOUCHED 77

/* Opaque to the compiler, which knows that no object is that large. */
static size_t too_much(void)
{
    volatile size_t bytes = PTRDIFF_MAX;
    return bytes;
}

static void check_refused(void *p)
{
    int left = errno;

    CHECK(!used(p));
    printf("errno %d\n", left);
    errno = UNTOUCHED;
}

static void *check_given(void *p)
{
    CHECK(p);
    CHECK(errno == UNTOUCHED);
    return used(p);
}

static void plain(void)
{
    void *p = check_given(malloc(70001));

    check_given(malloc(70002));
    free(p);
    CHECK(errno == UNTOUCHED);
    free(NULL);
    p = check_given(malloc(0));
    free(p);
    check_refused(malloc(too_much()));
    p = check_given(calloc(3, 23337));
    CHECK(!((char *)p)[70010]);
    free(p);
    check_refused(calloc(too_much(), 4));
    check_refused(calloc(2, too_much()));
    expect(70001, 1, 1);
    expect(70002, 1, 0);
    expect(0, 1, 1);
    expect(70011, 1, 1);
}

static void resized(void)
{
    char *p = check_given(realloc(NULL, 70101));

    strcpy(p, "kept");
    p = check_given(realloc(p, 70102));
    p = check_given(realloc(p, 70103));
    check_refused(realloc(used(p), too_much()));
    p = check_given(realloc(p, 170104));
    CHECK(!strcmp(p, "kept"));
    p = check_given(reallocarray(p, 7, 10015));
    check_refused(reallocarray(used(p), too_much(), 4));
    p = check_given(realloc(p, 70106));
    p = realloc(p, 0);
    free(p); /* NULL with most allocators */
    p = check_given(reallocarray(NULL, 2, 35054));
    free(p);
    expect(70101, 1, 1);
    expect(70102, 1, 1);
    expect(70103, 1, 1);
    expect(170104, 1, 1);
    expect(70105, 1, 1);
    expect(70106, 1, 1);
    expect(70108, 1, 1);
}

static void aligned(int with_pvalloc)
{
    void *p = NULL;

    CHECK(!posix_memalign(&p, 64, 70201));
    CHECK(!((uintptr_t)p % 64));
    free(used(p));
    CHECK(posix_memalign(&p, 3, 70202) == EINVAL);
    CHECK(posix_memalign(&p, 64, too_much()) == ENOMEM);
    errno = UNTOUCHED;
    free(check_given(aligned_alloc(256, 70400)));
    p = check_given(memalign(4096, 70203));
    CHECK(!((uintptr_t)p % 4096));
    free(p);
    check_refused(memalign(64, too_much()));
    free(check_given(valloc(70204)));
    if (with_pvalloc)
        free(check_given(pvalloc(70205)));
    expect(70201, 1, 1);
    expect(70202, 0, 0);
    expect(70400, 1, 1);
    expect(70203, 1, 1);
    expect(70204, 1, 1);
    expect(70205, with_pvalloc, with_pvalloc);
}

/* Libc's own calls come through the same door. */
static void through_libc(void)
{
    char text[70301];
    char *copy;

    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    copy = check_given(strdup(text));
    free(copy);
    check_given(strndup(text, 70301));
    expect(70301, 2, 1);
}

int main(int argc, char **argv)
{
    int with_pvalloc = !(argc > 1 && !strcmp(argv[1], "nopvalloc"));

    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    puts("begin"); /* stdout's buffer is there, so that nothing else allocates */
    errno = UNTOUCHED;
    plain();
    resized();
    aligned(with_pvalloc);
    through_libc();
    fflush(stdout);
    return 7;
}
