/* vgg_options.h: the command line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef VGG19_OPTIONS_H
#define VGG19_OPTIONS_H

#include "network.h"

#include <stdbool.h>

enum device { DEVICE_CPU, DEVICE_CUDA };

struct options {
    const struct conv_algorithm *algorithm;
    enum device device;
    struct network_task task;
    int threads;
    int passes;             /* forward passes, one step each */
    const char *output;     /* NULL: write nothing */
    const char *check_file; /* NULL: compare with the host's result */
    const char *cuda_libs;  /* NULL: look in the usual places */
    bool check;
    bool probe;
    bool help;
};

/* Returns 0, or -1 after a message on stderr. Strings in `ret` point into argv. */
int options_parse(int argc, char **argv, struct options *ret);
void options_print_help(void);

#endif
