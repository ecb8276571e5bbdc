/* classify.h: the purpose of each block: its category and its label, from its allocation on.
 *
 * While events are read, a block's category is known only later: its label comes after it, and
 * its free shows whether it is an activation or temporary. One pass over the trace finds all
 * categories. A replay that gets the result has each block in its category from the start. The
 * first rule that matches decides:
 *
 *  1. a label's category, whenever it comes; a later one replaces an earlier one. A label of
 *     category other is only a name, and is ignored if another label gave the block a
 *     category. Its first words may give one (label_tags.h), which comes next
 *  2. labelled as input, and allocated outside modules, backward and optimizer: input
 *  3. allocated in backward: intermediate gradient. Allocated by a thread that runs collectives of
 *     the host, in any phase: communication
 *  4. allocated in the optimizer's step: temporary if freed before the step ends, else
 *     optimizer state
 *  5. allocated in a module: temporary if freed before that call returns, else activation
 *  6. allocated outside modules between the marks "forward" and "backward" or "optimizer" of
 *     its process: activation if live when backward begins, else temporary
 *  7. other
 *
 * An exception to rules 3, 5 and 6: a block that one of the first passes leaves for later ones,
 * while no other pass leaves a similar one, is other: a library's workspace, a cache
 * (kept_blocks.h).
 *
 * In an imported trace whose scopes come from stacks (unknowns.h) nothing labels gradients, and a
 * stack shows only that a block may be an input. Lifetimes decide: rule 2 also requires that
 * exactly one forward pass begins while the block is live. A block of rule 3 that outlives its
 * backward pass is a gradient if it is as large as a parameter; if no parameter is known, unless it
 * outlives later passes too.
 *
 * MXNet's engine runs operators later than the program requests them. In its spaces the marks
 * and the return of a call mean nothing; the scopes of the operators that run show the progress
 * of a step (engine_passes.h):
 *
 *  3. to 6. allocated and freed in one operator: temporary. Requested in backward: intermediate
 *     gradient. In the optimizer's step: temporary if freed before forward runs again, else
 *     optimizer state. In forward, or in a module: temporary if freed before backward runs,
 *     else activation. Memory that only operators of the first passes keep for later ones is
 *     their workspace, and temporary; with a name, other. Unnamed memory that is live at the
 *     end is workspace as well, if no backward ran since and other nodes of its graph have
 *     results with names (named_results.h). Memory of a graph, which no operator allocated, may
 *     be an input for rule 2
 *
 * The scope of a block shows where it was allocated: the innermost phase there, forward if there
 * is only a module, else the last mark of a phase. Only spaces of level block are classified; for
 * malloc and mmap, only labels count.
 *
 * A program without modules and phases does not need this: the result is empty, without a pass
 * over the trace. Blocks then change their category when their label comes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_CLASSIFY_H
#define ML_ANALYZE_CLASSIFY_H

#include "classes.h"
#include "progress.h"
#include "trace.h"

/* @ret    to be released, after a failure too
 * @return 0 or negative errno */
int ml_classify(const struct ml_trace *trace, struct ml_classes *ret, struct ml_error *err);

/* The same with progress, in events of the trace. */
int ml_classify_telling(const struct ml_trace *trace, struct ml_progress *progress,
                        struct ml_classes *ret, struct ml_error *err);
void ml_classes_release(struct ml_classes *classes);

#endif
