/* classify.h: what each block was for: its category and its label, from its birth.
 *
 * While events are read, a block's category is known only later: its label comes
 * after it, and whether it is an activation or temporary shows when it is freed.
 * One pass over the trace finds all of them; a replay that is given the result has
 * each block in its category from the first moment. Rules, the first that fits:
 *
 *  1. a label's category, whenever it comes; a later one replaces an earlier one. One of
 *     category other is a name alone, and none for a block that another label gave a
 *     category. Its first words may say one (label_tags.h): that comes next
 *  2. labelled as input, and born outside modules, backward and optimizer: input
 *  3. born in backward: intermediate gradient
 *  4. born in the optimizer's step: temporary if freed before the step ends, else
 *     optimizer state
 *  5. born in a module: temporary if freed before that call returns, else activation
 *  6. born outside modules between the marks "forward" and "backward" or "optimizer" of
 *     its process: activation if alive when backward begins, else temporary
 *  7. other
 *
 * By rules 3, 5 and 6 what one of the first passes leaves for later ones, and no other pass
 * does, is other: a library's workspace, a cache (kept_blocks.h).
 *
 * Of blocks in the spaces of MXNet, whose engine runs operators later than the program
 * asks for them, marks say nothing, and neither does the return of a call. There it is the
 * operators that run whose scopes tell how far a step has come (engine_passes.h):
 *
 *  3. to 6. born and freed in one operator: temporary. Asked for in backward: intermediate
 *     gradient. In the optimizer's step: temporary if freed before forward runs again, else
 *     optimizer state. In forward, or in a module: temporary if freed before backward runs,
 *     else activation. What an operator of the first passes alone keeps for later ones is
 *     its workspace, and temporary; with a name, other. Memory of a graph's, which no operator
 *     took, may be an input for rule 2
 *
 * Where a block was born is said by its scope: the innermost phase there, forward if
 * there is only a module, else the last mark of a phase. Only spaces of level block
 * are looked at, and of malloc and mmap only labels.
 *
 * A program without modules and phases has no use for this: the result is empty, and
 * costs no pass. Blocks then change their category when their label comes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_CLASSIFY_H
#define ML_ANALYZE_CLASSIFY_H

#include "classes.h"
#include "trace.h"

/* @ret    to be released, after a failure too
 * @return 0 or negative errno */
int ml_classify(const struct ml_trace *trace, struct ml_classes *ret, struct ml_error *err);
void ml_classes_release(struct ml_classes *classes);

#endif
