/* site_frames.h: the frames of a site, as flame graphs show them: its stack, or the path
 * of its module.
 *
 * Frames are numbered from 0 in order of appearance; the same stack always gets the same
 * numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_EXPORT_SITE_FRAMES_H
#define ML_EXPORT_SITE_FRAMES_H

#include "sites.h"
#include "stack_view.h"

#define ML_NO_MODULE_FRAME "(no module)"

struct ml_site_frame {
    uint32_t name, file; /* in ml_site_frames.texts; file 0: unknown */
    uint32_t line;       /* 0: unknown */
};

struct ml_site_frames {
    const struct ml_trace *trace;
    struct ml_intern texts; /* 0 is "" */
    struct ml_intern keys;  /* of the frames, by number */
    ML_VEC(struct ml_site_frame) list;
    ML_VEC(uint32_t) path; /* the frames requested last, innermost first */
    struct ml_stack_view view;
    struct ml_buf scratch;
};

/* @return 0 or -ENOMEM, as all of these; release in both cases */
int ml_site_frames_init(struct ml_site_frames *frames, const struct ml_trace *trace);
void ml_site_frames_release(struct ml_site_frames *frames);

/* Puts the frames of a stack, or those of a module and its parents, into `path`. */
int ml_site_stack(struct ml_site_frames *frames, uint32_t stack);
int ml_site_module(struct ml_site_frames *frames, const struct ml_modules *modules,
                   uint32_t module);

/* The number of a frame that has only a name. @return negative errno on failure */
int64_t ml_site_frame(struct ml_site_frames *frames, const char *name);

#endif
