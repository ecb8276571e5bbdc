/* torch_helpers.c: see torch_helpers.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "torch_helpers.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "memledger/memledger.h"
#include "names.h"
#include "record.h"
#include "torch_real.h"

/* int at::get_thread_num(): 0 outside of parallel regions, and for the thread that began one. */
#define THREAD_NUM "_ZN2at14get_thread_numEv"

/* The threads on which gloo, as PyTorch calls it, runs collectives; see classify.c too. */
#define COLLECTIVES_THREAD "pt_gloo"
#define COLLECTIVES_LABEL "gloo"

typedef int place_function(void);

static _Atomic(place_function *) place_in_region;

void ml_torch_helpers_begin(void)
{
    atomic_store_explicit(&place_in_region, (place_function *)ml_torch_function(THREAD_NUM),
                          memory_order_relaxed);
}

void ml_torch_before_help(void)
{
    place_function *place = atomic_load_explicit(&place_in_region, memory_order_relaxed);
    uint64_t word;

    if (!place || place() == 0)
        return;
    word = ml_record_word(ML_REC_HELPS, 0, ml_now());
    ml_record(&word, 1);
}

static bool runs_collectives(void)
{
    const struct ml_ring *ring = ml_writer ? ml_writer->ring : NULL;

    return ring && strncmp(ring->name, COLLECTIVES_THREAD, strlen(COLLECTIVES_THREAD)) == 0;
}

void ml_torch_after_help(uint32_t space, const void *ptr)
{
    if (runs_collectives())
        ml_record_label(space, ptr, MEMLEDGER_COMMUNICATION, ml_name(COLLECTIVES_LABEL));
}
