/* process_groups.c: which process group of PyTorch a communicator of NCCL is for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "native.h"
#include "recorder_tables.h"

static PyObject *name_group(PyObject *self, PyObject *args)
{
    const struct ml_extension_api *recorder = ml_native_recorder();
    const char *name;
    Py_ssize_t config;
    int rank, ranks;

    (void)self;
    if (!PyArg_ParseTuple(args, "nsii", &config, &name, &rank, &ranks))
        return NULL;
    if (recorder)
        recorder->name_group((const void *)config, name, rank, ranks);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"name_group", name_group, METH_VARARGS,
     "(config, name, rank, ranks): communicators made with this configuration are for this group."},
    {NULL, NULL, 0, NULL},
};

int ml_native_add_process_groups(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
