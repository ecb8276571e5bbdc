/* The timeline as a picture for a file: bands, sampled lines, axes, steps and a legend.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Plot } from '../api/types';
import type { Picture } from '../dom/save';
import { formatBytes, formatCount } from '../format/bytes';
import { formatMoment } from '../format/time';
import { inks } from '../theme/inks';
import { fitText } from '../theme/fit-text';
import type { Point, Surface } from '../theme/surface';
import type { ChartContent } from './chart';
import { resample } from './lines';
import type { Layer } from './stack';
import { byteIncrements, countIncrements, timeIncrements } from './ticks';

const size = { width: 1200, height: 500 };
const area = { left: 90, right: 930, top: 30, bottom: 460 };
const px = 13;
const dashes: readonly (readonly number[])[] = [[6, 3], [2, 2.5], [10, 3, 2, 3]];

interface Scale {
  x: (ns: number) => number;
  y: (bytes: number) => number;
  highest: number;
}

function scaleOf({ plot, layers, lines, shown }: ChartContent): Scale {
  const tops = layers.at(-1)?.tops ?? [];
  const sampled = shown.flatMap((i) => lines[i]?.bytes ?? []);
  const highest = [...tops, ...sampled].reduce<number>((most, bytes) => Math.max(most, bytes ?? 0), 1024) * 1.05;
  const perNs = (area.right - area.left) / Math.max(plot.to_ns - plot.from_ns, 1);

  return {
    x: (ns) => Math.min(Math.max(area.left + (ns - plot.from_ns) * perNs, area.left), area.right),
    y: (bytes) => area.bottom - (bytes * (area.bottom - area.top)) / highest,
    highest,
  };
}

/* Each value holds until the next. */
function stairs(plot: Plot, bytes: readonly (number | null)[], { x, y }: Scale): Point[] {
  return plot.times_ns.flatMap((time, i) => {
    const [at, next] = [y(bytes[i] ?? 0), x(plot.times_ns[i + 1] ?? plot.to_ns)];
    return [[x(time), at], [next, at]] as Point[];
  });
}

/* The highest layer first, down to the axis; lower ones over it. */
function drawLayers(surface: Surface, plot: Plot, layers: readonly Layer[], scale: Scale): void {
  for (const layer of [...layers].reverse()) {
    const edge = stairs(plot, layer.tops, scale);
    const [first, last] = [edge[0], edge.at(-1)];
    if (first && last) surface.area([[first[0], area.bottom], ...edge, [last[0], area.bottom]], layer.band);
  }
}

function drawAxes(surface: Surface, plot: Plot, scale: Scale): void {
  const wantedNs = ((plot.to_ns - plot.from_ns) * 110) / (area.right - area.left);
  const stepNs = (plot.has_times ? timeIncrements : countIncrements).find((step) => step >= wantedNs) ?? wantedNs;
  const stepBytes = byteIncrements.find((step) => step >= scale.highest / 8) ?? scale.highest;

  for (let ns = Math.ceil(plot.from_ns / stepNs) * stepNs; ns <= plot.to_ns; ns += stepNs) {
    surface.line(scale.x(ns), area.bottom, scale.x(ns), area.bottom + 5, inks.axis);
    surface.text(scale.x(ns) + 3, area.bottom + 14, plot.has_times ? formatMoment(ns, stepNs) : formatCount(ns), { px, quiet: true });
  }
  for (let bytes = 0; bytes < scale.highest; bytes += stepBytes) {
    surface.line(area.left - 4, scale.y(bytes), area.right, scale.y(bytes), inks.grid);
    surface.text(4, scale.y(bytes), formatBytes(bytes), { px, quiet: true });
  }
}

function drawSteps(surface: Surface, plot: Plot, scale: Scale): void {
  let free = area.left;

  for (const mark of plot.marks.filter(({ kind, time_ns: time }) => kind === 'step' && time >= plot.from_ns && time <= plot.to_ns)) {
    const x = scale.x(mark.time_ns);
    if (x < free) continue;
    free = x + 60;
    surface.line(x, area.top - 14, x, area.bottom, inks.grid);
    surface.text(x + 3, area.top - 12, `step ${mark.number ?? ''}`, { px, quiet: true });
  }
}

function drawLegend(surface: Surface, { plot, layers, lines, shown }: ChartContent): void {
  const left = area.right + 16;
  const room = size.width - left - 24;

  for (const [i, layer] of [...layers].reverse().entries()) {
    const y = area.top + 20 * i;
    surface.rect(left, y - 7, 14, 14, layer.band);
    surface.text(left + 20, y, fitText(surface, `${layer.name} ${formatBytes(plot.bands[layer.band]?.peak_bytes ?? 0)}`, px, room), { px });
  }
  for (const [i, index] of shown.entries()) {
    const line = lines[index];
    const y = area.top + 20 * (layers.length + i);
    surface.path([[left, y], [left + 14, y]], inks.text, dashes[i % 3] ?? []);
    if (line) surface.text(left + 20, y, fitText(surface, line.name, px, room), { px });
  }
}

export function timelinePicture(content: ChartContent): Picture {
  const draw = (surface: Surface) => {
    const { plot, layers, lines, shown } = content;
    const scale = scaleOf(content);

    drawAxes(surface, plot, scale);
    drawSteps(surface, plot, scale);
    drawLayers(surface, plot, layers, scale);
    for (const [i, index] of shown.entries()) {
      const line = lines[index];
      if (line) surface.path(stairs(plot, resample(plot.times_ns, line), scale), inks.text, dashes[i % 3] ?? []);
    }
    drawLegend(surface, content);
  };
  return { name: 'timeline', size: () => size, draw };
}
