/* net_definitions.c: see net_definitions.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "net_definitions.h"

#include <stdlib.h>

void ml_net_definitions_release(struct ml_net_definitions *d)
{
    ml_vec_release(&d->parents);
    ml_vec_release(&d->plain);
}

bool ml_net_parent_of(const struct ml_net_definitions *d, uint32_t scope, uint32_t *ret)
{
    if (scope == 0 || scope >= d->parents.len)
        return false;
    *ret = d->parents.items[scope];
    return true;
}

bool ml_net_is_plain(const struct ml_net_definitions *d, uint32_t space)
{
    return space < d->plain.len && d->plain.items[space];
}
