/* The largest blocks of a picture as a table: for screen readers, and to sort them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Tile } from '../api/types';
import { bytesColumn, textColumn, type Column } from '../dom/columns';
import { h } from '../dom/element';
import { DataTable } from '../dom/table';
import { words } from '../theme/categories';
import { blockName } from './picture';
import { blockCount, nameOf } from './tile';

const listed = 100;

export function largestOf({ list }: Tile, count: number): number[] {
  return [...list.bytes.keys()].sort((a, b) => (list.bytes[b] ?? 0) - (list.bytes[a] ?? 0) || a - b).slice(0, count);
}

/* A block without a name is called by its category. */
function titleOf(tile: Tile, block: number): string {
  return blockName(tile, block) || words(tile.categories[tile.list.category[block] ?? 0] ?? 'other');
}

function columnsOf(tile: Tile, momentText: (ns: number) => string): Column<number>[] {
  const { bytes, begin_ns, end_ns, freed, category } = tile.list;
  const moment = (title: string, get: (block: number) => number | null): Column<number> => ({
    title, numeric: true, value: get, text: (block) => (get(block) === null ? 'not freed' : momentText(get(block) ?? 0)),
  });

  return [
    textColumn('block', (block) => titleOf(tile, block)),
    bytesColumn('size', (block) => bytes[block] ?? 0),
    textColumn('category', (block) => words(tile.categories[category[block] ?? 0] ?? 'other')),
    moment('allocated', (block) => begin_ns[block] ?? 0),
    moment('freed', (block) => (freed[block] ? (end_ns[block] ?? 0) : null)),
    textColumn('module', (block) => nameOf(tile, 'module', block)),
    textColumn('line', (block) => nameOf(tile, 'line', block)),
    textColumn('function', (block) => nameOf(tile, 'function', block)),
  ];
}

/* Made when it is opened: few need it. */
export function largestBlocks(tile: Tile, momentText: (ns: number) => string, choose: (block: number) => void): HTMLElement {
  const count = Math.min(listed, blockCount(tile));
  const details = h('details', { class: 'largest' }, h('summary', {}, `The ${count} largest blocks of this picture as a table`));

  details.addEventListener('toggle', () => {
    if (!details.open || details.querySelector('table')) return;
    const table = new DataTable<number>({
      caption: 'A click shows the block', columns: columnsOf(tile, momentText), rows: largestOf(tile, listed),
      action: { label: (block) => `Show ${titleOf(tile, block)}`, run: choose },
    });
    details.append(table.element);
  });
  return details;
}
