/* torch_operators.h: PyTorch's operators as scopes, for `memledger run --ops`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TORCH_OPERATORS_H
#define ML_TORCH_OPERATORS_H

/* Makes every operator of PyTorch a scope on the thread that runs it. Costs about a microsecond
 * each. Precondition: PyTorch is loaded. Call it once. */
void ml_torch_operators_begin(void);

#endif
