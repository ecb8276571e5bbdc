/* Layout of an icicle or a flame graph: a cell is as wide as its bytes, and its parts hang below it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A module, a category of a module, or a frame of a stack. */
export interface FlameNode {
  name: string;
  detail: string; // the whole path
  bytes: number;
  part: number | null; // number of ink and hatch; null: plain
  children: FlameNode[];
}

export interface Cell {
  node: FlameNode;
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

function addNode(layout: Layout, node: FlameNode, parent: number, level: number, left: number): void {
  const width = node.bytes / layout.total;
  const index = layout.cells.length;
  let at = left;

  if (width < layout.minWidth) return;
  layout.cells.push({ node, level, left, width, parent });
  for (const child of node.children) {
    addNode(layout, child, index, level + 1, at);
    at += child.bytes / layout.total;
  }
}

/* The path from the root to the node that takes the whole width; those above it do so too.
 * @minWidth  a share of the width */
export function flameCells(path: readonly FlameNode[], minWidth: number): Cell[] {
  const above = path.slice(0, -1);
  const shown = path[path.length - 1];
  const layout: Layout = { cells: [], total: Math.max(shown?.bytes ?? 1, 1), minWidth };

  for (const [level, node] of above.entries()) layout.cells.push({ node, level, left: 0, width: 1, parent: level - 1 });
  if (shown) addNode(layout, shown, above.length - 1, above.length, 0);
  return layout.cells;
}

/* The nodes from the root of the cells down to this one. */
export function pathTo(cells: readonly Cell[], index: number): FlameNode[] {
  const cell = cells[index];
  return cell ? [...pathTo(cells, cell.parent), cell.node] : [];
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
