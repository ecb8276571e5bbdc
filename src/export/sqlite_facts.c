/* sqlite_facts.c: see sqlite_facts.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sqlite_facts.h"

#include <sqlite3.h>

#include "classify.h"
#include "compiler.h"
#include "cuda_spaces.h"
#include "event_names.h"
#include "run_facts.h"
#include "sqlite_tables.h"
#include "steps.h"

/* ML_CUDA_DRIVERS_OWN, in SQL. */
#define DRIVERS_OWN                                                                                \
    "'" ML_CUDA_CONTEXT "', '" ML_CUDA_MODULES "', '" ML_CUDA_LIMITS "', '" ML_CUDA_ROUNDING       \
    "', '" ML_CUDA_OTHER "', '" ML_CUDA_BEFORE "', '" ML_CUDA_BEFORE_ALL "'"

/* Live memory at the peak excludes blocks of ended processes, as all totals do. */
const char ml_sqlite_facts_schema[] =
    "CREATE TABLE run(key TEXT PRIMARY KEY, value) WITHOUT ROWID;\n"
    "CREATE TABLE process_ends(process INTEGER PRIMARY KEY, end_ns INTEGER,"
    " wait_status INTEGER);\n"
    "CREATE TABLE steps(number INTEGER, begin_ns INTEGER, end_ns INTEGER, peak_bytes INTEGER,"
    " peak_ns INTEGER, end_bytes INTEGER, allocations INTEGER, frees INTEGER, paused_ns INTEGER);\n"
    "CREATE TABLE step_categories(number INTEGER, begin_ns INTEGER, category TEXT,"
    " bytes INTEGER);\n"
    "CREATE VIEW live_at_peak AS SELECT a.* FROM allocations a"
    " LEFT JOIN process_ends e ON e.process = a.process,"
    " (SELECT value AS peak_ns FROM run WHERE key = 'peak_ns') AS p"
    " WHERE a.counted AND a.time_ns <= p.peak_ns"
    " AND (a.free_ns IS NULL OR a.free_ns > p.peak_ns)"
    " AND (e.end_ns IS NULL OR e.end_ns > p.peak_ns);\n"
    "CREATE VIEW never_freed AS SELECT * FROM allocations"
    " WHERE counted AND free_ns IS NULL"
    " AND NOT (level = 'driver' AND space IN (" DRIVERS_OWN "));\n"
    "CREATE VIEW by_category AS SELECT category, sum(bytes) AS bytes, count(*) AS blocks"
    " FROM live_at_peak GROUP BY category ORDER BY bytes DESC;\n"
    "CREATE VIEW by_module AS SELECT module, class, category, sum(bytes) AS bytes,"
    " count(*) AS blocks FROM live_at_peak GROUP BY module, class, category"
    " ORDER BY bytes DESC;\n"
    "CREATE VIEW by_device AS SELECT device, space, sum(bytes) AS bytes, count(*) AS blocks"
    " FROM live_at_peak GROUP BY device, space ORDER BY bytes DESC;\n"
    "CREATE VIEW step_peaks AS SELECT number, peak_bytes,"
    " peak_bytes - lag(peak_bytes) OVER (ORDER BY begin_ns) AS change_bytes, peak_ns,"
    " end_bytes, allocations, frees FROM steps ORDER BY begin_ns;\n";

/* ---- One statement with its rows --------------------------------------- */

struct insert {
    struct sqlite3 *db;
    sqlite3_stmt *stmt;
    int code;
};

static struct insert begin(struct sqlite3 *db, const char *sql)
{
    struct insert in = {.db = db};

    in.code = sqlite3_prepare_v2(db, sql, -1, &in.stmt, NULL);
    return in;
}

static void bind(struct insert *in, int place, uint64_t value)
{
    if (in->code == SQLITE_OK)
        in->code = sqlite3_bind_int64(in->stmt, place, (sqlite3_int64)value);
}

static void bind_text(struct insert *in, int place, const char *text)
{
    if (in->code == SQLITE_OK)
        in->code = sqlite3_bind_text(in->stmt, place, text, -1, SQLITE_TRANSIENT);
}

static void put(struct insert *in)
{
    if (in->code != SQLITE_OK)
        return;
    sqlite3_step(in->stmt);
    in->code = sqlite3_reset(in->stmt);
    sqlite3_clear_bindings(in->stmt);
}

static int finish(struct insert *in, struct ml_error *err)
{
    int r = in->code == SQLITE_OK ? 0 : ml_sqlite_fail(in->db, "cannot insert a row", err);

    sqlite3_finalize(in->stmt);
    return r;
}

/* ---- The run, and when processes ended --------------------------------- */

/* Only needs the replay to reach the end of the trace. */
static int replay_all(const struct ml_trace *trace, struct ml_replay *replay, struct ml_error *err)
{
    int r = ml_replay_init(replay, trace);

    return r < 0 ? ml_error_set(err, r, "out of memory") : ml_replay_trace(replay, UINT64_MAX, err);
}

static void put_number(struct insert *in, const char *key, uint64_t value)
{
    bind_text(in, 1, key);
    bind(in, 2, value);
    put(in);
}

static int fill_run(struct sqlite3 *db, const struct ml_trace *trace, struct ml_error *err)
{
    struct insert in = begin(db, "INSERT OR IGNORE INTO run VALUES(?, ?)");
    struct ml_run_fact fact;
    struct ml_replay replay;
    int finished, r = replay_all(trace, &replay, err);

    for (size_t i = 0; ml_run_fact(trace, i, &fact); i++) {
        bind_text(&in, 1, fact.key);
        if (fact.text)
            bind_text(&in, 2, fact.text);
        else
            bind(&in, 2, fact.number);
        put(&in);
    }
    put_number(&in, "peak_bytes", replay.bytes.peak_bytes);
    put_number(&in, "peak_ns", replay.bytes.peak_time_ns);
    put_number(&in, "lost_events", replay.lost);
    ml_replay_release(&replay);
    finished = finish(&in, err);
    return r < 0 ? r : finished;
}

static int fill_ends(struct sqlite3 *db, const struct ml_trace *trace, struct ml_error *err)
{
    struct insert in = begin(db, "INSERT OR IGNORE INTO process_ends VALUES(?, ?, ?)");
    struct ml_replay replay;
    int finished, r = replay_all(trace, &replay, err);

    for (size_t i = 0; i < replay.processes.len; i++) {
        const struct ml_replay_process *process = &replay.processes.items[i];

        if (!process->ended)
            continue;
        bind(&in, 1, process->number);
        bind(&in, 2, process->end_ns);
        if (process->status)
            bind(&in, 3, process->status - 1);
        put(&in);
    }
    ml_replay_release(&replay);
    finished = finish(&in, err);
    return r < 0 ? r : finished;
}

/* ---- Steps -------------------------------------------------------------- */

static void put_step(struct insert *in, const struct ml_step *step)
{
    const uint64_t values[] = {step->number,      step->begin_ns,     step->end_ns,
                               step->peak_bytes,  step->peak_time_ns, step->end_bytes,
                               step->allocations, step->frees,        step->paused_ns};

    for (size_t i = 0; i < ML_ARRAY_SIZE(values); i++)
        bind(in, (int)i + 1, values[i]);
    put(in);
}

static void put_categories(struct insert *in, const struct ml_step *step)
{
    for (uint32_t category = 0; category < ML_CATEGORIES; category++) {
        if (step->category_bytes[category] == 0)
            continue;
        bind(in, 1, step->number);
        bind(in, 2, step->begin_ns);
        bind_text(in, 3, ml_category_name(category));
        bind(in, 4, step->category_bytes[category]);
        put(in);
    }
}

static int fill_by_step(struct sqlite3 *db, const struct ml_trace *trace, const char *sql,
                        void (*put_one)(struct insert *, const struct ml_step *),
                        struct ml_error *err)
{
    struct insert in = begin(db, sql);
    struct ml_steps steps = {0};
    struct ml_classes classes;
    int finished, r = ml_classify(trace, &classes, err);

    if (r == 0)
        r = ml_steps_read(trace, &classes, &steps, err);
    for (size_t i = 0; r == 0 && i < steps.list.len; i++)
        put_one(&in, &steps.list.items[i]);
    ml_steps_release(&steps);
    ml_classes_release(&classes);
    finished = finish(&in, err);
    return r < 0 ? r : finished;
}

static int fill_steps(struct sqlite3 *db, const struct ml_trace *trace, struct ml_error *err)
{
    return fill_by_step(db, trace, "INSERT INTO steps VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)", put_step,
                        err);
}

static int fill_categories(struct sqlite3 *db, const struct ml_trace *trace, struct ml_error *err)
{
    return fill_by_step(db, trace, "INSERT INTO step_categories VALUES(?, ?, ?, ?)", put_categories,
                        err);
}

/* ---- The list ----------------------------------------------------------- */

static const struct {
    const char *name;
    int (*fill)(struct sqlite3 *db, const struct ml_trace *trace, struct ml_error *err);
} fact_tables[] = {
    {"run", fill_run},
    {"process_ends", fill_ends},
    {"steps", fill_steps},
    {"step_categories", fill_categories},
};

const char *ml_sqlite_facts_name(size_t i)
{
    return i < ML_ARRAY_SIZE(fact_tables) ? fact_tables[i].name : NULL;
}

int ml_sqlite_facts_fill(struct sqlite3 *db, const struct ml_trace *trace, size_t i,
                         struct ml_error *err)
{
    return fact_tables[i].fill(db, trace, err);
}
