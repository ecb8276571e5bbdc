/* profile_requests.c: see profile_requests.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "profile_requests.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "config_keys.h"
#include "record_words.h"

static struct ml_profile *profile_of(struct ml_stage *stage, struct ml_target *t)
{
    char link[40], directory[PATH_MAX];
    ssize_t n;

    if (t->profile)
        return t->profile;
    snprintf(link, sizeof(link), "/proc/%u/cwd", t->pid);
    n = readlink(link, directory, sizeof(directory) - 1);
    directory[n > 0 ? n : 0] = '\0';
    ml_profile_new(stage->dict, directory, stage->start_wall_ns, &t->profile);
    return t->profile;
}

/* This process, or all servers of the run. */
static bool is_meant(const struct ml_target *t, bool servers, const struct ml_target *self)
{
    return servers ? t->role.is_server : t == self;
}

/* Each server has a file of its own, named as MXNet's servers name theirs. */
static void set_config(struct ml_profile *p, const char *key, const char *value,
                       const struct ml_role *server)
{
    const char *slash = strrchr(value, '/');
    const char *name = slash ? slash + 1 : value;
    struct ml_buf path = {0};

    if (!server || strcmp(key, ml_keys[ML_KEY_FILENAME].name))
        ml_profile_set_config(p, key, value);
    else if (!ml_buf_printf(&path, "%.*srank%u_%s", (int)(name - value), value, server->number,
                            name))
        ml_profile_set_config(p, key, (char *)path.data);
    ml_buf_release(&path);
}

/* The recorder says first whose settings follow. */
void ml_profile_take_config(struct ml_stage *stage, struct ml_source *s)
{
    uint64_t pair = ml_word(s, 1);
    const char *key = ml_dict_text(stage->dict, ml_target_string(s->target, ml_high(pair)));
    const char *value = ml_dict_text(stage->dict, ml_target_string(s->target, ml_low(pair)));

    if (!strcmp(key, ml_keys[ML_KEY_PROFILE_PROCESS].name)) {
        s->target->sets_servers = !strcmp(value, "server");
        return;
    }
    for (size_t i = 0; i < stage->targets.len; i++) {
        struct ml_target *t = stage->targets.items[i];
        bool meant = is_meant(t, s->target->sets_servers, s->target);
        struct ml_profile *p = meant ? profile_of(stage, t) : NULL;
        if (p)
            set_config(p, key, value, s->target->sets_servers ? &t->role : NULL);
        if (p && s->target->sets_servers)
            ml_target_want_calls(t, ml_profile_wants_calls(p));
    }
}

void ml_profile_take_state(struct ml_stage *stage, struct ml_source *s, uint64_t time_ns)
{
    bool servers = ml_high(ml_word(s, 1));

    for (size_t i = 0; i < stage->targets.len; i++) {
        struct ml_target *t = stage->targets.items[i];
        bool meant = is_meant(t, servers, s->target);
        struct ml_profile *p = meant ? profile_of(stage, t) : NULL;
        if (p)
            ml_profile_set_state(p, ml_low(ml_word(s, 1)), time_ns);
        if (p && servers)
            ml_target_want_calls(t, ml_profile_wants_calls(p));
    }
}

static int dump(struct ml_stage *stage, struct ml_source *s, uint64_t argument,
                struct ml_error *err)
{
    bool servers = argument >> 8 & 1;
    int result = 0;

    for (size_t i = 0; i < stage->targets.len; i++) {
        struct ml_target *t = stage->targets.items[i];
        bool meant = is_meant(t, servers, s->target);
        struct ml_profile *p = meant ? profile_of(stage, t) : NULL;
        int r = p ? ml_profile_dump(p, argument & 1, err) : 0;
        result = result ? result : r;
    }
    return result;
}

void ml_profile_take_request(struct ml_stage *stage, struct ml_source *s)
{
    struct ml_profile *p = profile_of(stage, s->target);
    uint64_t argument = ml_word(s, 2);
    struct ml_error err = {0};
    struct ml_buf text;
    int r = -EINVAL;

    ml_buf_init(&text);
    if (!p)
        r = ml_error_set(&err, -ENOMEM, "the collector is out of memory");
    else if (ml_low(ml_word(s, 1)) == ML_REQUEST_DUMP)
        r = dump(stage, s, argument, &err);
    else if (ml_low(ml_word(s, 1)) == ML_REQUEST_STATS)
        r = ml_profile_stats(p, argument & 1, argument >> 8 & 0xff, argument >> 16 & 0xff,
                             argument >> 24 & 1, &text, &err);
    else if (ml_low(ml_word(s, 1)) == ML_REQUEST_NOTHING)
        r = 0;
    if (r)
        ml_target_reply(s->target, ml_high(ml_word(s, 1)), r, err.text, strlen(err.text));
    else
        ml_target_reply(s->target, ml_high(ml_word(s, 1)), 0, text.data ? (char *)text.data : "",
                        text.len);
    ml_buf_release(&text);
}
