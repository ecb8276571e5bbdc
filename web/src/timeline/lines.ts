/* Lines beside the bands: what allocators have reserved, and the figures of the driver or the system.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Plot } from '../api/types';

export interface Line {
  name: string;
  times_ns: number[];
  bytes: (number | null)[];
  isShownFirst: boolean;
}

/* The last value at or before each of `times`; null before the first one. */
export function resample(times: readonly number[], line: Pick<Line, 'times_ns' | 'bytes'>): (number | null)[] {
  let next = 0;

  return times.map((time) => {
    while (next < line.times_ns.length && (line.times_ns[next] as number) <= time) next++;
    return next > 0 ? (line.bytes[next - 1] ?? null) : null;
  });
}

/* Resident memory contains much that is no block, so that it would flatten the bands. */
export function linesOf(plot: Plot): Line[] {
  const isOfBands = (device: string) => plot.device === null || plot.device === device;
  const reserved = (plot.reserved ?? []).map(({ device, times_ns, reserved_bytes }) => ({
    name: `${device}: reserved by the allocator`, times_ns, bytes: reserved_bytes, isShownFirst: isOfBands(device),
  }));
  const sampled = plot.samples.map((curve) => ({
    name: curve.is_rss ? 'resident memory (RSS)' : `${curve.device}: in use, sampled`,
    times_ns: curve.times_ns,
    bytes: curve.used_bytes,
    isShownFirst: curve.is_rss ? plot.peak_bytes === 0 : isOfBands(curve.device),
  }));

  return [...reserved, ...sampled];
}
