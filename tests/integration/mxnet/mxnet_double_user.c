/* mxnet_double_user.c: allocates twice, as mxnet_double.c does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

extern int allocate(void);

int main(void)
{
    int first = allocate();

    printf("%d %d\n", first, allocate());
    return 0;
}
