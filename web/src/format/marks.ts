/* Round numbers beside the axes of pictures.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { formatBytes } from './bytes';

export interface ByteMark {
  y: number; // bytes
  text: string;
}

/* About five round sizes from 0 up. */
export function byteMarks(most: number): ByteMark[] {
  const power = 2 ** Math.floor(Math.log2(Math.max(most, 1) / 4));
  const marks: ByteMark[] = [];

  for (let y = 0; y <= most; y += power) marks.push({ y, text: formatBytes(y) });
  return marks;
}

/* Steps to label, so that labels of `labelPx` do not overlap: every 1st, 2nd, 5th, 10th, … */
export function labelStride(stepPx: number, labelPx: number): number {
  for (let power = 1; power < 1e9; power *= 10)
    for (const stride of [power, 2 * power, 5 * power]) if (stride * stepPx >= labelPx) return stride;
  return 1e9;
}
