/* profile_events.c: turns the program's objects and operators into the records of a
 * profile.
 *
 * Tasks, frames, events and operators are written as a pair when they end, as
 * in MXNet's profiler; unfinished ones are not in the file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "memledger/memledger.h"
#include "profile_parts.h"
#include "varint.h"

#define OPERATORS_MAX 65536

/* ---- Objects ------------------------------------------------------------ */

static const char *domain_name(const struct ml_profile *p, uint64_t domain_plus_one)
{
    const struct ml_def *domain =
        domain_plus_one ? ml_dict_get(p->dict, ML_DEF_OBJECT, (uint32_t)domain_plus_one - 1) : NULL;

    return domain ? ml_dict_text(p->dict, (uint32_t)domain->fields[ML_OBJECT_NAME]) : "";
}

static int64_t track_with_suffix(struct ml_profile *p, const char *domain, const char *suffix,
                                 enum ml_track_kind kind, const char *name)
{
    struct ml_buf category = {0};
    int64_t track = -1;

    if (!ml_buf_puts(&category, domain) && !ml_buf_puts(&category, suffix))
        track = ml_profile_track(&p->tracks, (char *)category.data, kind, name);
    ml_buf_release(&category);
    return track;
}

static int64_t new_object_track(struct ml_profile *p, const struct ml_def *object)
{
    const char *name = ml_dict_text(p->dict, (uint32_t)object->fields[ML_OBJECT_NAME]);
    const char *domain = domain_name(p, object->fields[ML_OBJECT_DOMAIN]);

    switch (object->fields[ML_OBJECT_KIND]) {
    case MEMLEDGER_TASK: return ml_profile_track(&p->tracks, domain, ML_TRACK_TIME, name);
    case MEMLEDGER_EVENT: return ml_profile_track(&p->tracks, "event", ML_TRACK_TIME, name);
    case MEMLEDGER_COUNTER: return ml_profile_track(&p->tracks, domain, ML_TRACK_COUNTER, name);
    case MEMLEDGER_FRAME: return track_with_suffix(p, domain, ",frame", ML_TRACK_TIME, name);
    default: return -1;
    }
}

static int64_t object_track(struct ml_profile *p, uint64_t object)
{
    const struct ml_def *def = ml_dict_get(p->dict, ML_DEF_OBJECT, (uint32_t)object);
    uint64_t known;
    int64_t track;

    if (ml_map_get(&p->object_tracks, object, &known))
        return (int64_t)known;
    track = def ? new_object_track(p, def) : -1;
    if (track >= 0)
        ml_map_put(&p->object_tracks, object, (uint64_t)track); /* else looked up again */
    return track;
}

static void put_duration(struct ml_profile *p, const struct ml_event *ev, int64_t track,
                         uint64_t start_ns)
{
    const struct ml_def *def = ml_dict_get(p->dict, ML_DEF_OBJECT, (uint32_t)ev->args[0]);
    struct ml_profile_record r =
        ml_profile_record_on(p, track, start_ns, ml_profile_tid(p, ev->thread));

    switch (def->fields[ML_OBJECT_KIND]) {
    case MEMLEDGER_TASK:
        r.extra = ML_EXTRA_ID;
        r.id = (uint32_t)ev->args[0];
        ml_profile_put_pair(p, r, "be", ev->time_ns);
        break;
    case MEMLEDGER_FRAME: ml_profile_put_pair(p, r, "()", ev->time_ns); break;
    default: ml_profile_put_pair(p, r, "BE", ev->time_ns); break;
    }
}

static void start(struct ml_profile *p, const struct ml_event *ev)
{
    if (ml_profile_recorded(p))
        ml_map_put(&p->started, ev->args[0], ev->time_ns);
}

static void stop(struct ml_profile *p, const struct ml_event *ev)
{
    uint64_t start_ns;
    int64_t track;

    if (!ml_map_take(&p->started, ev->args[0], &start_ns) || !ml_profile_recorded(p))
        return;
    track = object_track(p, ev->args[0]);
    if (track < 0 || p->tracks.tracks.items[track].kind != ML_TRACK_TIME)
        return;
    ml_profile_count(p, track, (int64_t)(ev->time_ns - start_ns));
    if (p->output)
        put_duration(p, ev, track, start_ns);
}

static void counter(struct ml_profile *p, const struct ml_event *ev)
{
    int64_t track = ml_profile_recorded(p) ? object_track(p, ev->args[0]) : -1;
    int64_t value = ml_unzigzag(ev->args[1]);

    if (track < 0 || p->tracks.tracks.items[track].kind != ML_TRACK_COUNTER)
        return;
    ml_profile_count(p, track, value);
    if (p->output)
        ml_profile_put_value(p, track, ev->time_ns, ml_profile_tid(p, ev->thread), value);
}

static void marker(struct ml_profile *p, const struct ml_event *ev)
{
    const char *scope = ml_dict_text(p->dict, (uint32_t)ev->args[2]);
    struct ml_profile_record r;
    int64_t track = -1;

    if (ml_profile_recorded(p))
        track = track_with_suffix(p, domain_name(p, ev->args[0]), ",instant_marker",
                                  ML_TRACK_MARKER, ml_dict_text(p->dict, (uint32_t)ev->args[1]));
    if (track < 0)
        return;
    ml_profile_count(p, track, 0);
    if (!p->output)
        return;
    r = ml_profile_record_on(p, track, ev->time_ns, ml_profile_tid(p, ev->thread));
    r.phase = 'n';
    r.extra = ML_EXTRA_SCOPE;
    r.scope = !strcmp(scope, "global") ? 'g' : !strcmp(scope, "thread") ? 't' : 'p';
    ml_profile_file_put(&p->file, &r);
}

/* ---- Operators ---------------------------------------------------------- */

/* Name of the scope if it is an operator's, else NULL. */
static const char *operator_name(const struct ml_profile *p, uint32_t scope)
{
    struct {
        uint32_t parent, kind, name;
    } key = {0};
    const char *bytes = scope ? ml_intern_get(&p->dict->scopes, scope - 1, NULL) : NULL;

    if (bytes)
        memcpy(&key, bytes, sizeof(key));
    return key.kind == MEMLEDGER_SCOPE_OPERATOR ? ml_dict_text(p->dict, key.name) : NULL;
}

static int64_t operator_track(struct ml_profile *p, uint32_t scope)
{
    const char *name = operator_name(p, scope);
    uint64_t known;
    int64_t track;

    if (ml_map_get(&p->scope_tracks, scope, &known))
        return (int64_t)known;
    if (!name)
        return -1;
    track = ml_profile_track(&p->tracks, strstr(name, "::") ? "Custom Operator" : "operator",
                             ML_TRACK_TIME, name);
    if (track >= 0)
        ml_map_put(&p->scope_tracks, scope, (uint64_t)track);
    return track;
}

/* As in MXNet, nodes of a graph belong to either setting. */
static bool is_wanted(const struct ml_profile *p, uint64_t flags)
{
    if (flags & ML_OPERATOR_EARLY)
        return false;
    return p->on[ML_CONFIG_PROFILE_ALL] || p->on[ML_CONFIG_PROFILE_IMPERATIVE] ||
           (p->on[ML_CONFIG_PROFILE_SYMBOLIC] && !(flags & ML_OPERATOR_IMPERATIVE));
}

/* MXNet does not gather operators while it adds them up. */
static bool is_only_a_group(const struct ml_profile *p, const char *name)
{
    return p->on[ML_CONFIG_AGGREGATE_STATS] && !strcmp(name, "ImperativeBulk");
}

static void push(struct ml_profile *p, const struct ml_event *ev)
{
    const char *name = operator_name(p, ev->scope);

    if (!name || !ml_profile_recorded(p) || !is_wanted(p, ev->args[0]) ||
        is_only_a_group(p, name) || p->operators.len == OPERATORS_MAX)
        return;
    (void)ml_vec_push(&p->operators, (struct ml_open_operator){ev->thread, ev->scope, ev->time_ns});
}

/* Twice, as MXNet does: on the device's process, and as a task. */
static void put_operator(struct ml_profile *p, const struct ml_event *ev, int64_t track,
                         const struct ml_open_operator *open)
{
    struct ml_profile_record r =
        ml_profile_record_on(p, track, open->start_ns, ml_profile_tid(p, ev->thread));
    uint32_t pid = r.pid;

    r.pid = 0;
    ml_profile_put_pair(p, r, "BE", ev->time_ns);
    r.pid = pid;
    r.extra = ML_EXTRA_ID;
    r.id = r.tid;
    ml_profile_put_pair(p, r, "be", ev->time_ns);
}

/* The pop of the thread's innermost operator scope ends it; pops of other scopes
 * lead elsewhere. */
static void pop(struct ml_profile *p, const struct ml_event *ev)
{
    size_t i = p->operators.len;
    struct ml_open_operator open;
    int64_t track;

    while (i > 0 && p->operators.items[i - 1].thread != ev->thread)
        i--;
    if (i == 0)
        return;
    open = p->operators.items[i - 1];
    if (ml_dict_scope_parent(p->dict, open.scope) != ev->scope)
        return;
    memmove(&p->operators.items[i - 1], &p->operators.items[i],
            (p->operators.len - i) * sizeof(open));
    p->operators.len--;
    track = ml_profile_recorded(p) ? operator_track(p, open.scope) : -1;
    if (track < 0)
        return;
    ml_profile_count(p, track, (int64_t)(ev->time_ns - open.start_ns));
    if (p->output)
        put_operator(p, ev, track, &open);
}

void ml_profile_forget(struct ml_profile *p)
{
    ml_map_clear(&p->started);
    ml_vec_clear(&p->operators);
    ml_profile_memory_clear(&p->memory);
    p->allowance = ML_ALLOWANCE_MAX;
}

void ml_profile_event(struct ml_profile *p, const struct ml_event *ev)
{
    if (!p->running)
        return;
    switch (ev->kind) {
    case ML_ALLOC:
    case ML_ALLOC_EX:
    case ML_FREE:
    case ML_FREE_RANGE:
    case ML_MOVE:
    case ML_MOVE_FAILED: ml_profile_memory_changed(p, ev); break;
    case ML_START: start(p, ev); break;
    case ML_STOP: stop(p, ev); break;
    case ML_COUNTER: counter(p, ev); break;
    case ML_MARKER: marker(p, ev); break;
    case ML_PUSH: push(p, ev); break;
    case ML_POP: pop(p, ev); break;
    default: break;
    }
}
