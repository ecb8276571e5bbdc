/* import_sink.h: collects what an importer finds and writes the trace.
 *
 * Definitions are made once: requesting the same process, thread, space or object again returns
 * the same number. Events are written in the order they are added, or, for a format with
 * unsorted files, sorted by time with a temporary file.
 *
 * The sink keeps failures (memory, disk) for ml_import_sink_check and ml_import_sink_close, so
 * that importers need not check each call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_IMPORT_SINK_H
#define ML_IMPORT_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "dict.h"
#include "error.h"
#include "event.h"
#include "import_sort.h"
#include "intern.h"
#include "trace_writer.h"
#include "unknowns.h"
#include "vec.h"

struct ml_import_counts {
    uint64_t events, samples; /* without the samples; the samples */
    bool unnamed_frames;      /* functions of native frames are still to be looked up */
};

struct ml_import_sink {
    struct ml_dict dict; /* strings, scopes, frames, stacks, settings: use it directly */

    /* Set by the importer before its first event, or any time in an unordered sink. */
    uint64_t start_wall_ns; /* wall clock at time 0; 0: unknown */
    bool unordered;         /* events come unsorted: sort them */
    bool absolute;          /* of an unordered sink: the first event becomes time 0 */
    bool wall_known;        /* of an absolute one: times + wall_base_ns are wall clock */
    uint64_t wall_base_ns;

    /* Of an unordered sink: called with each event in order; it may fill in what was unknown
     * before. False drops the event. */
    bool (*on_ordered)(void *ctx, struct ml_event *event);
    void *ordered_ctx;

    uint64_t events, samples; /* samples are events too */

    /* Set by the importer: there are native frames of libraries, without their functions. */
    bool unnamed_frames;

    /* For tests: receives each event instead of the file. */
    void (*tap)(void *ctx, const struct ml_event *event);
    void *tap_ctx;

    /* Private. */
    struct ml_intern defined; /* tag and fields -> index in numbers */
    ML_VEC(uint32_t) numbers; /* of definitions */
    uint64_t addresses;       /* returned so far by ml_import_address */
    unsigned unknown;         /* bits of enum ml_unknown */
    struct ml_import_sort sort;
    uint64_t zero_ns; /* subtracted from sorted times */
    struct ml_trace_writer writer;
    bool writing;
    const char *path;
    bool force;
    char *part;          /* the temporary file; NULL: path itself */
    struct ml_error why; /* the first failure */
};

/* The trace will be at `path`, which must outlive the sink; until it is complete it has another
 * name. Nothing is created before the first event. With neither path nor tap, events are
 * dropped.
 * @return 0; -EEXIST when it exists and `force` is not given; -ENOMEM */
int ml_import_sink_open(struct ml_import_sink *k, const char *path, bool force,
                        struct ml_error *err);

/* Completes the trace and gives it its name. Releases the sink in any case.
 * @ret  how many it has; may be NULL
 * @return 0, or negative with the reason: no file is left then */
int ml_import_sink_close(struct ml_import_sink *k, struct ml_import_counts *ret,
                         struct ml_error *err);

/* Releases the sink and leaves no file. */
void ml_import_sink_abandon(struct ml_import_sink *k);

/* The first failure so far, 0 if there was none. */
int ml_import_sink_check(const struct ml_import_sink *k, struct ml_error *err);

/* ---- Definitions -------------------------------------------------------- */

/* Marks what the source lacks, bits of enum ml_unknown. */
static inline void ml_import_unknown(struct ml_import_sink *k, unsigned bits)
{
    k->unknown |= bits;
}

uint32_t ml_import_process(struct ml_import_sink *k, uint32_t pid, const char *command);
uint32_t ml_import_thread(struct ml_import_sink *k, uint32_t process, uint32_t tid,
                          const char *name);

/* @level  enum memledger_level */
uint32_t ml_import_space(struct ml_import_sink *k, uint32_t process, const char *device,
                         uint32_t level, const char *name);

/* @kind    enum memledger_object_kind
 * @domain  the domain's number + 1, 0: none
 * @name    a string's number in the dictionary */
uint32_t ml_import_object(struct ml_import_sink *k, uint32_t process, uint32_t kind,
                          uint32_t domain, uint32_t name);

/* ---- Events ------------------------------------------------------------- */

/* A unique number in place of an address that the source lacks; marks `addresses` unknown. */
uint64_t ml_import_address(struct ml_import_sink *k);

/* Adds one event; its kind must be known. */
void ml_import_event(struct ml_import_sink *k, const struct ml_event *event);

/* Sorts the events of an unordered sink, once all are added. Closing does it too; an importer
 * calls it earlier if its on_ordered needs memory that it is about to release. */
void ml_import_sink_sort(struct ml_import_sink *k);

#endif
