/* float_text.h: a double as Python prints it: the fewest digits that read back to the
 * same number, always with a point or an exponent.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_FLOAT_TEXT_H
#define ML_BASE_FLOAT_TEXT_H

/* "64.0", "0.00423431396484375", "1e-07", "1e+16". The number must be finite.
 * @return buf */
const char *ml_format_python_float(char buf[32], double value);

#endif
