/* mapped_file.h: the files that another process has mapped, also those of a process with another
 * root or in a container.
 *
 * /proc/PID/maps gives their paths as this process would reach them, or, if it cannot, from the
 * root of the other mount namespace. A path may thus be that of another file here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PROCESS_MAPPED_FILE_H
#define ML_PROCESS_MAPPED_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct ml_mapping {
    uint64_t begin, end;
    uint64_t offset; /* in the file */
    uint64_t inode;
    unsigned device[2]; /* major and minor number */
    char mode[5];       /* "rw-s": r, w, x or -, then p or s for private or shared */
    const char *name;   /* the path, the kernel's name such as "[heap]", or "" */
    const char *path;   /* NULL: it has no file */
    bool deleted;       /* the file has no name any more */
};

/* Visits the mappings of a process in their order, until a visit returns true. Names are valid
 * during the visit.
 * @return 1 if one did, else 0; negative errno: the process, or the right to read its list, is
 *         missing */
int ml_mappings_visit(pid_t pid, bool (*visit)(const struct ml_mapping *, void *context),
                      void *context);

/* The mapping that contains the address, without its names.
 * @return whether there is one */
bool ml_mapping_at(pid_t pid, uint64_t address, struct ml_mapping *ret);

/* Opens the file of a mapping, if it is a regular one: by the mapping itself if the kernel lets us,
 * as it does root, else by the path, first in the process's root, then in ours, if that is the
 * same file. For writing only if the process has it mapped for that: a right of ours that the
 * process does not have must not serve it.
 * @how  flags of open, for reading at least
 * @return a descriptor; -ESTALE: the path is that of another file; -EROFS: the process may not
 *         write to it; another negative errno */
int ml_mapped_file_open(pid_t pid, const struct ml_mapping *mapping, int how);

/* The same for the file that is mapped at this address. */
int ml_mapped_file_open_at(pid_t pid, uint64_t address, int how);

/* Turns a path from /proc/PID/maps into one that the process itself uses, if it has another root.
 * @return the path, or a part of it */
const char *ml_mapped_path_inside(pid_t pid, const char *path);

#endif
