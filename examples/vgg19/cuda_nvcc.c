/* cuda_nvcc.c: compiles with nvcc, the toolkit's compiler.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_compile.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { PATH_BYTES = 64 };

/* A private folder for the text and the result. */
struct workplace {
    char folder[PATH_BYTES];
    char text[PATH_BYTES + 16];
    char result[PATH_BYTES + 16];
};

static int workplace_make(struct workplace *place)
{
    strcpy(place->folder, "/tmp/vgg19-XXXXXX");
    if (!mkdtemp(place->folder))
        return -errno;
    snprintf(place->text, sizeof(place->text), "%s/kernels.cu", place->folder);
    snprintf(place->result, sizeof(place->result), "%s/kernels.cubin", place->folder);
    return 0;
}

static void workplace_clear(const struct workplace *place)
{
    unlink(place->text);
    unlink(place->result);
    rmdir(place->folder);
}

static int write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    int failed;

    if (!file)
        return -errno;
    failed = fputs(text, file) == EOF;
    return fclose(file) || failed ? -EIO : 0;
}

static int read_whole(const char *path, void **ret)
{
    struct stat about;
    FILE *file = fopen(path, "r");
    char *data = NULL;
    int rc = -EIO;

    if (!file)
        return -errno;
    if (!fstat(fileno(file), &about))
        data = malloc((size_t)about.st_size + 1);
    if (data && fread(data, 1, (size_t)about.st_size, file) == (size_t)about.st_size) {
        data[about.st_size] = '\0';
        *ret = data;
        data = NULL;
        rc = 0;
    }
    free(data);
    fclose(file);
    return rc;
}

/* -ENOENT if there is no nvcc. */
static int run_nvcc(const struct workplace *place, int capability)
{
    char target[32];
    const char *argv[] = {"nvcc", "-cubin", target, "-o", place->result, place->text, NULL};
    pid_t child;
    int status;
    int rc;

    snprintf(target, sizeof(target), "-arch=sm_%d", capability);
    rc = posix_spawnp(&child, argv[0], NULL, NULL, (char *const *)argv, environ);
    if (rc)
        return -rc;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return -ENOENT;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

int cuda_compile_nvcc(const char *text, int capability, void **ret)
{
    struct workplace place;
    int rc = workplace_make(&place);

    if (!rc) {
        rc = write_text(place.text, text);
        if (!rc)
            rc = run_nvcc(&place, capability);
        if (!rc)
            rc = read_whole(place.result, ret);
        workplace_clear(&place);
    }
    if (rc && rc != -ENOENT) {
        fprintf(stderr, "vgg19: nvcc does not compile the kernels for sm_%d: %s\n", capability,
                strerror(-rc));
        rc = -ENODEV;
    }
    return rc;
}
