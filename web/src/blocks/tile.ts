/* The blocks of a picture: `memledger blocks --json --width`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Tile } from '../api/types';
import { toCsv } from '../format/csv';

export function blockCount(tile: Tile): number {
  return tile.list.address.length;
}

/* @return '' for none */
export function nameOf(tile: Tile, fact: 'device' | 'label' | 'module' | 'line' | 'function', block: number): string {
  return tile.names[tile.list[fact][block] ?? -1] ?? '';
}

/* The listed blocks, one row each. */
export function tileCsv(tile: Tile): string {
  const { list } = tile;
  const titles = ['address', 'bytes', 'begin_ns', 'end_ns', 'freed', 'pid', 'device', 'category', 'label', 'module', 'line', 'function'];
  const rows = list.address.map((address, i) => [
    `0x${address.toString(16)}`, list.bytes[i] ?? 0, list.begin_ns[i] ?? 0, list.end_ns[i] ?? 0, list.freed[i] ?? 0, list.pid[i] ?? 0,
    nameOf(tile, 'device', i), tile.categories[list.category[i] ?? 0] ?? '', nameOf(tile, 'label', i), nameOf(tile, 'module', i), nameOf(tile, 'line', i), nameOf(tile, 'function', i),
  ]);
  return toCsv(titles, rows);
}

/* Where a block is drawn for a while. x in ns, y and height in bytes of the layout. */
export interface Box {
  block: number;
  from: number;
  to: number;
  y: number;
  height: number;
}

export interface Layout {
  boxes: Box[];
  height: number; // of everything
  marks: { y: number; text: string }[]; // beside the axis
  edge: { time: number; y: number }[]; // where the boxes end, from each time on; empty: nowhere
}
