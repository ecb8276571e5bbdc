/* The bands of a timeline as comma-separated values.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { toCsv } from '../format/csv';
import type { Plot } from '../api/types';
import type { Layer } from './stack';

export function bandsCsv(plot: Plot, layers: readonly Layer[]): string {
  const titles = ['time_ns', ...layers.map((layer) => layer.name)];
  const rows = plot.times_ns.map((time, i) => [time, ...layers.map((layer) => plot.bytes[layer.band]?.[i] ?? 0)]);

  return toCsv(titles, rows);
}
