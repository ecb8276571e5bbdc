/* The memory of an instant as nodes of an icicle: a module contains its submodules and, by category,
 * its own memory; a category contains the lines that allocated it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Group, Tree } from '../api/types';
import { fileName } from '../flame/calls';
import type { FlameNode } from '../flame/cells';
import { categories, words } from '../theme/categories';
import type { ModuleNode } from './modules';

/* Lines by module and category, as `table --by=module,category,line` prints them. */
export type Lines = ReadonlyMap<string, readonly Group[]>;

function placeOf(module: string | null, category: string): string {
  return JSON.stringify([module, category]);
}

/* Groups without a line are left out: the category's own cell has room for them. */
export function linesByPlace(groups: readonly Group[]): Lines {
  const lines = new Map<string, Group[]>();

  for (const group of groups.filter(({ line }) => line !== null)) {
    const place = placeOf(group.module as string | null, String(group.category));
    lines.set(place, [...(lines.get(place) ?? []), group]);
  }
  return lines;
}

function lineNodes(groups: readonly Group[], detail: string, part: number): FlameNode[] {
  return groups.map(({ line, bytes }) => ({ name: fileName(String(line)), detail: `${detail}, ${line}`, bytes, part, children: [] }));
}

function ownNodes(node: ModuleNode, detail: string, lines: Lines): FlameNode[] {
  return categories.flatMap(({ name, number }) => {
    const bytes = node.row.own_by_category[name] ?? 0;
    const below = lines.get(placeOf(node.row.module, name)) ?? [];
    const own = `${detail}, ${words(name)}`;

    return bytes > 0 ? [{ name: words(name), detail: own, bytes, part: number, children: lineNodes(below, own, number) }] : [];
  });
}

function moduleNode(node: ModuleNode, lines: Lines): FlameNode {
  const detail = node.row.module ?? node.name;
  const children = [...node.children.map((child) => moduleNode(child, lines)), ...ownNodes(node, detail, lines)];

  return { name: node.name, detail, bytes: node.row.bytes, part: null, children };
}

export function icicleRoot(tree: Pick<Tree, 'bytes'>, roots: readonly ModuleNode[], lines: Lines = new Map()): FlameNode {
  return { name: 'all', detail: 'all', bytes: tree.bytes, part: null, children: roots.map((root) => moduleNode(root, lines)) };
}
