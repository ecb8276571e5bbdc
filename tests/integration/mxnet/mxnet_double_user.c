/* mxnet_double_user.c: makes a CachedOp, and allocates twice, as mxnet_double.c does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

extern int MXCreateCachedOp(void *symbol, void **ret);
extern int allocate(void);

int main(void)
{
    void *op;
    int first;

    if (MXCreateCachedOp(&op, &op))
        return 1;
    first = allocate();
    printf("%d %d\n", first, allocate());
    return 0;
}
