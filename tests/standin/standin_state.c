/* SPDX-License-Identifier: Apache-2.0 */
#include "standin_state.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define SLOTS 256
#define CLAIMED (-1) /* a pid that nobody has: the slot is being made ready */

struct slot {
    atomic_int pid;
    atomic_ullong started; /* with the pid, tells a process from its successor */
    atomic_llong bytes[STANDIN_DEVICES_MAX];
    atomic_llong hidden[STANDIN_DEVICES_MAX];
};

static struct slot *slots;
static struct slot *own;
static pthread_mutex_t map_lock = PTHREAD_MUTEX_INITIALIZER;

static long from_environment(const char *name, long otherwise, long most)
{
    const char *text = getenv(name);
    if (!text || !*text)
        return otherwise;
    long value = atol(text);
    return value < 0 ? 0 : value > most ? most : value;
}

int standin_device_count(void)
{
    return (int)from_environment("STANDIN_DEVICES", 2, STANDIN_DEVICES_MAX);
}

uint64_t standin_total_bytes(void)
{
    return (uint64_t)from_environment("STANDIN_TOTAL_MIB", 16384, 1 << 24) * STANDIN_MIB;
}

void standin_uuid(int device, unsigned char ret_uuid[16])
{
    for (int i = 0; i < 16; i++)
        ret_uuid[i] = (unsigned char)(0xa0 + 5 * i);
    ret_uuid[0] = (unsigned char)(0x10 + device);
}

void standin_uuid_text(int device, char ret_text[STANDIN_UUID_TEXT])
{
    unsigned char uuid[16];
    standin_uuid(device, uuid);
    strcpy(ret_text, "GPU-");
    for (int i = 0; i < 16; i++) {
        bool dash = i == 4 || i == 6 || i == 8 || i == 10;
        sprintf(ret_text + strlen(ret_text), "%s%02x", dash ? "-" : "", uuid[i]);
    }
}

int standin_pci_bus(int device)
{
    return 6 + device;
}

/* Whether a process runs, and when it began. */
static bool look_up_process(int pid, unsigned long long *ret_started)
{
    char path[32], line[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t len = read(fd, line, sizeof line - 1);
    close(fd);
    if (len <= 0)
        return false;
    line[len] = 0;
    /* The name may hold anything, so the fields are counted from its end. */
    const char *field = strrchr(line, ')');
    char state;
    return field &&
           sscanf(
               field + 1,
               " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
               &state, ret_started) == 2 &&
           state != 'Z' && state != 'X';
}

static bool lives(const struct slot *slot)
{
    int pid = atomic_load(&slot->pid);
    unsigned long long started;
    if (pid == 0 || pid == CLAIMED)
        return false;
    return slot == own ||
           (look_up_process(pid, &started) && started == atomic_load(&slot->started));
}

static int open_file(const char *suffix, int flags)
{
    char path[4096];
    const char *name = getenv("STANDIN_STATE");
    const char *folder = getenv("TMPDIR");
    if (name && *name)
        snprintf(path, sizeof path, "%s%s", name, suffix);
    else
        snprintf(path, sizeof path, "%s/standin-cuda.%u%s", folder && *folder ? folder : "/tmp",
                 (unsigned)getuid(), suffix);
    return open(path, flags | O_CREAT | O_CLOEXEC, 0600);
}

void standin_state_note(const char *suffix)
{
    int fd = open_file(suffix, O_WRONLY | O_APPEND);
    if (fd < 0 || dprintf(fd, "%d\n", (int)getpid()) < 0) {
        perror("stand-in for CUDA: cannot write beside its state; set STANDIN_STATE to a file");
        _exit(70);
    }
    close(fd);
}

static void map_file(void)
{
    pthread_mutex_lock(&map_lock);
    if (!slots) {
        size_t len = SLOTS * sizeof(struct slot);
        int fd = open_file("", O_RDWR);
        void *at = MAP_FAILED;
        if (fd >= 0 && ftruncate(fd, (off_t)len) == 0)
            at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (fd >= 0)
            close(fd);
        if (at == MAP_FAILED) {
            perror("stand-in for CUDA: cannot open its state; set STANDIN_STATE to a file");
            _exit(70);
        }
        slots = at;
    }
    pthread_mutex_unlock(&map_lock);
}

static struct slot *claim_slot(int pid)
{
    for (int i = 0; i < SLOTS; i++) {
        struct slot *slot = &slots[i];
        int found = atomic_load(&slot->pid);
        if (found == CLAIMED || lives(slot) ||
            !atomic_compare_exchange_strong(&slot->pid, &found, CLAIMED))
            continue;
        unsigned long long started = 0;
        look_up_process(pid, &started);
        for (int device = 0; device < STANDIN_DEVICES_MAX; device++) {
            atomic_store(&slot->bytes[device], 0);
            atomic_store(&slot->hidden[device], 0);
        }
        atomic_store(&slot->started, started);
        atomic_store(&slot->pid, pid);
        return slot;
    }
    fprintf(stderr, "stand-in for CUDA: more than %d processes\n", SLOTS);
    _exit(70);
}

void standin_state_charge(int device, int64_t bytes, int64_t hidden)
{
    map_file();
    int pid = getpid();
    pthread_mutex_lock(&map_lock);
    if (!own || atomic_load(&own->pid) != pid) /* a child of fork has its parent's */
        own = claim_slot(pid);
    pthread_mutex_unlock(&map_lock);
    atomic_fetch_add(&own->bytes[device], bytes);
    atomic_fetch_add(&own->hidden[device], hidden);
}

void standin_state_fade(int device, unsigned ms)
{
    standin_state_charge(device, 0, 0); /* it has a slot */
    for (; ms > 0; ms--) {
        atomic_fetch_sub(&own->bytes[device], atomic_load(&own->bytes[device]) / ms);
        atomic_fetch_sub(&own->hidden[device], atomic_load(&own->hidden[device]) / ms);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

uint64_t standin_state_used(int device)
{
    int64_t sum = 0;
    map_file();
    for (int i = 0; i < SLOTS; i++) {
        int64_t bytes =
            atomic_load(&slots[i].bytes[device]) + atomic_load(&slots[i].hidden[device]);
        if (bytes && lives(&slots[i]))
            sum += bytes;
    }
    return (uint64_t)sum;
}

uint64_t standin_state_free(int device)
{
    uint64_t gone = STANDIN_RESERVED_BYTES + standin_state_used(device);
    return gone < standin_total_bytes() ? standin_total_bytes() - gone : 0;
}

unsigned standin_state_processes(int device, struct standin_process *list, unsigned room)
{
    unsigned n = 0;
    map_file();
    for (int i = 0; i < SLOTS; i++) {
        int64_t bytes = atomic_load(&slots[i].bytes[device]);
        if (bytes <= 0 || !lives(&slots[i]))
            continue;
        if (n < room)
            list[n] = (struct standin_process){atomic_load(&slots[i].pid), (uint64_t)bytes};
        n++;
    }
    return n;
}
