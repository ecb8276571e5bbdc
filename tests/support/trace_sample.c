/* trace_sample.c: the small trace that tests know by heart.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "trace_sample.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io.h"
#include "trace_impl.h"

/* Values near each other and far apart, so that narrow and wide columns fill; all of them
 * are sizes that a block may have. */
static uint64_t value_of(uint32_t i, uint32_t field)
{
    uint64_t v = (uint64_t)i * 2654435761u + field * 40503u;

    return i % 7 == 3 ? v << 12 : v % 5000;
}

struct ml_event ml_sample_event(uint32_t i)
{
    struct ml_event ev = {
        .time_ns = (uint64_t)i * ML_SAMPLE_STEP_NS,
        .thread = i / 5 % 2,
        .space = i / 9 % 2,
        .scope = i / ML_SAMPLE_BLOCK_EVENTS + 1,
        .kind = (uint8_t)(1 + i % (ML_KIND_COUNT - 1)),
    };
    const struct ml_shape *shape = &ml_shapes[ev.kind];

    if (shape->bits & ML_HAS_ADDR)
        ev.addr = 0x7f0000001000 + 16 * value_of(i, 1);
    if (shape->bits & ML_HAS_SIZE)
        ev.size = value_of(i, 2);
    if (shape->bits & ML_HAS_STACK)
        ev.stack = i % 3;
    for (uint32_t a = 0; a < shape->args; a++)
        ev.args[a] = value_of(i, 3 + a);
    return ev;
}

static void define_names(struct ml_maker *m)
{
    uint32_t command = ml_maker_string(m, "python train.py");
    uint32_t device = ml_maker_string(m, "cuda:0");
    uint32_t name = ml_maker_bytes(m, "a\0b\xff", 4);

    ml_maker_setting(m, "version", "1.2.3");
    ml_maker_setting(m, "host", "first");
    ml_maker_setting(m, "host", "second");
    ml_maker_process(m, 4711, -1, command);
    ml_maker_process(m, 4712, 0, command);
    ml_maker_thread(m, 0, 4711, name);
    ml_maker_thread(m, 1, 4712, name);
    ml_maker_space(m, 0, device, 3, name);
    ml_maker_space(m, 1, device, 2, name);
    ml_maker_object(m, 0, 1, -1, name);
    ml_maker_object(m, 0, 2, 0, command);
}

/* Two native stacks that share their outermost frame, and a Python one. */
static void define_stacks(struct ml_maker *m)
{
    uint32_t program = ml_maker_library(m, 0, 0x400000, 0x500000, "/bin/train", "0123abcd");
    uint32_t cublas =
        ml_maker_library(m, 0, 0x7f0000000000, 0x7f0000100000, "/lib/libcublas.so", "");
    uint32_t outer = ml_maker_stack(m, 0, ml_maker_frame(m, program, 0x1234));
    uint32_t inner = ml_maker_frame(m, cublas, 0x77);

    ml_maker_stack(m, outer, inner);
    ml_maker_stack(m, outer, ml_maker_frame(m, -1, 0x7fffffff1000));
    ml_maker_stack(m, 3, ml_maker_python_frame(m, "forward", "model.py", 42));
    ml_maker_symbol(m, inner, "cublasCreate_v2");
}

static void add_blocks(struct ml_maker *m)
{
    uint32_t layer = ml_maker_string(m, "Layer");
    uint32_t scope = 0;

    for (uint32_t i = 0; i < ML_SAMPLE_EVENTS; i++) {
        struct ml_event ev = ml_sample_event(i);

        if (i % ML_SAMPLE_BLOCK_EVENTS == 0) {
            ml_maker_flush(m);
            scope = ml_maker_class_scope(m, scope, 1, ml_maker_string(m, "layer"), i ? layer : 0);
        }
        ml_maker_event(m, &ev);
    }
}

int ml_sample_make(const struct ml_maker_opts *opts, struct ml_buf *ret)
{
    struct ml_maker_opts own = opts ? *opts : (struct ml_maker_opts){0};
    int fd = memfd_create("sample", MFD_CLOEXEC);
    struct ml_maker *m;
    int code;

    if (fd < 0)
        return -errno;
    own.start_wall_ns = ML_SAMPLE_WALL_NS;
    own.block_events = ML_SAMPLE_BLOCK_EVENTS;
    m = ml_maker_on_fd(fd, &own);
    define_names(m);
    define_stacks(m);
    add_blocks(m);
    code = ml_maker_close(m);
    if (!code)
        code = ml_bytes_of_fd(fd, ret);
    close(fd);
    return code;
}

int ml_bytes_of_fd(int fd, struct ml_buf *ret)
{
    struct stat st;
    int code;

    if (fstat(fd, &st))
        return -errno;
    code = ml_buf_reserve(ret, (size_t)st.st_size);
    if (!code)
        code = ml_pread_all(fd, ret->data + ret->len, (size_t)st.st_size, 0);
    if (!code)
        ret->len += (size_t)st.st_size;
    return code;
}

int ml_bytes_open(const void *bytes, size_t len, bool salvage, struct ml_trace **ret,
                  struct ml_error *err)
{
    struct ml_trace_opts opts = {.salvage = salvage};
    int fd = memfd_create("sample.mled", MFD_CLOEXEC);
    int code;

    if (fd < 0)
        return ml_error_set(err, -errno, "no memory file");
    code = ml_write_all(fd, bytes, len);
    if (code) {
        close(fd);
        return ml_error_set(err, code, "no room in a memory file");
    }
    return ml_trace_open_fd(fd, "sample.mled", &opts, ret, err);
}
