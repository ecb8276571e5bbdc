/* profile.c: settings, states, dumps and statistics of a profile; the records
 * themselves are made in profile_events.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "memledger/memledger.h"
#include "profile_parts.h"
#include "profile_stats.h"
#include "ring.h"

#define PERIOD_NS_MIN 1000000.0
#define PERIOD_NS_MAX 1e18

int ml_profile_new(const struct ml_dict *dict, uint64_t start_wall_ns, struct ml_profile **ret)
{
    struct ml_profile *p = calloc(1, sizeof(*p));

    if (!p)
        return -ENOMEM;
    p->dict = dict;
    p->start_wall_ns = start_wall_ns;
    ml_profile_file_init(&p->file);
    ml_profile_memory_init(&p->memory, dict);
    for (int i = 0; i < ML_CONFIG_KEYS; i++)
        ml_profile_set_config(p, ml_config_keys[i].name, ml_config_keys[i].default_value);
    if (!p->filename) {
        ml_profile_free(p);
        return -ENOMEM;
    }
    *ret = p;
    return 0;
}

void ml_profile_free(struct ml_profile *p)
{
    if (!p)
        return;
    if (p->output)
        ml_profile_dump(p, true, NULL);
    ml_profile_file_release(&p->file);
    ml_profile_tracks_release(&p->tracks);
    ml_profile_memory_release(&p->memory);
    ml_vec_release(&p->counters);
    ml_map_release(&p->object_tracks);
    ml_map_release(&p->scope_tracks);
    ml_map_release(&p->started);
    ml_vec_release(&p->operators);
    free(p->filename);
    free(p);
}

/* ---- Settings ----------------------------------------------------------- */

static uint64_t period_ns(const char *seconds)
{
    double ns = strtod(seconds, NULL) * 1e9;

    if (ns < PERIOD_NS_MIN)
        ns = PERIOD_NS_MIN;
    return (uint64_t)(ns < PERIOD_NS_MAX ? ns : PERIOD_NS_MAX);
}

static void set_filename(struct ml_profile *p, const char *name)
{
    bool is_same = (p->filename && !strcmp(p->filename, name)) ||
                   (p->file.fd >= 0 && !strcmp(p->file.path, name));
    char *copy = strdup(name);

    if (!copy)
        return;
    free(p->filename);
    p->filename = copy;
    if (is_same)
        return;
    if (p->output) /* earlier records belong to the old file */
        ml_profile_settle(p);
    if (p->file.text.len)
        ml_profile_file_update(&p->file);
    ml_profile_file_finish(&p->file);
}

void ml_profile_give_file(struct ml_profile *p, int fd, int error, const char *path)
{
    ml_profile_file_take(&p->file, fd, error, path);
}

bool ml_profile_lacks_file(const struct ml_profile *p, bool running)
{
    return p->file.fd < 0 && (p->output || !running);
}

void ml_profile_set_config(struct ml_profile *p, const char *name, const char *value)
{
    int key = ml_config_find(name);
    const char *spelled = key >= 0 ? ml_config_check((enum ml_config_key)key, value) : NULL;

    if (!spelled)
        return;
    if (ml_config_keys[key].type == ML_CONFIG_BOOL)
        p->on[key] = !strcmp(spelled, "true");
    if (key == ML_CONFIG_DUMP_PERIOD)
        p->period_ns = period_ns(spelled);
    if (key == ML_CONFIG_FILENAME)
        set_filename(p, spelled);
}

/* ---- States ------------------------------------------------------------- */

static void run(struct ml_profile *p, uint64_t time_ns)
{
    p->paused = false;
    if (p->running && p->output)
        return;
    if (p->output)
        ml_profile_settle(p);
    if (!p->running)
        ml_profile_forget(p);
    p->ran = p->running = p->output = true;
    p->dumped_ns = time_ns;
}

void ml_profile_set_state(struct ml_profile *p, uint32_t state, uint64_t time_ns)
{
    switch (state) {
    case ML_PROFILE_RUN: run(p, time_ns); break;
    case ML_PROFILE_STOP:
        p->running = false;
        p->paused = true;
        break;
    case ML_PROFILE_PAUSE: p->paused = true; break;
    case ML_PROFILE_RESUME: p->paused = false; break;
    default: break;
    }
}

bool ml_profile_active(const struct ml_profile *p)
{
    return p->running;
}

bool ml_profile_wants_calls(const struct ml_profile *p)
{
    return ml_profile_recorded(p) && (p->on[ML_CONFIG_PROFILE_API] || p->on[ML_CONFIG_PROFILE_ALL]);
}

/* ---- Dumps -------------------------------------------------------------- */

void ml_profile_tick(struct ml_profile *p, uint64_t time_ns)
{
    if (!p->output || !p->on[ML_CONFIG_CONTINUOUS_DUMP] || time_ns - p->dumped_ns < p->period_ns)
        return;
    p->dumped_ns = time_ns;
    ml_profile_settle(p);
    ml_profile_file_update(&p->file);
}

int ml_profile_dump(struct ml_profile *p, bool finished, struct ml_error *err)
{
    int r;

    if (!p->ran)
        return ml_error_set(err, -ESRCH,
                            "the profiler has not been run: call set_config and set_state(run) "
                            "before dump");
    if (!p->output)
        return 0;
    ml_profile_settle(p);
    r = ml_profile_file_flush(&p->file, err);
    if (!r && (finished || !p->on[ML_CONFIG_CONTINUOUS_DUMP])) {
        ml_profile_file_finish(&p->file);
        p->output = false;
    }
    return r;
}

/* ---- Statistics --------------------------------------------------------- */

int ml_profile_stats(struct ml_profile *p, bool reset, int format, int sort_by, bool ascending,
                     struct ml_buf *out, struct ml_error *err)
{
    size_t start = out->len;
    int r;

    if (p->output) {
        ml_profile_settle(p);
        ml_profile_file_update(&p->file);
    }
    if (format == MEMLEDGER_JSON)
        r = ml_profile_stats_json(&p->tracks, sort_by, ascending, out);
    else
        r = ml_profile_stats_table(&p->tracks, sort_by, ascending, out);
    if (r)
        return ml_error_set(err, r, "the statistics do not fit in memory");
    if (out->len - start >= ML_REPLY_BYTES)
        return ml_error_set(err, -E2BIG,
                            "the statistics take %zu bytes, of which %u can be sent: use fewer "
                            "names, or reset more often",
                            out->len - start, ML_REPLY_BYTES - 1);
    if (reset)
        ml_profile_tracks_reset(&p->tracks);
    return 0;
}
