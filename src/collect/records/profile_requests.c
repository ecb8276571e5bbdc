/* profile_requests.c: see profile_requests.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "profile_requests.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config_keys.h"
#include "handed_files.h"
#include "record_words.h"

static struct ml_profile *profile_of(struct ml_stage *stage, struct ml_target *t)
{
    if (!t->profile)
        ml_profile_new(stage->dict, stage->start_wall_ns, &t->profile);
    return t->profile;
}

/* This process, or all servers of the run. */
static bool is_meant(const struct ml_target *t, bool servers, const struct ml_target *self)
{
    return servers ? t->role.is_server : t == self;
}

/* Each server has its own file, named as MXNet's servers name theirs: the process that sets
 * the name opens this server's file. */
static void set_config(struct ml_profile *p, const char *key, const char *value,
                       const struct ml_role *server)
{
    const char *slash = strrchr(value, '/');
    const char *name = slash ? slash + 1 : value;
    struct ml_buf path = {0};

    if (!server || strcmp(key, ml_config_keys[ML_CONFIG_FILENAME].name))
        ml_profile_set_config(p, key, value);
    else if (!ml_buf_printf(&path, "%.*srank%u_%s", (int)(name - value), value, server->number,
                            name))
        ml_profile_set_config(p, key, (char *)path.data);
    ml_buf_release(&path);
}

/* The recorder announces whose settings follow. */
void ml_profile_take_config(struct ml_stage *stage, struct ml_source *s)
{
    uint64_t pair = ml_word(s, 1);
    const char *key = ml_dict_text(stage->dict, ml_target_string(s->target, ml_high(pair)));
    const char *value = ml_dict_text(stage->dict, ml_target_string(s->target, ml_low(pair)));

    if (!strcmp(key, ml_config_keys[ML_CONFIG_PROFILE_PROCESS].name)) {
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

/* The process itself, or the server that it opened the file for. */
static struct ml_target *file_owner(struct ml_stage *stage, struct ml_target *self, uint32_t server)
{
    for (size_t i = 0; server && i < stage->targets.len; i++) {
        struct ml_target *t = stage->targets.items[i];
        if (t->role.is_server && t->role.number == server - 1 && !t->gone)
            return t;
    }
    return server ? NULL : self;
}

void ml_profile_take_file(struct ml_stage *stage, struct ml_source *s)
{
    struct ml_target *owner = file_owner(stage, s->target, ml_high(ml_word(s, 1)));
    struct ml_profile *p = owner ? profile_of(stage, owner) : NULL;
    uint32_t path = ml_high(ml_word(s, 2));
    int fd =
        stage->handed ? ml_handed_take(stage->handed, s->target->pid, ml_low(ml_word(s, 1))) : -1;

    if (p)
        ml_profile_give_file(p, fd, (int)ml_low(ml_word(s, 2)),
                             ml_dict_text(stage->dict, ml_target_string(s->target, path)));
    else if (fd >= 0)
        close(fd);
}

/* Which servers need a file. */
static int list_servers(struct ml_stage *stage, bool all, struct ml_buf *out)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < stage->targets.len; i++) {
        struct ml_target *t = stage->targets.items[i];
        struct ml_profile *p = t->role.is_server ? profile_of(stage, t) : NULL;
        if (p && !t->gone && ml_profile_lacks_file(p, !all))
            r = ml_buf_printf(out, "%u ", t->role.number);
    }
    return r;
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

/* The second call waits for the thread that writes what the first passed on. */
static int save(struct ml_stage *stage, struct ml_buf *out, struct ml_error *err)
{
    char *path = realpath(stage->writer->path, NULL);
    int r = path ? 0 : ml_error_set(err, -errno, "%s: cannot find it", stage->writer->path);

    ml_trace_writer_save(stage->writer);
    ml_trace_writer_save(stage->writer);
    if (r == 0 && stage->writer->error)
        r = ml_error_set(err, stage->writer->error,
                         "%s could not be written to its end: %s; free some of the disk, or record "
                         "to another with -o",
                         path, strerror(-stage->writer->error));
    if (r == 0)
        r = ml_buf_puts(out, path);
    free(path);
    return r;
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
    else if (ml_low(ml_word(s, 1)) == ML_REQUEST_FILES)
        r = list_servers(stage, argument & 1, &text);
    else if (ml_low(ml_word(s, 1)) == ML_REQUEST_SAVE)
        r = save(stage, &text, &err);
    if (r)
        ml_target_reply(s->target, ml_high(ml_word(s, 1)), r, err.text, strlen(err.text));
    else
        ml_target_reply(s->target, ml_high(ml_word(s, 1)), 0, text.data ? (char *)text.data : "",
                        text.len);
    ml_buf_release(&text);
}
