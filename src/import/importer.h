/* importer.h: import files of other programs as traces.
 *
 * One file per format. An importer reads a source from its beginning to its end and puts what
 * it finds into a sink, which writes the trace. It keeps neither in memory, so memory stays
 * small for a file of any size.
 *
 * Facts that a format lacks (addresses, frees, times, ...) are marked unknown in the sink,
 * never invented: docs/formats.md has the table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_IMPORTER_H
#define ML_IMPORTER_H

#include "error.h"
#include "import_sink.h"
#include "import_source.h"

/* The bytes examined to recognise a format; a shorter file is examined whole. */
#define ML_IMPORT_HEAD_BYTES 65536

struct ml_import_format {
    const char *name; /* "nvidia-smi", as in --format */
    const char *help; /* one line, no full stop */

    /* How much the first bytes look like this format: 0 not at all, 100 beyond doubt. Ambiguous
     * text scores low. */
    int (*recognise)(const uint8_t *head, size_t len);

    /* Reads all of it. @return 0, or negative with the reason and the place in `err` */
    int (*run)(struct ml_import_source *source, struct ml_import_sink *sink, struct ml_error *err);
};

/* All of them, NULL-terminated; if two recognise a file equally well, the first wins. */
extern const struct ml_import_format *const ml_import_formats[];

/* Their names, "nvidia-smi, tbd-log, ..."; as many as fit. @return buf */
#define ML_IMPORT_LIST_BYTES 256
const char *ml_import_format_list(char buf[ML_IMPORT_LIST_BYTES]);

/* @return NULL when no format has this name */
const struct ml_import_format *ml_import_format_find(const char *name);

/* The format that the source's first bytes look like; takes no bytes from the source.
 * @return 0; -EINVAL with the list of formats when none does; or why it cannot be read */
int ml_import_recognise(struct ml_import_source *source, const struct ml_import_format **ret,
                        struct ml_error *err);

/* Runs the importer, and marks the trace with the format's name. A complete file without data
 * gives a trace without events. */
int ml_import_run(const struct ml_import_format *format, struct ml_import_source *source,
                  struct ml_import_sink *sink, struct ml_error *err);

#endif
