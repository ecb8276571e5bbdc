/* output_name.c: expands output templates.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "output_name.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "job_variables.h"
#include "vec.h"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* The rank that a launcher gave this process, such as Slurm, which starts one command for each. */
static int expand_rank(struct ml_buf *out, struct ml_error *err)
{
    const struct ml_job_launcher *launcher = ml_job_launcher();

    if (launcher)
        return ml_buf_printf(out, "%u", (unsigned)strtoul(getenv(launcher->rank), NULL, 10));
    return ml_error_set(err, -EINVAL,
                        "the output name has %%r, but no launcher gave this process a rank (RANK, "
                        "SLURM_PROCID, OMPI_COMM_WORLD_RANK, …); one command in front of torchrun "
                        "records all ranks into one trace and needs no %%r");
}

/* Of "q{NAME}…" the variable's value; `*at` moves to the closing brace. */
static int expand_variable(struct ml_buf *out, const char **at, struct ml_error *err)
{
    const char *name = *at + 1, *end = *name == '{' ? strchr(name, '}') : NULL;
    char variable[128];
    const char *value;

    if (!end || end - name - 1 >= (ptrdiff_t)sizeof(variable))
        return ml_error_set(err, -EINVAL,
                            "the output name has a %%q without a variable; write %%q{NAME}");
    snprintf(variable, sizeof(variable), "%.*s", (int)(end - name - 1), name + 1);
    value = getenv(variable);
    if (!value)
        return ml_error_set(err, -EINVAL,
                            "the output name has %%q{%s}, but that variable is not set", variable);
    *at = end;
    return ml_buf_printf(out, "%s", value);
}

/* `*at` is the letter after the '%'; it moves to the last character that was used. */
static int expand(struct ml_buf *out, const char **at, const char *program, pid_t pid,
                  struct ml_error *err)
{
    char host[HOST_NAME_MAX + 1] = "host";

    switch (**at) {
    case 'r': return expand_rank(out, err);
    case 'q': return expand_variable(out, at, err);
    case 'p': return ml_buf_printf(out, "%d", (int)pid);
    case 'n': return ml_buf_printf(out, "%s", base_name(program));
    case 'h': gethostname(host, sizeof(host) - 1); return ml_buf_printf(out, "%s", host);
    case '%': return ml_buf_printf(out, "%%");
    case '\0':
        return ml_error_set(err, -EINVAL, "the output name ends with a '%%'; write '%%%%' for one");
    default:
        return ml_error_set(err, -EINVAL,
                            "the output name has an unknown '%%%c'; known are %%p (process id), "
                            "%%h (host), %%n (program), %%r (rank), %%q{NAME} (a variable of the "
                            "environment) and %%%%",
                            **at);
    }
}

static int expand_all(struct ml_buf *out, const char *pattern, const char *program, pid_t pid,
                      struct ml_error *err)
{
    int r = 0;

    for (const char *p = pattern; *p && !r; p++) {
        if (*p == '%') {
            p++;
            r = expand(out, &p, program, pid, err);
        } else {
            r = ml_buf_append(out, p, 1);
        }
        if (!*p)
            break;
    }
    return r ? r : ml_buf_append(out, "", 1);
}

int ml_output_name(const char *pattern, const char *program, pid_t pid, char **ret,
                   struct ml_error *err)
{
    struct ml_buf out;
    struct stat st;
    int r;

    ml_buf_init(&out);
    r = expand_all(&out, pattern, program, pid, err);
    if (!r && !stat((char *)out.data, &st) && S_ISDIR(st.st_mode)) {
        out.data[out.len - 1] = '/';
        r = expand_all(&out, ML_OUTPUT_DEFAULT, program, pid, err);
    }
    if (r) {
        ml_buf_release(&out);
        return r;
    }
    *ret = (char *)out.data;
    return 0;
}
