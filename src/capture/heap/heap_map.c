/* heap_map.c: anonymous mappings, recorded with --heap=all.
 *
 * Records whole pages, as the kernel maps them. The program may unmap or move a range that was
 * never recorded (a file's, one of libc's): readers ignore ranges that they do not know.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "filtered.h"
#include "heap_real.h"
#include "heap_seen.h"

#define PAGE 4096u

/* From <linux/mman.h>, for older libcs. */
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif
#ifndef MAP_HUGE_SHIFT
#define MAP_HUGE_SHIFT 26
#endif
#define HUGE_DEFAULT_SHIFT 21

static size_t round_up(size_t bytes, size_t to)
{
    return (bytes + to - 1) & ~(to - 1);
}

/* The flags contain the size of a huge page, as a power of two; 0 is the default. */
static size_t page_of(int flags)
{
    unsigned shift = (unsigned)flags >> MAP_HUGE_SHIFT;

    if (!(flags & MAP_HUGETLB))
        return PAGE;
    return (size_t)1 << (shift ? shift : HUGE_DEFAULT_SHIFT);
}

/* ---- Asking the kernel --------------------------------------------------- */

static char *put_hex(char *out, uintptr_t value)
{
    unsigned digits = 1;

    while (digits < 16 && value >> (4 * digits))
        digits++;
    while (digits--)
        *out++ = "0123456789abcdef"[value >> (4 * digits) & 15];
    return out;
}

static bool begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

/* Whether exactly this range maps a file. Shared and huge anonymous memory also has a file inside
 * the kernel; its name identifies it. */
static bool is_file(const void *addr, size_t bytes)
{
    static const char dir[] = "/proc/self/map_files/";
    char path[sizeof(dir) + 2 * 16 + 2];
    char name[32];
    char *end;
    ssize_t n;

    memcpy(path, dir, sizeof(dir) - 1);
    end = put_hex(path + sizeof(dir) - 1, (uintptr_t)addr);
    *end++ = '-';
    end = put_hex(end, (uintptr_t)addr + bytes);
    *end = '\0';
    n = readlink(path, name, sizeof(name) - 1);
    if (n <= 0)
        return false;
    name[n] = '\0';
    return !begins(name, "/dev/zero") && !begins(name, "/anon_hugepage");
}

static bool is_mapped(void *addr)
{
    unsigned char in_core;

    return !mincore(addr, PAGE, &in_core);
}

/* Records the range again after the kernel refused to unmap it. */
static void put_back(uint32_t space, void *addr, size_t bytes)
{
    int saved_errno = errno;
    bool there = ml_calls_begin();

    if (there) {
        there = is_mapped(addr) && !is_file(addr, bytes);
        ml_calls_end();
    }
    if (there)
        ml_record_alloc(space, addr, bytes);
    errno = saved_errno;
}

/* ---- Hooks ----------------------------------------------------------------- */

/* MAP_FIXED replaces the old mapping in one step of the kernel: no other thread can have got the
 * range, so both may be recorded afterwards. */
static void mapped(uint32_t space, const void *at, size_t bytes, int flags)
{
    size_t whole = round_up(bytes, page_of(flags));

    if ((flags & MAP_FIXED) && !(flags & MAP_FIXED_NOREPLACE))
        ml_record_free_range(space, at, whole);
    if (flags & MAP_ANONYMOUS)
        ml_heap_record(space, at, whole);
}

ML_HOOK void *mmap(void *addr, size_t bytes, int prot, int flags, int fd, off_t offset)
{
    void *at = ML_REAL(mmap)(addr, bytes, prot, flags, fd, offset);
    uint32_t space = ML_MAP_SPACE;

    if (space && at != MAP_FAILED)
        mapped(space, at, bytes, flags);
    return at;
}

/* off_t has 64 bits: both are the same function. */
extern __typeof(mmap) mmap64 __attribute__((alias("mmap"), visibility("default")));

ML_HOOK int munmap(void *addr, size_t bytes)
{
    uint32_t space = ML_MAP_SPACE;
    size_t whole = round_up(bytes, PAGE);
    int result;

    if (!space || !whole || (uintptr_t)addr % PAGE)
        return ML_REAL(munmap)(addr, bytes);
    ml_record_free_range(space, addr, whole);
    result = ML_REAL(munmap)(addr, bytes);
    if (ML_UNLIKELY(result))
        put_back(space, addr, whole);
    return result;
}

/* Whether a moved range counts as anonymous memory. An old size of 0 asks for a second view of
 * shared memory, which takes none. */
static bool counts(const void *old, size_t old_bytes)
{
    int saved_errno = errno;
    bool file = !old_bytes || is_file(old, round_up(old_bytes, PAGE));

    errno = saved_errno;
    return !file;
}

/* Recorded as a free and an allocation, whether the range moves, grows or shrinks. */
static void *remap(uint32_t space, void *old, size_t old_bytes, size_t bytes, int flags, void *to)
{
    bool ours = counts(old, old_bytes);
    bool leaves = ours && !(flags & MREMAP_DONTUNMAP);
    void *at;

    if (leaves)
        ml_record_free_range(space, old, round_up(old_bytes, PAGE));
    at = ML_REAL(mremap)(old, old_bytes, bytes, flags, to);
    if (at == MAP_FAILED) {
        if (leaves)
            put_back(space, old, round_up(old_bytes, PAGE));
        return at;
    }
    if (flags & MREMAP_FIXED)
        ml_record_free_range(space, at, round_up(bytes, PAGE));
    if (ours)
        ml_heap_record(space, at, round_up(bytes, PAGE));
    return at;
}

ML_HOOK void *mremap(void *old, size_t old_bytes, size_t bytes, int flags, ...)
{
    uint32_t space = ML_MAP_SPACE;
    void *to = NULL;
    va_list args;

    if (flags & (MREMAP_FIXED | MREMAP_DONTUNMAP)) {
        va_start(args, flags);
        to = va_arg(args, void *);
        va_end(args);
    }
    if (!space)
        return ML_REAL(mremap)(old, old_bytes, bytes, flags, to);
    return remap(space, old, old_bytes, bytes, flags, to);
}
