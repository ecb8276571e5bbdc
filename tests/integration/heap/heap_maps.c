/* heap_maps.c: mmap, mremap and munmap in all their forms.
 *
 * "range BEGIN END" is an address range of which every byte must be live at the
 * end, "empty BEGIN END" one of which none must be.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "heap_expect.h"

#define PAGE 4096
#define BYTES(pages) ((size_t)(pages)*PAGE)

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

static void show(const char *what, const char *at, size_t pages)
{
    printf("%s %#zx %#zx\n", what, (size_t)at, (size_t)at + BYTES(pages));
}

static char *map_at(void *at, size_t pages, int flags)
{
    return mmap(at, BYTES(pages), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1,
                0);
}

static char *map(size_t pages)
{
    char *p = map_at(NULL, pages, 0);

    CHECK(p != MAP_FAILED);
    return p;
}

static void map_and_unmap(void)
{
    char *p = map(1001);
    char *shared = mmap(NULL, BYTES(1002) - 100, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    errno = 77;
    CHECK(!munmap(p, BYTES(1001) - 5));
    CHECK(errno == 77);
    CHECK(shared != MAP_FAILED);
    CHECK(munmap(shared + 1, PAGE) == -1 && errno == EINVAL);
    CHECK(munmap(shared, 0) == -1 && errno == EINVAL);
    CHECK(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
    CHECK(mmap64(NULL, BYTES(1003), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
    expect(BYTES(1001), 1, 1);
    expect(BYTES(1002), 1, 0);
    expect(BYTES(1003), 1, 0);
}

/* A hole in the middle, then one that replaces, and one that must not. */
static void in_parts(void)
{
    char *p = map(1010);

    CHECK(!munmap(p + BYTES(100), BYTES(10)));
    show("range", p, 100);
    show("empty", p + BYTES(100), 10);
    CHECK(map_at(p + BYTES(200), 20, MAP_FIXED) == p + BYTES(200));
    CHECK(map_at(p + BYTES(300), 20, MAP_FIXED_NOREPLACE) == MAP_FAILED && errno == EEXIST);
    show("range", p + BYTES(110), 900);
}

static void files(const char *path)
{
    char *p = map(1020);
    FILE *f = fopen(path, "r");
    char *file = mmap(NULL, BYTES(2), PROT_READ, MAP_PRIVATE, fileno(f), 0);
    char *moved;

    CHECK(file != MAP_FAILED);
    CHECK(mmap(p + BYTES(10), BYTES(2), PROT_READ, MAP_PRIVATE | MAP_FIXED, fileno(f), 0) ==
          p + BYTES(10));
    show("range", p, 10);
    show("empty", p + BYTES(10), 2);
    show("range", p + BYTES(12), 1008);
    moved = mremap(file, BYTES(2), BYTES(1021), MREMAP_MAYMOVE);
    CHECK(moved != MAP_FAILED);
    show("empty", moved, 1021);
    fclose(f);
}

static void remapped(void)
{
    char *p = map(1040);
    char *q = map(1034);
    char *r = map(1029);

    CHECK(!munmap(p + BYTES(1030), BYTES(10))); /* room to grow into */
    CHECK(mremap(p, BYTES(1030), BYTES(1033), 0) == p);
    CHECK(mremap(p, BYTES(1033), BYTES(1029), 0) == p);
    show("empty", p + BYTES(1029), 11);
    CHECK(mremap(p, BYTES(1029), SIZE_MAX / 2, MREMAP_MAYMOVE) == MAP_FAILED);
    CHECK(mremap(p + 1, BYTES(1029), BYTES(1), MREMAP_MAYMOVE) == MAP_FAILED);
    CHECK(mremap(p, BYTES(1029), BYTES(1029), MREMAP_MAYMOVE | MREMAP_FIXED, q) == q);
    show("empty", p, 1029);
    show("range", q, 1034);
    /* Not known to kernels before 5.7. */
    CHECK(mremap(q, BYTES(1029), BYTES(1029), MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP,
                 r) == r ||
          errno == EINVAL);
    show("range", q, 1034);
    show("range", r, 1029);
}

int main(int argc, char **argv)
{
    CHECK(argc > 0);
    map_and_unmap();
    in_parts();
    files(argv[0]);
    remapped();
    return 0;
}
