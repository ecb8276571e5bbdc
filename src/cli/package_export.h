/* package_export.h: the export that the Python package writes: Parquet, by pyarrow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PACKAGE_EXPORT_H
#define ML_PACKAGE_EXPORT_H

#include <stdbool.h>

struct ml_package_export {
    const char *trace;
    const char *folder;
    const char *table; /* NULL: all */
    bool force, salvage;
};

/* Becomes the package's program, run by the interpreter that MEMLEDGER_PYTHON names, else by
 * python3. The package is the interpreter's own, else the one that is installed with this command.
 * @return an exit code, only if the interpreter cannot be started */
int ml_package_export(const struct ml_package_export *how);

#endif
