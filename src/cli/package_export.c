/* package_export.c: see package_export.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "package_export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "installed_files.h"
#include "say.h"
#include "verbs.h"

#define ARGUMENTS_MAX 16

/* The folder comes last: it has one package only, or it is that of another interpreter. */
static const char program[] =
    "import sys\n"
    "sys.path.append(sys.argv.pop(1))\n"
    "try:\n"
    "    from memledger._export_parquet import main\n"
    "except ImportError as error:\n"
    "    sys.exit(f'memledger: export --format parquet: {sys.executable} has no package memledger "
    "'\n"
    "             f'({error}); name an interpreter that has it in MEMLEDGER_PYTHON')\n"
    "main()\n";

/* The folder in which Python finds the package `memledger`; "" if there is none. */
static void package_folder(char ret[PATH_MAX])
{
    static const char wheel[] = "/memledger";
    size_t len;

    ml_bootstrap_path(ret);
    if (!*ret)
        return;
    *strrchr(ret, '/') = '\0';
    len = strlen(ret);
    if (len > strlen(wheel) && strcmp(ret + len - strlen(wheel), wheel) == 0)
        *strrchr(ret, '/') = '\0'; /* a wheel has both in the package */
}

int ml_package_export(const struct ml_package_export *how)
{
    const char *python = getenv("MEMLEDGER_PYTHON"), *arguments[ARGUMENTS_MAX];
    char folder[PATH_MAX];
    size_t n = 0;

    package_folder(folder);
    arguments[n++] = python && *python ? python : "python3";
    arguments[n++] = "-c";
    arguments[n++] = program;
    arguments[n++] = folder;
    arguments[n++] = "--output";
    arguments[n++] = how->folder;
    if (how->table) {
        arguments[n++] = "--table";
        arguments[n++] = how->table;
    }
    if (how->force)
        arguments[n++] = "--force";
    if (how->salvage)
        arguments[n++] = "--salvage";
    arguments[n++] = "--";
    arguments[n++] = how->trace;
    arguments[n] = NULL;
    execvp(arguments[0], (char *const *)arguments);
    ml_say("export --format parquet: cannot start %s: %s; name a Python with pyarrow in "
           "MEMLEDGER_PYTHON",
           arguments[0], strerror(errno));
    return ML_EXIT_FAILURE;
}
