/* source_scopes.h: the scope that a source's thread is in.
 *
 * A push leads one scope down from where the thread is, its pop back. A tape's push
 * leads to another place in the tree; its pop leads back to where the thread was,
 * whatever it pushed and popped in between. So does work's, which leads to where the
 * thread was that handed it over, and one operator further where that is named.
 *
 * Each takes the record that s is at.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SOURCE_SCOPES_H
#define ML_SOURCE_SCOPES_H

#include <stdbool.h>

#include "dict.h"
#include "target.h"

/* ML_PUSH and ML_POP. @return whether there is an event to write: not for what is
 * too deep, too many, or of a tape
 * @ret_scope  that of the event; the thread may have gone on from there */
bool ml_source_push(struct ml_dict *dict, struct ml_source *s);
bool ml_source_pop(struct ml_dict *dict, struct ml_source *s, uint32_t *ret_scope);

/* ML_REC_TAPE: numbers that the thread made where it is. */
void ml_source_take_tape(struct ml_source *s);

/* ML_REC_PUSH_TAPE. There is no event to write: the scope of what comes next tells,
 * or ML_MARK_NODE before it where the last node was in the same. */
void ml_source_push_tape(struct ml_dict *dict, struct ml_source *s);

/* ML_REC_WORK and ML_REC_MOVE_WORK. Without a stack of its own, work has that of the work
 * which the thread does. */
void ml_source_hand_work(struct ml_source *s);
void ml_source_move_work(struct ml_source *s);

/* ML_REC_PUSH_WORK. What nobody is known to have handed over belongs nowhere.
 * @return as ml_source_push */
bool ml_source_push_work(struct ml_dict *dict, struct ml_source *s);

/* A thread starts outside of all scopes. */
void ml_source_leave_scopes(struct ml_source *s);

#endif
