/* source_scopes.h: the scope that a source's thread is in.
 *
 * A push leads one scope down from the thread's scope, its pop back up. A tape's push
 * leads to another place in the tree; its pop leads back to the thread's former scope,
 * whatever was pushed and popped in between. A push of work does the same: it leads to the scope
 * of the thread that submitted it, and one operator further if that is named.
 *
 * Each function takes the record that s is at.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SOURCE_SCOPES_H
#define ML_SOURCE_SCOPES_H

#include <stdbool.h>

#include "dict.h"
#include "target.h"

/* ML_PUSH and ML_POP. @return whether there is an event to write: not for a scope that is
 * too deep, one of too many, or one of a tape
 * @ret_scope  the event's; the thread may have moved on from there */
bool ml_source_push(struct ml_dict *dict, struct ml_source *s);
bool ml_source_pop(struct ml_dict *dict, struct ml_source *s, uint32_t *ret_scope);

/* ML_REC_TAPE: numbers that the thread made in its current scope. */
void ml_source_take_tape(struct ml_source *s);

/* ML_REC_FUNCTION. There is no event to write: the scope of the next one shows it. */
void ml_source_enter_function(struct ml_dict *dict, struct ml_source *s);

/* ML_REC_PUSH_TAPE. There is no event to write: the scope of the next event shows it,
 * or ML_MARK_NODE before it if the last node was in the same scope. */
void ml_source_push_tape(struct ml_dict *dict, struct ml_source *s);

/* ML_REC_WORK and ML_REC_MOVE_WORK. Work without a stack has the stack of the work
 * that the thread is doing. */
void ml_source_hand_work(struct ml_source *s);
void ml_source_move_work(struct ml_source *s);

/* ML_REC_PUSH_WORK. Work without a known submitter has no scope.
 * @return as ml_source_push */
bool ml_source_push_work(struct ml_dict *dict, struct ml_source *s);

/* A thread starts outside all scopes. */
void ml_source_leave_scopes(struct ml_source *s);

#endif
