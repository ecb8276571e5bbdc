/* standin_state.h: the state of the stand-in's devices, shared by its two libraries and by all
 * processes that name the same file.
 *
 * The file (STANDIN_STATE) has one slot for each process, written by that process
 * alone, so there is nothing to lock and nothing to repair after a SIGKILL: a slot
 * counts while its process lives. Devices are numbered as NVML numbers them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STANDIN_STATE_H
#define STANDIN_STATE_H

#include <stdint.h>

#define STANDIN_DEVICES_MAX 16
#define STANDIN_MIB ((uint64_t)1 << 20)

/* Set aside on each device before any process comes, as on an H200. */
#define STANDIN_RESERVED_BYTES ((uint64_t)644939776)

struct standin_process {
    int pid;
    uint64_t bytes;
};

/* From STANDIN_DEVICES and STANDIN_TOTAL_MIB. The total includes what is reserved. */
int standin_device_count(void);
uint64_t standin_total_bytes(void);

/* Appends a line with this process's number to the file named as the state, with `suffix`: a fact
 * that tests wait for, or count. */
void standin_state_note(const char *suffix);

/* Sixteen bytes, different on each device. */
void standin_uuid(int device, unsigned char ret_uuid[16]);

/* The same as NVML writes it. */
#define STANDIN_UUID_TEXT 41
void standin_uuid_text(int device, char ret_text[STANDIN_UUID_TEXT]);

/* The number in the middle of the PCI address. */
int standin_pci_bus(int device);

/* Charge this process, or give back what is negative. `hidden`: part of the
 * device's sum but not of the process's own number; the real driver has such. */
void standin_state_charge(int device, int64_t bytes, int64_t hidden);

/* Give back all that this process has, a little at a time, as the driver does for one that
 * is killed. Exported by libcuda.so.1 as standin_fade. */
void standin_state_fade(int device, unsigned ms);

/* What all living processes hold, without what is reserved. */
uint64_t standin_state_used(int device);

/* What is left of a device. */
uint64_t standin_state_free(int device);

/* The living processes that hold something.
 * @return how many there are; at most `room` were written */
unsigned standin_state_processes(int device, struct standin_process *list, unsigned room);

#endif
