/* python_lines.h: the source line of an instruction.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PYTHON_LINES_H
#define ML_PYTHON_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "python_layout.h"

/* `table` is the code object's table, `instruction` counts bytes of its code.
 * @return 0: it belongs to no line, or the code has not begun */
uint32_t ml_python_line(enum ml_python_lines kind, const uint8_t *table, size_t size,
                        int32_t first_line, int32_t instruction);

#endif
