/* job_place.c: see job_place.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "job_place.h"

#include "env_number.h"
#include "job_variables.h"

#define VALUE_MAX_BYTES 47

struct place {
    char *text;
    size_t len, room;
};

static void put(struct place *p, char c)
{
    if (p->len + 1 < p->room)
        p->text[p->len++] = c;
}

static void put_pair(struct place *p, const char *key, const char *value)
{
    if (!value || !*value)
        return;
    if (p->len)
        put(p, ' ');
    for (; *key; key++)
        put(p, *key);
    put(p, '=');
    for (size_t i = 0; i < VALUE_MAX_BYTES && value[i]; i++)
        put(p, value[i] > ' ' && value[i] < 127 ? value[i] : '_');
}

static void put_variable(struct place *p, const char *key, const char *variable)
{
    put_pair(p, key, variable ? getenv(variable) : NULL);
}

uint32_t ml_job_place(char *out, size_t room)
{
    struct place p = {out, 0, room};
    const struct ml_job_launcher *launcher = ml_job_launcher();

    if (launcher) {
        put_variable(&p, "rank", launcher->rank);
        put_variable(&p, "world_size", launcher->world_size);
        put_variable(&p, "local_rank", launcher->local_rank);
        put_variable(&p, "local_world_size", launcher->local_world_size);
        put_variable(&p, "node", launcher->node);
        put_pair(&p, "launcher", launcher->name);
    }
    put_pair(&p, "job", ml_job_name());
    out[p.len] = '\0';
    return launcher ? 1 + ml_env_number(launcher->rank, 0) : 0;
}
