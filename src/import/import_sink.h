/* import_sink.h: what an importer found, on its way into a trace.
 *
 * Definitions are made once: asking for the same process, thread, space or object
 * again gives the same number. Events are written in the order they are added, or, for
 * a format whose files are in no order, sorted by time with a temporary file.
 *
 * Failures (memory, disk) are kept in the sink and told by ml_import_sink_check and
 * ml_import_sink_close, so that importers need not look after each call.
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

struct ml_import_sink {
    struct ml_dict dict; /* strings, scopes, frames, stacks, settings: use it directly */

    /* Set by the importer before its first event, or any time in an unordered sink. */
    uint64_t start_wall_ns; /* wall clock at time 0; 0: unknown */
    bool unordered;         /* events come in no order: sort them */
    bool absolute;          /* of an unordered sink: the first event becomes time 0 */
    bool wall_known;        /* of such: its times, with wall_base_ns, are wall clock */
    uint64_t wall_base_ns;

    /* Of an unordered sink: sees each event when they are in order, and may set what was
     * not known before; false drops it. */
    bool (*on_ordered)(void *ctx, struct ml_event *event);
    void *ordered_ctx;

    uint64_t events;

    /* Instead of the file, for tests: takes each event where it would be written. */
    void (*tap)(void *ctx, const struct ml_event *event);
    void *tap_ctx;

    /* Inside. */
    struct ml_intern defined; /* tag and fields -> index in numbers */
    ML_VEC(uint32_t) numbers; /* of definitions */
    uint64_t addresses;       /* given so far by ml_import_address */
    unsigned unknown;         /* bits of enum ml_unknown */
    struct ml_import_sort sort;
    uint64_t zero_ns; /* what is taken off sorted times */
    struct ml_trace_writer writer;
    bool writing;
    const char *path;
    bool force;
    char *part;          /* the file while it is being made; NULL: path itself */
    struct ml_error why; /* the first failure */
};

/* The trace will be at `path`, which must outlive the sink; until it is whole it has
 * another name. Nothing is created before the first event. With neither path nor tap
 * events go nowhere.
 * @return 0; -EEXIST when it is there and `force` is not given; -ENOMEM */
int ml_import_sink_open(struct ml_import_sink *k, const char *path, bool force,
                        struct ml_error *err);

/* The trace is whole: puts it in its place. The sink is released in any case.
 * @ret_events  how many it has; may be NULL
 * @return 0, or negative with the reason: then there is no file */
int ml_import_sink_close(struct ml_import_sink *k, uint64_t *ret_events, struct ml_error *err);

/* Releases the sink and leaves no file. */
void ml_import_sink_abandon(struct ml_import_sink *k);

/* The first failure so far, 0 if there was none. */
int ml_import_sink_check(const struct ml_import_sink *k, struct ml_error *err);

/* ---- Definitions -------------------------------------------------------- */

/* Says what the source does not tell, bits of enum ml_unknown. */
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

/* A number to stand for an address that the source does not tell; each is given once,
 * and `addresses` is marked unknown. */
uint64_t ml_import_address(struct ml_import_sink *k);

/* Takes one event; its kind must be known. */
void ml_import_event(struct ml_import_sink *k, const struct ml_event *event);

/* All events of an unordered sink are in: puts them in order. Closing does it too; an
 * importer whose on_ordered needs what it is about to release does it before. */
void ml_import_sink_sort(struct ml_import_sink *k);

#endif
