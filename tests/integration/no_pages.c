/* no_pages.c: preloaded, a kernel that has no memory left for shared pages, as with
 * vm.overcommit_memory=2: after NO_PAGES_AFTER pages a process gets none that it asks for.
 * A store to one that it does not ask for would be a SIGBUS; here it succeeds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define POPULATE_WRITE 23
#define PAGE_BYTES 4096

__attribute__((visibility("default"))) int madvise(void *at, size_t bytes, int advice)
{
    static atomic_long pages;
    const char *after = getenv("NO_PAGES_AFTER");

    if (advice == POPULATE_WRITE && after &&
        atomic_fetch_add(&pages, (long)(bytes / PAGE_BYTES)) + (long)(bytes / PAGE_BYTES) >
            atol(after)) {
        errno = EFAULT;
        return -1;
    }
    return (int)syscall(SYS_madvise, at, bytes, (long)advice);
}
