/* recorder_parts.h: the state of other rooms that must be announced to a recording.
 *
 * The recorder is the lowest room and includes no other. A room whose tables outlive a fork or a
 * recording has a part; recorder_parts.c lists them. They are not registered at run time, because
 * the program's first malloc comes before any constructor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_RECORDER_PARTS_H
#define ML_RECORDER_PARTS_H

/* Each function may be NULL. */
struct ml_recorder_part {
    /* Called once per program, after ml_names_init: a part takes its locks before the names' lock.
     */
    void (*init)(void);

    /* Announces all numbered entries again, under the same numbers: in a forked child and in a
     * later recording before their first other record, and when announcements were lost. */
    void (*announce_names)(void);

    /* The same for settings, in a forked child and in a later recording only. */
    void (*announce_settings)(void);
};

/* Ends with NULL. */
extern const struct ml_recorder_part *const ml_recorder_parts[];

#endif
