/* The memory of an instant as nodes of an icicle: a module contains its submodules and, by category,
 * its own memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Tree } from '../api/types';
import type { FlameNode } from '../flame/cells';
import { categories, words } from '../theme/categories';
import type { ModuleNode } from './modules';

function ownNodes(node: ModuleNode, detail: string): FlameNode[] {
  return categories.flatMap(({ name, number }) => {
    const bytes = node.row.own_by_category[name] ?? 0;
    return bytes > 0 ? [{ name: words(name), detail: `${detail}, ${words(name)}`, bytes, part: number, children: [] }] : [];
  });
}

function moduleNode(node: ModuleNode): FlameNode {
  const detail = node.row.module ?? node.name;
  const children = [...node.children.map(moduleNode), ...ownNodes(node, detail)];

  return { name: node.name, detail, bytes: node.row.bytes, part: null, children };
}

export function icicleRoot(tree: Pick<Tree, 'bytes'>, roots: readonly ModuleNode[]): FlameNode {
  return { name: 'all', detail: 'all', bytes: tree.bytes, part: null, children: roots.map(moduleNode) };
}
