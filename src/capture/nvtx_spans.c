/* nvtx_spans.c: see nvtx_spans.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "nvtx_spans.h"

#include <errno.h>
#include <stddef.h>

#include "api_control.h"
#include "api_objects.h"
#include "memledger/memledger.h"
#include "names.h"
#include "nvtx_domains.h"
#include "objects.h"
#include "record.h"

#define NO_ROOM UINT64_MAX /* a number that no object has */

uint64_t ml_nvtx_start(uint32_t domain, uint32_t name)
{
    uint32_t object = ml_nvtx_domain_object(domain);
    int saved_errno = errno;
    uint64_t task = NO_ROOM;

    if (object && ml_objects_create(MEMLEDGER_TASK, object, name, &task))
        ml_api_start(task);
    errno = saved_errno;
    return task;
}

void ml_nvtx_end(uint64_t range)
{
    const struct ml_user_object *o = ml_objects_get(range);
    int saved_errno = errno;

    if (!o || o->kind != MEMLEDGER_TASK)
        return;
    ml_api_stop(range);
    ml_api_destroy(range);
    errno = saved_errno;
}

void ml_nvtx_mark(uint32_t domain, uint32_t name)
{
    uint32_t object = ml_nvtx_domain_object(domain);

    if (object && ml_control_records()) {
        uint64_t words[] = {ml_record_word(ML_MARKER, 0, ml_now()), ml_pair(object, name),
                            ml_name("thread")};
        ml_record(words, 3);
    }
}
