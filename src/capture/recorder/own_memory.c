/* own_memory.c: see own_memory.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "own_memory.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "filtered.h"

long ml_own_memory_read(uintptr_t from, void *copy, size_t bytes)
{
    struct iovec to = {copy, bytes};
    struct iovec there = {(void *)from, bytes};
    long n;

    if (!ml_calls_begin())
        return -1;
    n = syscall(SYS_process_vm_readv, (long)getpid(), &to, 1L, &there, 1L, 0L);
    ml_calls_end();
    return n < 0 && errno == EFAULT ? 0 : n;
}
