/* From block to block by keyboard: later and earlier ones by their allocation, and those above and
 * below in the picture.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Range } from '../timeline/range';
import type { Box, Layout } from './tile';

export type Direction = 'earlier' | 'later' | 'above' | 'below';

export interface Place {
  block: number;
  time: number; // at which the picture is read upwards
}

function isVisible(box: Box, { from, to }: Range): boolean {
  return box.to >= from && box.from <= to;
}

/* The first box of each visible block, by allocation. */
function inOrder({ boxes }: Layout, range: Range): Box[] {
  const first = new Map<number, Box>();

  for (const box of boxes) {
    const known = first.get(box.block);
    if (isVisible(box, range) && (!known || box.from < known.from)) first.set(box.block, box);
  }
  return [...first.values()].sort((a, b) => a.from - b.from || a.y - b.y);
}

/* The boxes at a time, from the bottom up. */
function columnAt({ boxes }: Layout, time: number): Box[] {
  return boxes.filter((box) => box.from <= time && time <= box.to).sort((a, b) => a.y - b.y);
}

function placeOf(box: Box | undefined, range: Range): Place | null {
  return box ? { block: box.block, time: Math.min(Math.max((box.from + box.to) / 2, range.from), range.to) } : null;
}

/* Without a place, the first step leads to the first block, or to the lowest in the middle.
 * @return null: there is no block that way */
export function step(layout: Layout, range: Range, from: Place | null, direction: Direction): Place | null {
  const isForward = direction === 'later' || direction === 'above';
  const isInTime = direction === 'later' || direction === 'earlier';
  const time = from?.time ?? (range.from + range.to) / 2;
  const boxes = isInTime ? inOrder(layout, range) : columnAt(layout, time);
  const at = from ? boxes.findIndex(({ block }) => block === from.block) : -1;

  if (at < 0) return placeOf(boxes[isForward ? 0 : boxes.length - 1], range);
  const next = boxes[at + (isForward ? 1 : -1)];
  if (!next) return null;
  return isInTime ? placeOf(next, range) : { block: next.block, time };
}
