/* save_options.c: see save_options.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "save_options.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <strings.h>

#include "compiler.h"
#include "text.h"

/* Of those that the launcher waits for, the ones that do not ask a program to end. */
static const struct {
    const char *name;
    int number;
} signals[] = {{"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"HUP", SIGHUP}, {"WINCH", SIGWINCH}};

int ml_save_signal_parse(const char *text, int *ret, struct ml_error *err)
{
    const char *name = strncasecmp(text, "SIG", 3) ? text : text + 3;

    for (size_t i = 0; i < ML_ARRAY_SIZE(signals); i++) {
        if (strcasecmp(name, signals[i].name))
            continue;
        *ret = signals[i].number;
        return 0;
    }
    return ml_error_set(err, -EINVAL,
                        "--on-signal: '%s' cannot be used; choose USR1, USR2, HUP or WINCH", text);
}

int ml_save_growth_parse(const char *text, struct ml_growth_limit *ret, struct ml_error *err)
{
    char *end;
    double percent = strtod(text, &end);
    uint64_t within_ns = 0;

    if (end == text || !isfinite(percent) || percent <= 0 || end[0] != '%' || end[1] != '/' ||
        ml_parse_duration_ns(end + 2, &within_ns) < 0 || within_ns < 1000000000)
        return ml_error_set(err, -EINVAL,
                            "--on-growth: '%s' is not a share and a time of a second or more; "
                            "write 10%%/1h",
                            text);
    *ret = (struct ml_growth_limit){percent / 100, within_ns};
    return 0;
}
