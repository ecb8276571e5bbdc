/* The figures of the driver, or of the system, beside the bands.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { SampleCurve } from '../api/types';

/* The last value at or before each of `times`; null before the first sample. */
export function resample(times: readonly number[], curve: Pick<SampleCurve, 'times_ns' | 'used_bytes'>): (number | null)[] {
  let next = 0;

  return times.map((time) => {
    while (next < curve.times_ns.length && (curve.times_ns[next] as number) <= time) next++;
    return next > 0 ? (curve.used_bytes[next - 1] ?? null) : null;
  });
}

export function sampleName(curve: Pick<SampleCurve, 'device' | 'is_rss'>): string {
  return curve.is_rss ? 'resident memory of the processes' : `${curve.device}: in use, sampled`;
}
