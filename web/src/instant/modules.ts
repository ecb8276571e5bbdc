/* The rows of `memledger tree` as a tree.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Tree, TreeRow } from '../api/types';
import { contains } from '../dom/sort';

export interface ModuleNode {
  row: TreeRow;
  name: string;
  path: string; // unique in the tree
  parent: ModuleNode | null;
  children: ModuleNode[];
}

function rowName(row: TreeRow): string {
  if (row.name !== null) return row.name;
  return row.modules > 0 ? `(${row.modules} smaller)` : '(no module)';
}

/* The command lists modules depth first. */
export function moduleTree(rows: readonly TreeRow[]): ModuleNode[] {
  const roots: ModuleNode[] = [];
  const open: ModuleNode[] = []; // the path to the last row

  for (const [i, row] of rows.entries()) {
    open.length = Math.min(open.length, row.depth - 1);
    const parent = open[open.length - 1] ?? null;
    const node = { row, name: rowName(row), path: row.module ?? `#${i}`, parent, children: [] };

    (parent?.children ?? roots).push(node);
    open.push(node);
  }
  return roots;
}

/* All modules under one row with the totals, as in the command's table. */
export function wholeTree(tree: Tree): ModuleNode {
  const row: TreeRow = {
    depth: 0, module: null, name: 'all', class: null, modules: 0, hidden_modules: 0, bytes: tree.bytes, percent: 100,
    blocks: tree.blocks, own_bytes: 0, by_category: tree.by_category, own_by_category: {},
  };
  const whole: ModuleNode = { row, name: 'all', path: '', parent: null, children: moduleTree(tree.rows) };

  for (const child of whole.children) child.parent = whole;
  return whole;
}

/* The modules whose name or class contains the text, and those around them. */
export function searchModules(nodes: readonly ModuleNode[], search: string): ModuleNode[] {
  if (search === '') return [...nodes];
  return nodes.flatMap((node) => {
    if (contains(node.row.module, search) || contains(node.row.class, search)) return [node];
    const children = searchModules(node.children, search);
    return children.length > 0 ? [{ ...node, children }] : [];
  });
}

/* Opens the largest modules, until about as many rows are visible as fit on a screen. The first is open however
 * many it has: a closed tree shows nothing. */
export function openAtFirst(roots: readonly ModuleNode[], rowsMax: number): Set<string> {
  const open = new Set<string>();
  const waiting = [...roots];
  let rows = roots.length;

  while (waiting.length > 0) {
    waiting.sort((a, b) => b.row.bytes - a.row.bytes);
    const node = waiting.shift() as ModuleNode;
    if (node.children.length === 0) continue;
    if (open.size > 0 && rows + node.children.length > rowsMax) break;
    open.add(node.path);
    rows += node.children.length;
    waiting.push(...node.children);
  }
  return open;
}

export interface VisibleRow {
  node: ModuleNode;
  level: number; // from 1
}

export function visibleRows(nodes: readonly ModuleNode[], open: ReadonlySet<string>, level = 1): VisibleRow[] {
  return nodes.flatMap((node) => [
    { node, level },
    ...(open.has(node.path) ? visibleRows(node.children, open, level + 1) : []),
  ]);
}
