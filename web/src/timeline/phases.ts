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
