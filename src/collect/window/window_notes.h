/* window_notes.h: events other than those of blocks that a window repeats at its beginning,
 * because later ones depend on them: the last step, the last sample of a device, the value of a
 * counter, a task that runs, the scope that a thread is in, losses, ends of processes. Notes about
 * processes that have ended are forgotten later, see window_gone.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_WINDOW_NOTES_H
#define ML_WINDOW_NOTES_H

#include "event.h"
#include "intern.h"
#include "vec.h"

struct ml_window_note {
    struct ml_event event; /* kind 0: no longer wanted */
};

struct ml_window_notes {
    struct ml_intern keys; /* what each note is about */
    ML_VEC(struct ml_window_note) notes;
};

/* All zero bytes is a valid empty list. */
void ml_window_notes_release(struct ml_window_notes *n);

/* Takes an event of any kind, in order. @return 0 or -ENOMEM */
int ml_window_notes_feed(struct ml_window_notes *n, const struct ml_event *event);

/* Forgets the notes that are no longer wanted, as `is_wanted` says it.
 * @return 0, or -ENOMEM: the notes are as they were */
int ml_window_notes_tidy(struct ml_window_notes *n,
                         bool (*is_wanted)(const void *ctx, const struct ml_event *event),
                         const void *ctx);

/* The events to be repeated, in order of time; the caller frees them.
 * @return 0 or -ENOMEM */
int ml_window_notes_list(const struct ml_window_notes *n, struct ml_event **ret, size_t *ret_count);

#endif
