/* importer.h: files of other programs as traces.
 *
 * One file per format. An importer reads a source from its beginning to its end and
 * puts what it finds into a sink, which writes the trace. It holds neither: memory
 * stays small whatever the file's size.
 *
 * What a format cannot tell (addresses, frees, times, ...) is marked unknown in the
 * sink, never invented: docs/formats.md has the table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_IMPORTER_H
#define ML_IMPORTER_H

#include "error.h"
#include "import_sink.h"
#include "import_source.h"

/* What is looked at to recognise a format; all of a file that is shorter. */
#define ML_IMPORT_HEAD_BYTES 65536

struct ml_import_format {
    const char *name; /* "nvidia-smi", as in --format */
    const char *help; /* one line, no capital, no full stop */

    /* How much the first bytes look like this format: 0 not at all, 100 beyond doubt.
     * Text that could be several things stays low. */
    int (*recognise)(const uint8_t *head, size_t len);

    /* Reads all of it. @return 0, or negative with the reason and the place in `err` */
    int (*run)(struct ml_import_source *source, struct ml_import_sink *sink, struct ml_error *err);
};

/* All of them, NULL-terminated; where two recognise a file equally well, the first. */
extern const struct ml_import_format *const ml_import_formats[];

/* Their names, "nvidia-smi, tbd-log, ..."; as many as fit. @return buf */
#define ML_IMPORT_LIST_BYTES 256
const char *ml_import_format_list(char buf[ML_IMPORT_LIST_BYTES]);

/* @return NULL when there is none of this name */
const struct ml_import_format *ml_import_format_find(const char *name);

/* The format that the source's first bytes look like; the source has not moved.
 * @return 0; -EINVAL with the list of formats when none does; or why it cannot be read */
int ml_import_recognise(struct ml_import_source *source, const struct ml_import_format **ret,
                        struct ml_error *err);

/* Runs the importer, and marks the trace with the format's name. A file in which a format
 * has nothing to tell, but which is whole, makes a trace without events. */
int ml_import_run(const struct ml_import_format *format, struct ml_import_source *source,
                  struct ml_import_sink *sink, struct ml_error *err);

#endif
