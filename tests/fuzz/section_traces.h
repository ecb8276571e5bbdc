/* section_traces.h: small traces whose sections fuzz_checkpoints damages.
 *
 * Together their checkpoints and pyramids have every sort of section and record. The wall-clock
 * time in a file of sections is the number of the trace that they belong to.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_FUZZ_SECTION_TRACES_H
#define ML_FUZZ_SECTION_TRACES_H

#include "trace.h"

enum section_trace {
    SECTION_SAMPLE,   /* trace_sample.h: events of every kind */
    SECTION_TRAINING, /* steps that repeat, modules, segments of a pool, samples, a refusal */
    SECTION_MALLOC,   /* no names, so that it has outlines */
    SECTION_TRACES,
};

/* Opens one. @return 0 or negative errno */
int section_trace_open(enum section_trace which, struct ml_trace **ret);

/* The trace that a file of sections belongs to. */
enum section_trace section_trace_of(const struct ml_trace *sections);

#endif
