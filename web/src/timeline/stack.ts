/* From the bands of a plot to areas on top of each other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Plot } from '../api/types';
import { categories, words } from '../theme/categories';

export interface Layer {
  band: number; // in plot.bands, and the number of ink and hatch
  name: string;
  tops: number[]; // bytes of this layer and all below it, at each moment
}

function allBands(plot: Plot): number[] {
  const count = plot.bands.length;

  if (plot.by === 'category')
    return categories.map(({ name }) => plot.bands.findIndex((band) => band.name === name)).filter((i) => i >= 0);
  // Memory without a module comes first in the list and last in the picture.
  if (plot.by === 'module') return plot.bands.map((_, i) => (i + 1) % count);
  return plot.bands.map((_, i) => i);
}

function bandName(plot: Plot, index: number): string {
  const band = plot.bands[index];

  if (band?.rest) return plot.by === 'category' ? 'other categories' : plot.by === 'process' ? 'other processes' : `other ${plot.by}s`;
  if (!band?.name) return `no ${plot.by}`;
  if (plot.by === 'process' && /^\d+ ?$/.test(band.name)) return `process ${band.name.trim()}`; // its command is unknown
  return plot.by === 'category' ? words(band.name) : band.name;
}

/* Bands that are not empty, from the bottom up. */
export function stackBands(plot: Plot): Layer[] {
  const layers: Layer[] = [];
  let below: number[] = plot.times_ns.map(() => 0);

  for (const band of allBands(plot)) {
    if (plot.bands[band]?.peak_bytes === 0) continue;
    const bytes = plot.bytes[band] ?? [];
    const tops = below.map((sum, i) => sum + (bytes[i] ?? 0));

    layers.push({ band, name: bandName(plot, band), tops });
    below = tops;
  }
  return layers;
}

/* The bytes of one layer at a moment. */
export function bytesAt(layers: readonly Layer[], level: number, moment: number): number {
  return (layers[level]?.tops[moment] ?? 0) - (layers[level - 1]?.tops[moment] ?? 0);
}
