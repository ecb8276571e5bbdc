/* driver.c: runs a fuzz target without libFuzzer.
 *
 *     fuzz_trace FILE|DIR…                       run each file
 *     fuzz_trace --mutate N [--seed S] FILE|DIR…  and N damaged copies of them
 *     … --keep FILE                              write each input there first
 *     … --plain                                  no traces: checksums stay as they are
 *     … --structured                             most copies keep the structure of the file
 *     … --progress SECONDS                       print a line every so often
 *
 * The same numbers give the same inputs, so a crash is repeated with --keep and
 * leaves its input behind. An input that takes longer than 20 seconds ends the
 * run by SIGALRM.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "io.h"
#include "trace_sample.h"

#define MOST_SECONDS 20
#define MOST_BYTES 65536u

static struct {
    ML_VEC(struct ml_buf) seeds;
    const char *keep;
    bool plain, structured;
    uint64_t slowest_ns;
    uint64_t progress_ns, told_ns; /* how often, and when last */
} run;

static void die(const char *what, int code)
{
    fprintf(stderr, "fuzz driver: %s: %s\n", what, strerror(-code));
    exit(2);
}

static uint64_t now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void keep_input(const struct ml_buf *bytes)
{
    int fd = open(run.keep, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int code = fd < 0 ? -errno : ml_write_all(fd, bytes->data, bytes->len);

    if (code || close(fd))
        die(run.keep, code ? code : -errno);
}

static void run_one(const struct ml_buf *bytes)
{
    uint64_t took = now_ns();

    if (run.keep)
        keep_input(bytes);
    alarm(MOST_SECONDS);
    LLVMFuzzerTestOneInput(bytes->data, bytes->len);
    took = now_ns() - took;
    if (took > run.slowest_ns)
        run.slowest_ns = took;
}

static void add_path(const char *path);

/* In the order of the names, so that seeds have the same numbers everywhere. */
static void add_dir(const char *path, struct dirent **entries, int n)
{
    char name[4096];

    for (int i = 0; i < n; i++) {
        if (entries[i]->d_name[0] != '.') {
            snprintf(name, sizeof(name), "%s/%s", path, entries[i]->d_name);
            add_path(name);
        }
        free(entries[i]);
    }
    free(entries);
}

static void add_path(const char *path)
{
    struct dirent **entries;
    int n = scandir(path, &entries, NULL, alphasort);
    struct ml_buf bytes = {0};
    int fd, code;

    if (n >= 0) {
        add_dir(path, entries, n);
        return;
    }
    fd = open(path, O_RDONLY | O_CLOEXEC);
    code = fd < 0 ? -errno : ml_bytes_of_fd(fd, &bytes);
    if (!code)
        code = ml_vec_push(&run.seeds, bytes);
    if (code)
        die(path, code);
    close(fd);
}

static int damage(struct fuzz_random *r, struct ml_buf *bytes, const struct ml_buf *other)
{
    if (!run.structured || fuzz_below(r, 4) == 0)
        return fuzz_damage(r, bytes, other, MOST_BYTES);
    return fuzz_is_trace(bytes->data, bytes->len) ? fuzz_damage_trace(r, bytes, other)
                                                  : fuzz_damage_source(r, bytes, other, MOST_BYTES);
}

/* Half of the inputs get right checksums, half of those right lengths too. */
static void run_damaged(uint64_t seed)
{
    struct fuzz_random r = {seed};
    const struct ml_buf *from = &run.seeds.items[fuzz_below(&r, run.seeds.len)];
    const struct ml_buf *other = &run.seeds.items[fuzz_below(&r, run.seeds.len)];
    struct ml_buf bytes = {0};
    int code = ml_buf_append(&bytes, from->data, from->len);

    if (!code)
        code = damage(&r, &bytes, other);
    if (code)
        die("damage", code);
    if (!run.plain && fuzz_below(&r, 2))
        fuzz_fix_sums(bytes.data, bytes.len, fuzz_below(&r, 2));
    run_one(&bytes);
    ml_buf_release(&bytes);
}

static void report(uint64_t mutations)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    printf("%zu files and %" PRIu64
           " damaged copies: no crash; slowest %.1f ms, peak memory %ld MiB\n",
           run.seeds.len, mutations, (double)run.slowest_ns / 1e6, usage.ru_maxrss / 1024);
}

static void tell_progress(uint64_t mutations)
{
    if (!run.progress_ns || now_ns() - run.told_ns < run.progress_ns)
        return;
    run.told_ns = now_ns();
    printf("so far ");
    report(mutations);
    if (fuzz_tell)
        fuzz_tell(false);
    fflush(stdout);
}

static void run_all(uint64_t mutations, uint64_t seed)
{
    run.told_ns = now_ns();
    for (size_t i = 0; i < run.seeds.len; i++)
        run_one(&run.seeds.items[i]);
    for (uint64_t i = 0; run.seeds.len && i < mutations; i++) {
        run_damaged(seed + i);
        tell_progress(i + 1);
    }
}

int main(int argc, char **argv)
{
    uint64_t mutations = 0, seed = 1;

    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--mutate") && i + 1 < argc)
            mutations = strtoull(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--seed") && i + 1 < argc)
            seed = strtoull(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--plain"))
            run.plain = true;
        else if (!strcmp(argv[i], "--structured"))
            run.structured = true;
        else if (!strcmp(argv[i], "--keep") && i + 1 < argc)
            run.keep = argv[++i];
        else if (!strcmp(argv[i], "--progress") && i + 1 < argc)
            run.progress_ns = strtoull(argv[++i], NULL, 10) * 1000000000u;
        else if (fuzz_take_option && i + 1 < argc && fuzz_take_option(argv[i], argv[i + 1]))
            i++;
        else
            add_path(argv[i]);
    }
    run_all(mutations, seed);
    report(mutations);
    if (fuzz_tell)
        fuzz_tell(true);
    for (size_t i = 0; i < run.seeds.len; i++)
        ml_buf_release(&run.seeds.items[i]);
    ml_vec_release(&run.seeds);
    return 0;
}
