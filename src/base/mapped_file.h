/* mapped_file.h: the files that another process has mapped, also those of a process with another
 * root or in a container.
 *
 * /proc/PID/maps gives their paths as this process would reach them, or, if it cannot, from the
 * root of the other mount namespace. A path may thus be that of another file here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_MAPPED_FILE_H
#define ML_BASE_MAPPED_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct ml_mapping {
    uint64_t begin, end;
    uint64_t offset; /* in the file */
    uint64_t inode;
    unsigned device[2]; /* major and minor number */
    char *path;         /* in the line; NULL: it has no file */
    bool deleted;       /* the file has no name any more */
};

/* Parses a line of /proc/PID/maps, and ends the path in it.
 * @return false: it is none */
bool ml_mapping_parse(char *line, struct ml_mapping *ret);

/* Visits the mappings of a process in their order, until a visit returns true.
 * @return whether one did */
bool ml_mappings_visit(pid_t pid, bool (*visit)(const struct ml_mapping *, void *context),
                       void *context);

/* Opens the file of a mapping, if it is a regular one: by the mapping itself if the kernel lets us,
 * as it does root, else by the path, first in the process's root, then in ours, if that is the
 * same file.
 * @how  flags of open, for reading at least
 * @return a descriptor; -ESTALE: the path is that of another file; another negative errno */
int ml_mapped_file_open(pid_t pid, const struct ml_mapping *mapping, int how);

/* The same for the file that is mapped at this address. */
int ml_mapped_file_open_at(pid_t pid, uint64_t address, int how);

/* Turns a path from /proc/PID/maps into one that the process itself uses, if it has another root.
 * @return the path, or a part of it */
const char *ml_mapped_path_inside(pid_t pid, const char *path);

#endif
