/* Lifetimes on top of each other, in the order of allocation: a free lets the blocks above sink. The
 * upper edge is the live memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Tile } from '../api/types';
import { byteMarks } from '../format/marks';
import { blockCount, type Box, type Layout } from './tile';

interface Change {
  time: number;
  block: number;
  isFree: boolean;
}

/* A free comes before an allocation at the same time: the memory may be the same. A block that was freed at the
 * time of its allocation takes no place. */
function changesOf(tile: Tile): Change[] {
  const changes: Change[] = [];

  for (let block = 0; block < blockCount(tile); block++) {
    const [begin, end] = [Math.max(tile.list.begin_ns[block] as number, tile.from_ns), tile.list.end_ns[block] as number];
    const isFreed = end < tile.to_ns || (tile.list.freed[block] === 1 && end === tile.to_ns);

    if (isFreed && end <= begin) continue;
    changes.push({ time: begin, block, isFree: false });
    if (isFreed) changes.push({ time: end, block, isFree: true });
  }
  return changes.sort((a, b) => a.time - b.time || Number(b.isFree) - Number(a.isFree) || a.block - b.block);
}

/* The number of changes up to the highest moment of a column. */
function untilHighest(changes: readonly Change[], bytes: readonly number[]): number {
  let [total, highest, count] = [0, 0, 0];

  for (const [i, change] of changes.entries()) {
    total += (change.isFree ? -1 : 1) * (bytes[change.block] as number);
    if (total >= highest) [highest, count] = [total, i + 1];
  }
  return count;
}

class Stack {
  readonly boxes: Box[] = [];
  readonly edge: Layout['edge'] = [];
  private readonly live = new Map<number, Box>(); // in the order of allocation

  constructor(private readonly bytes: readonly number[]) {}

  apply(changes: readonly Change[], time: number): void {
    for (const { block, isFree } of changes) {
      if (isFree) this.free(block, time);
      else this.live.set(block, { block, from: time, to: time, y: -1, height: this.bytes[block] as number });
    }
  }

  /* Blocks that sank begin a new box. */
  settle(time: number): void {
    let y = 0;

    for (const [block, box] of this.live) {
      if (box.y >= 0 && box.y !== y) {
        this.boxes.push({ ...box, to: time });
        this.live.set(block, { ...box, from: time, y });
      } else {
        box.y = y;
      }
      y += box.height;
    }
    this.edge.push({ time, y });
  }

  end(time: number): void {
    for (const block of [...this.live.keys()]) this.free(block, time);
  }

  private free(block: number, time: number): void {
    const box = this.live.get(block);

    this.live.delete(block);
    if (box && box.y >= 0) this.boxes.push({ ...box, to: time });
  }
}

/* @columns  of the picture: each shows its highest moment */
export function stackedLayout(tile: Tile, columns: number): Layout {
  const changes = changesOf(tile);
  const columnNs = Math.max((tile.to_ns - tile.from_ns) / columns, 1);
  const stack = new Stack(tile.list.bytes);
  let next = 0;

  for (let column = 0; column < columns && next < changes.length; column++) {
    const [from, to] = [tile.from_ns + column * columnNs, tile.from_ns + (column + 1) * columnNs];
    const first = next;
    const isLast = column === columns - 1;

    while (next < changes.length && (isLast || (changes[next] as Change).time < to)) next++;
    if (next === first) continue;
    const inside = changes.slice(first, next);
    const highest = untilHighest(inside, tile.list.bytes);
    stack.apply(inside.slice(0, highest), from);
    stack.settle(from);
    stack.apply(inside.slice(highest), to);
    stack.settle(to);
  }
  stack.end(tile.to_ns);
  const height = stack.edge.reduce((most, { y }) => Math.max(most, y), 1) + restHeight(tile);
  return { boxes: stack.boxes, height, marks: byteMarks(height), edge: stack.edge };
}

/* The merged blocks are drawn above the others. */
function restHeight(tile: Tile): number {
  return tile.rest.mean_bytes.reduce((most, bytes) => Math.max(most, bytes), 0);
}
