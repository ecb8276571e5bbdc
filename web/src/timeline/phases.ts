/* Phases of a run, from the marks where they begin.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Mark } from '../api/types';

export interface PhaseSpan {
  name: string;
  from: number;
  to: number;
}

/* A phase lasts until the next begins; a mark without a name ends it. */
export function phaseSpans(marks: readonly Mark[], endNs: number): PhaseSpan[] {
  const phases = marks.filter((mark) => mark.kind === 'phase');

  return phases
    .map((mark, i) => ({ name: mark.name ?? '', from: mark.time_ns, to: phases[i + 1]?.time_ns ?? endNs }))
    .filter((span) => span.name !== '');
}

/* Steps to label, so that labels of `labelPx` do not overlap: every 1st, 2nd, 5th, 10th, … */
export function labelStride(stepPx: number, labelPx: number): number {
  for (let power = 1; power < 1e9; power *= 10)
    for (const stride of [power, 2 * power, 5 * power]) if (stride * stepPx >= labelPx) return stride;
  return 1e9;
}
