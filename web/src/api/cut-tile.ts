/* The part of a picture of blocks that was asked for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Tile } from './types';

/* Columns of equal duration that lie in the range. */
function cutColumns(columns: readonly number[], tile: Tile, from: number, to: number): number[] {
  const perNs = columns.length / Math.max(tile.to_ns - tile.from_ns, 1);
  return columns.slice(Math.floor((from - tile.from_ns) * perNs), Math.ceil((to - tile.from_ns) * perNs));
}

export function cutTile(tile: Tile, from: number, to: number): Tile {
  const { list } = tile;
  const [begin, end] = [Math.max(from, tile.from_ns), Math.min(to, tile.to_ns)];
  const inside = list.begin_ns.flatMap((b, i) => (b <= end && (list.end_ns[i] ?? 0) >= begin ? [i] : []));
  const cut = Object.fromEntries(Object.entries(list).map(([fact, values]) => [fact, inside.map((i) => values[i])])) as Tile['list'];

  return {
    ...tile, from_ns: begin, to_ns: end, list: cut,
    rest: { ...tile.rest, mean_bytes: cutColumns(tile.rest.mean_bytes, tile, begin, end) },
  };
}
