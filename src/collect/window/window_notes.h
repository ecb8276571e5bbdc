/* window_notes.h: events other than those of blocks that a window repeats at its beginning,
 * because later ones depend on them: the last step, the last sample of a device, the value of a
 * counter, a task that runs, the scope that a thread is in, losses, ends of processes.
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

/* The events to be repeated, in order of time; the caller frees them.
 * @return 0 or -ENOMEM */
int ml_window_notes_list(const struct ml_window_notes *n, struct ml_event **ret, size_t *ret_count);

#endif
