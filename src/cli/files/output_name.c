/* output_name.c: expands output templates.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "output_name.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vec.h"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static int expand(struct ml_buf *out, char letter, const char *program, pid_t pid,
                  struct ml_error *err)
{
    char host[HOST_NAME_MAX + 1] = "host";

    switch (letter) {
    case 'p': return ml_buf_printf(out, "%d", (int)pid);
    case 'n': return ml_buf_printf(out, "%s", base_name(program));
    case 'h': gethostname(host, sizeof(host) - 1); return ml_buf_printf(out, "%s", host);
    case '%': return ml_buf_printf(out, "%%");
    case '\0':
        return ml_error_set(err, -EINVAL, "the output name ends with a '%%'; write '%%%%' for one");
    default:
        return ml_error_set(err, -EINVAL,
                            "the output name has an unknown '%%%c'; known are %%p (process id), "
                            "%%h (host), %%n (program) and %%%%",
                            letter);
    }
}

static int expand_all(struct ml_buf *out, const char *pattern, const char *program, pid_t pid,
                      struct ml_error *err)
{
    int r = 0;

    for (const char *p = pattern; *p && !r; p++) {
        if (*p == '%')
            r = expand(out, *++p, program, pid, err);
        else
            r = ml_buf_append(out, p, 1);
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
