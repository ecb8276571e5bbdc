/* unwind_shapes.h: functions whose frames have every shape that compilers give them.
 *
 * unwind_shapes.c is compiled several times, with other options each.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_UNWIND_SHAPES_H
#define ML_UNWIND_SHAPES_H

typedef void shape_leaf(void);

/* Each calls the leaf, in the end, from inside frames of one shape, and returns a number so that
 * no call is the last thing it does. */
struct shapes {
    const char *options;
    int (*deep)(shape_leaf *leaf, int depth);
    int (*on_stack)(shape_leaf *leaf, int bytes); /* alloca */
    int (*aligned)(shape_leaf *leaf, int bytes);  /* aligned locals beside an alloca */
    int (*variadic)(shape_leaf *leaf, int n, ...);
    int (*many_arguments)(shape_leaf *leaf, int a, int b, int c, int d, int e, int f, int g, int h);
    int (*through_libc)(shape_leaf *leaf); /* qsort calls back */
    int (*large)(shape_leaf *leaf);        /* a frame of many pages */
};

extern const struct shapes shapes_o0, shapes_o1, shapes_o2, shapes_o2_fp, shapes_o3, shapes_os;

/* C++: the leaf is called in a handler, and by a destructor while an exception passes. */
#ifdef __cplusplus
extern "C"
#endif
    int
    shape_throws(shape_leaf *leaf, int depth);

#endif
