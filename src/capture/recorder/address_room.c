/* address_room.c: see address_room.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "address_room.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

#include "filtered.h"
#include "sys.h"

/* Together the ring sets and the table of names then take less than three percent. */
#define SHARES 128

/* The first number in /proc/self/statm: the mapped address space, in pages. It bypasses libc's
 * wrappers, which are cancellation points: see sys.h. */
static bool read_pages(uint64_t *ret)
{
    char text[32];
    long fd = syscall(SYS_openat, (long)AT_FDCWD, "/proc/self/statm", (long)(O_RDONLY | O_CLOEXEC));
    long n = fd >= 0 ? syscall(SYS_read, fd, text, sizeof(text)) : -1;
    uint64_t pages = 0;

    if (fd >= 0)
        syscall(SYS_close, fd);
    for (long i = 0; i < n && text[i] >= '0' && text[i] <= '9'; i++)
        pages = 10 * pages + (uint64_t)(text[i] - '0');
    *ret = pages;
    return pages;
}

/* Without /proc, assumes that half of the limit is in use. */
static uint64_t measure_room(void)
{
    struct rlimit limit;
    uint64_t pages, used;

    if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    used = read_pages(&pages) ? pages * ML_PAGE_BYTES : limit.rlim_cur / 2;
    return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

uint64_t ml_address_room(void)
{
    int saved_errno = errno;
    uint64_t room;

    if (!ml_calls_begin())
        return 0;
    room = measure_room();
    ml_calls_end();
    errno = saved_errno;
    return room;
}

uint64_t ml_address_share(void)
{
    uint64_t room = ml_address_room();

    return room == UINT64_MAX ? room : room / SHARES;
}

static uint32_t entries_in_share(uint32_t wanted, uint32_t least, size_t entry_bytes)
{
    uint64_t share = ml_address_share();

    while (wanted >= least && wanted * (uint64_t)entry_bytes > share)
        wanted /= 2;
    return wanted >= least ? wanted : 0;
}

void *ml_address_table(uint32_t wanted, uint32_t least, size_t entry_bytes, uint32_t *ret_entries)
{
    uint32_t entries = entries_in_share(wanted, least, entry_bytes);
    void *at = entries ? ml_sys_reserve(entries * entry_bytes) : NULL;

    if (at)
        *ret_entries = entries;
    return at;
}

uint32_t ml_address_arrays(uint32_t wanted, uint32_t least, struct ml_table_array *arrays,
                           size_t count)
{
    size_t entry_bytes = 0;
    uint32_t entries;
    char *at;

    for (size_t i = 0; i < count; i++)
        entry_bytes += arrays[i].each * arrays[i].item_bytes;
    at = ml_address_table(wanted, least, entry_bytes, &entries);
    if (!at)
        return 0;
    for (size_t i = 0; i < count; i++) {
        arrays[i].ret_items = at;
        at += entries * arrays[i].each * arrays[i].item_bytes;
    }
    return entries;
}
