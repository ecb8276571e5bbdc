/* Layout of an icicle: a module is as wide as its memory, its submodules and its own categories hang
 * below it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Tree } from '../api/types';
import { categories, words } from '../theme/categories';
import type { ModuleNode } from './modules';

export interface Cell {
  name: string;
  detail: string; // the whole path
  bytes: number;
  category: string | null; // null: a module
  level: number; // from 0, the whole
  left: number; // shares of the width
  width: number;
  parent: number; // index of the cell above; -1: none
}

interface Layout {
  cells: Cell[];
  total: number;
  minWidth: number; // narrower cells are left out
}

function addOwn(layout: Layout, node: ModuleNode, parent: number, left: number): void {
  const above = layout.cells[parent] as Cell;
  let at = left;

  for (const { name } of categories) {
    const bytes = node.row.own_by_category[name] ?? 0;
    const width = bytes / layout.total;

    if (bytes > 0 && width >= layout.minWidth) {
      const detail = `${above.detail}, ${words(name)}`;
      layout.cells.push({ name: words(name), detail, bytes, category: name, level: above.level + 1, left: at, width, parent });
    }
    at += width;
  }
}

function addModule(layout: Layout, node: ModuleNode, parent: number, level: number, left: number): void {
  const width = node.row.bytes / layout.total;
  const index = layout.cells.length;
  let at = left;

  if (width < layout.minWidth) return;
  layout.cells.push({
    name: node.name, detail: node.row.module ?? node.name, bytes: node.row.bytes, category: null, level, left, width, parent,
  });
  for (const child of node.children) {
    addModule(layout, child, index, level + 1, at);
    at += child.row.bytes / layout.total;
  }
  addOwn(layout, node, index, at);
}

/* @minWidth  a share of the width */
export function icicleCells(tree: Pick<Tree, 'bytes'>, roots: readonly ModuleNode[], minWidth: number): Cell[] {
  const layout: Layout = { cells: [], total: Math.max(tree.bytes, 1), minWidth };
  let at = 0;

  layout.cells.push({ name: 'all', detail: 'all', bytes: tree.bytes, category: null, level: 0, left: 0, width: 1, parent: -1 });
  for (const root of roots) {
    addModule(layout, root, 0, 1, at);
    at += root.row.bytes / layout.total;
  }
  return layout.cells;
}

/* @x  share of the width. @return an index, or -1 */
export function cellAt(cells: readonly Cell[], x: number, level: number): number {
  return cells.findIndex((cell) => cell.level === level && x >= cell.left && x < cell.left + cell.width);
}

/* The cell that an arrow key leads to; the same one if there is none. */
export function cellBeside(cells: readonly Cell[], index: number, key: string): number {
  const cell = cells[index];
  if (!cell) return 0;
  const siblings = cells.flatMap((other, i) => (other.level === cell.level ? [i] : [])).sort((a, b) => leftOf(cells, a) - leftOf(cells, b));
  const place = siblings.indexOf(index);

  if (key === 'ArrowUp') return cell.parent >= 0 ? cell.parent : index;
  if (key === 'ArrowDown') return Math.max(cells.findIndex((other) => other.parent === index), 0) || index;
  return siblings[place + (key === 'ArrowRight' ? 1 : -1)] ?? index;
}

function leftOf(cells: readonly Cell[], index: number): number {
  return cells[index]?.left ?? 0;
}
