/* recorder_path.c: looks for the recorder relative to /proc/self/exe.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recorder_path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler.h"

int ml_recorder_path(const char *name, char ret[PATH_MAX], struct ml_error *err)
{
    /* An installation's, a wheel's, a build folder's. */
    static const char *const places[] = {"../lib/memledger", "../recorder", "../capture"};
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

    if (n < 0)
        return ml_error_set(err, -errno, "cannot find out where memledger lies: %s",
                            strerror(errno));
    self[n] = '\0';
    *strrchr(self, '/') = '\0';
    for (size_t i = 0; i < ML_ARRAY_SIZE(places); i++) {
        char path[2 * PATH_MAX];
        snprintf(path, sizeof(path), "%s/%s/%s", self, places[i], name);
        if (realpath(path, ret) && !access(ret, R_OK))
            return 0;
    }
    return ml_error_set(err, -ENOENT, "%s is not in %s/../lib/memledger; install memledger again",
                        name, self);
}
