/* Draws blocks over time, with axes, and finds the one under the pointer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Tile } from '../api/types';
import { contains } from '../dom/sort';
import { formatCount } from '../format/bytes';
import { labelStride } from '../format/marks';
import { sizeTest } from '../format/size-search';
import { formatMoment } from '../format/time';
import { inks, isHatched, partCount, partInk } from '../theme/inks';
import { fitText } from '../theme/fit-text';
import type { Surface } from '../theme/surface';
import type { Range } from '../timeline/range';
import { countIncrements, timeIncrements } from '../timeline/ticks';
import { nameOf, type Box, type Layout } from './tile';

export interface View {
  tile: Tile;
  layout: Layout;
  range: Range;
  search: string;
  hasTimes: boolean;
  width: number; // of the whole picture, in CSS pixels
  height: number;
  em: number; // of its texts
  steps: readonly StepStart[];
}

export interface StepStart {
  step: number;
  begin_ns: number;
}

const hatchedPx = 10; // smaller boxes have plain ink
const namedPx = 40;
const leftEm = 9.8; // an address is that wide
const tickEm = 9; // at least between two times
const stepsEm = 1.5; // above the blocks
const [stepLabelEm, stepLineMinPx] = [3, 8]; // lines closer to each other are left out

interface Area {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

function areaOf(view: View): Area {
  return { left: leftEm * view.em, right: view.width - 4, top: stepsEm * view.em, bottom: view.height - 1.8 * view.em };
}

/* Zero is at the bottom. */
function scales(view: View) {
  const { left, right, top, bottom } = areaOf(view);
  const perNs = (right - left) / Math.max(view.range.to - view.range.from, 1);
  const perByte = (bottom - top) / view.layout.height;

  return {
    x: (ns: number) => Math.min(Math.max(left + (ns - view.range.from) * perNs, left), right),
    y: (bytes: number) => bottom - bytes * perByte,
    ns: (x: number) => view.range.from + (x - left) / perNs,
    bytes: (y: number) => (bottom - y) / perByte,
  };
}

/* A block is named by its label, else its module, else its line, else the function that requested it. */
export function blockName(tile: Tile, block: number): string {
  return nameOf(tile, 'label', block) || nameOf(tile, 'module', block) || nameOf(tile, 'line', block) || nameOf(tile, 'function', block);
}

/* "blocks.0.mlp" for "GPT > blocks.0.mlp" */
function lastName(name: string): string {
  return name.slice(name.lastIndexOf(' > ') + 1).replace(/^> /, '');
}

/* The ink of a block: of its category; of the function that requested it where all have one category. */
function partOf(tile: Tile, block: number): number {
  const category = tile.list.category[block] ?? 0;

  return isUniform(tile) ? 1 + ((tile.list.function[block] ?? 0) % (partCount - 1)) : category;
}

const uniform = new WeakMap<Tile, boolean>();

/* Whether all blocks are of the same category, as those of malloc are, and functions tell them apart. */
export function isUniform(tile: Tile): boolean {
  const known = uniform.get(tile) ?? (new Set(tile.list.category).size === 1 && new Set(tile.list.function).size > 1);

  uniform.set(tile, known);
  return known;
}

/* Whether the search finds a block. */
function finder(tile: Tile, search: string): (block: number) => boolean {
  const isWanted = sizeTest(search);

  if (isWanted) return (block) => isWanted(tile.list.bytes[block] ?? 0);
  if (search === '') return () => true;
  return (block) => (['label', 'module', 'line', 'function'] as const).some((fact) => contains(nameOf(tile, fact, block), search));
}

function drawTimes(surface: Surface, view: View): void {
  const { left, right, top, bottom } = areaOf(view);
  const { x } = scales(view);
  const wanted = ((view.range.to - view.range.from) * tickEm * view.em) / (right - left);
  const step = (view.hasTimes ? timeIncrements : countIncrements).find((increment) => increment >= wanted) ?? wanted;

  for (let ns = Math.ceil(view.range.from / step) * step; ns <= view.range.to; ns += step) {
    const text = view.hasTimes ? formatMoment(ns, step) : formatCount(ns);
    surface.line(x(ns), top, x(ns), bottom, inks.grid);
    if (x(ns) + 3 + surface.measure(text, view.em) <= right) surface.text(x(ns) + 3, bottom + view.em, text, { px: view.em, quiet: true });
  }
  surface.line(left, bottom, right, bottom, inks.axis);
}

/* Where steps begin, as in the timeline: a line, and a number where there is room. Lines without a number end below
 * the numbers. */
function drawSteps(surface: Surface, view: View): void {
  const { left, right, top, bottom } = areaOf(view);
  const { x } = scales(view);
  const shown = view.steps.filter(({ begin_ns: ns }) => ns >= view.range.from && ns <= view.range.to);
  const stepPx = (right - left) / Math.max(shown.length, 1);
  const stride = labelStride(stepPx, stepLabelEm * view.em);
  let [free, line] = [left, -Infinity];

  for (const [i, { step, begin_ns: ns }] of shown.entries()) {
    const text = i === 0 ? `step ${step}` : String(step);
    const width = surface.measure(text, view.em);
    const isNamed = (i === 0 || step % stride === 0) && x(ns) + 3 >= free && x(ns) + 3 + width <= right;

    if (isNamed || x(ns) - line >= stepLineMinPx) {
      surface.setAlpha(0.55);
      surface.path([[x(ns), isNamed ? 0 : top], [x(ns), bottom]], inks.axis, [2, 3]);
      surface.setAlpha(1);
      line = x(ns);
    }
    if (!isNamed) continue;
    surface.text(x(ns) + 3, 0.7 * view.em, text, { px: view.em, quiet: true });
    free = x(ns) + width + 6;
  }
}

/* Names beside the axis, none over another. */
function drawMarks(surface: Surface, view: View): void {
  const { left, right, bottom } = areaOf(view);
  const { y } = scales(view);
  let free = Infinity;

  for (const mark of view.layout.marks) {
    const at = Math.min(y(mark.y), bottom - 0.3 * view.em);

    if (at > free - 1.1 * view.em || at < 0.5 * view.em) continue;
    free = at;
    surface.line(left, y(mark.y), right, y(mark.y), inks.grid);
    const text = fitText(surface, mark.text, 0.9 * view.em, left - 8);
    surface.text(left - 6 - surface.measure(text, 0.9 * view.em), at, text, { px: 0.9 * view.em, quiet: true });
  }
}

interface Pen {
  surface: Surface;
  view: View;
  scales: ReturnType<typeof scales>;
  isFound: (block: number) => boolean;
}

function drawBox({ surface, view, scales: { x, y }, isFound }: Pen, box: Box): void {
  const [left, top] = [x(box.from), y(box.y + box.height)];
  const [width, height] = [Math.max(x(box.to) - left, 0.7), Math.max(y(box.y) - top, 0.4)];
  const part = partOf(view.tile, box.block);
  const isLarge = width > hatchedPx && height > hatchedPx;

  if (box.to < view.range.from || box.from > view.range.to) return;
  surface.setAlpha(isFound(box.block) ? 1 : 0.15);
  surface.rect(left, top, Math.max(width - (width > 4 ? 0.7 : 0), 0.5), Math.max(height - (height > 3 ? 0.7 : 0), 0.4), isLarge ? part : partInk(part));
  if (width < namedPx || height < 1.1 * view.em) return;
  const text = fitText(surface, lastName(blockName(view.tile, box.block)), 0.9 * view.em, width - 6);
  surface.text(left + 3, top + height / 2, text, { px: 0.9 * view.em, halo: isLarge && isHatched(part) });
}

/* The merged blocks above the others, column by column. */
function drawRest(surface: Surface, view: View): void {
  const { tile, layout } = view;
  const { x, y } = scales(view);
  const columnNs = (tile.to_ns - tile.from_ns) / Math.max(tile.rest.mean_bytes.length, 1);
  let next = 0;
  let base = 0;

  if (layout.edge.length === 0) return;
  for (const [column, bytes] of tile.rest.mean_bytes.entries()) {
    const from = tile.from_ns + column * columnNs;
    while (next < layout.edge.length && (layout.edge[next]?.time ?? 0) <= from) base = layout.edge[next++]?.y ?? 0;
    const [left, right] = [Math.floor(x(from)), Math.ceil(x(from + columnNs))]; // whole pixels leave no seams
    if (bytes > 0) surface.rect(left, y(base + bytes), right - left, y(base) - y(base + bytes), inks.shade);
  }
}

export function drawBlocks(surface: Surface, view: View): void {
  drawMarks(surface, view);
  drawTimes(surface, view);
  drawRest(surface, view);
  const pen: Pen = { surface, view, scales: scales(view), isFound: finder(view.tile, view.search) };
  for (const box of view.layout.boxes) drawBox(pen, box);
  surface.setAlpha(1);
  drawSteps(surface, view);
}

/* Around all boxes of a block. */
export function frameBlock(surface: Surface, view: View, block: number): void {
  const { x, y } = scales(view);

  for (const box of view.layout.boxes)
    if (box.block === block && box.to >= view.range.from && box.from <= view.range.to)
      surface.frame(x(box.from), y(box.y + box.height), Math.max(x(box.to) - x(box.from), 2), Math.max(y(box.y) - y(box.y + box.height), 2));
}

export function timeAt(view: View, x: number): number {
  return Math.round(Math.min(Math.max(scales(view).ns(x), view.range.from), view.range.to));
}

/* @return a block, or -1 */
export function blockAt(view: View, x: number, y: number): number {
  const { ns, bytes } = scales(view);
  const [time, place] = [ns(x), bytes(y)];
  const slackNs = ns(x + 1) - time;
  const slackBytes = bytes(y - 1) - place;
  const found = view.layout.boxes.find(
    (box) => time >= box.from - slackNs && time <= box.to + slackNs && place >= box.y - slackBytes && place < box.y + box.height + slackBytes,
  );
  return found?.block ?? -1;
}
