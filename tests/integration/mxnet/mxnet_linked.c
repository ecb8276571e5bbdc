/* mxnet_linked.c: a program in C that is linked with MXNet: two arrays, one of them freed, and
 * one that is too large.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <mxnet/c_api.h>
#include <stdio.h>
#include <unistd.h>

static int create(unsigned rows, unsigned columns, NDArrayHandle *ret)
{
#ifdef HAS_DTYPE_ARGUMENT
    return MXNDArrayCreate((uint32_t[]){rows, columns}, 2, 1, 0, 0, 0, ret);
#else
    return MXNDArrayCreate((uint32_t[]){rows, columns}, 2, 1, 0, 0, ret);
#endif
}

int main(void)
{
    NDArrayHandle kept, gone, none;

    if (create(64, 64, &kept) || create(100, 100, &gone))
        return 1;
    MXNDArrayFree(gone);
    MXNDArrayWaitAll();
    printf("%d %s", create(1u << 24, 1u << 24, &none), MXGetLastError());
    fflush(stdout);
    _exit(0);
}
