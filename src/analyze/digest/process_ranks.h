/* process_ranks.h: which rank of a distributed job each process of a trace belongs to.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_PROCESS_RANKS_H
#define ML_ANALYZE_PROCESS_RANKS_H

#include <stdbool.h>

#include "trace.h"
#include "vec.h"

/* The processes of a trace and their ranks. */
struct ml_rank_table {
    ML_VEC(uint32_t) ranks;      /* 1 + the number in the job, each once; 0: no ranks */
    ML_VEC(uint32_t) of_process; /* by process number: 1 + index in ranks; 0: none */
};

/* @return 0 or -ENOMEM; release it in both cases */
int ml_rank_table_init(struct ml_rank_table *table, const struct ml_trace *trace);
void ml_rank_table_release(struct ml_rank_table *table);

/* 1 + the rank of a process in the job; 0: none. */
uint32_t ml_rank_table_of(const struct ml_rank_table *table, uint32_t process);

/* Whether a process of the trace has a rank in a job. */
bool ml_trace_has_ranks(const struct ml_trace *trace);

#endif
