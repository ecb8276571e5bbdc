/* The modules of an instant as a table that opens and closes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Answer } from '../api/client';
import type { ByCategory, Calls, Tree } from '../api/types';
import { bytesColumn, partColumn, percentColumn, textColumn, type Column } from '../dom/columns';
import { button, h } from '../dom/element';
import { nothing, remarks } from '../dom/notice';
import { toCsv } from '../format/csv';
import { categories, categoryNumber, words } from '../theme/categories';
import { partInk } from '../theme/inks';
import { colour } from '../theme/theme';
import { callTree } from './call-tree';
import { panel } from './frame';
import { openAtFirst, searchModules, visibleRows, wholeTree, type ModuleNode, type VisibleRow } from './modules';

const rowsAtFirst = 24;
const choices = new Map<string, boolean>(); // paths that the user opened or closed, for all instants

export function shownCategories(all: ByCategory): string[] {
  return categories.map(({ name }) => name).filter((name) => (all[name] ?? 0) > 0);
}

function columnsOf(tree: Tree): Column<ModuleNode>[] {
  const titles = new Map(categories.map(({ name, title }) => [name, title]));

  return [
    bytesColumn('total', ({ row }) => row.bytes),
    percentColumn('share', ({ row }) => row.percent),
    partColumn('own', 'without those below it', ({ row }) => row.own_bytes),
    ...shownCategories(tree.by_category).map((name) =>
      partColumn<ModuleNode>(titles.get(name) ?? name, words(name), ({ row }) => row.by_category[name] ?? 0),
    ),
  ];
}

/* The composition as a bar, as long as the share of the whole. The columns say the same in numbers. */
export function compositionBar(byCategory: ByCategory, total: number): HTMLElement {
  const bar = h('span', { class: 'bar', 'aria-hidden': true });

  for (const name of shownCategories(byCategory)) {
    const part = h('span', { class: 'part' });
    part.style.backgroundColor = colour(partInk(categoryNumber(name)));
    part.style.width = `${(100 * (byCategory[name] ?? 0)) / Math.max(total, 1)}%`;
    bar.append(part);
  }
  return bar;
}

class TreeGrid {
  readonly element: HTMLElement;
  private readonly body = h('tbody');
  private readonly columns: Column<ModuleNode>[];
  private readonly roots: ModuleNode[];
  private readonly open: Set<string>;
  private rows: VisibleRow[] = [];

  /* @kind  what a row is: a module or a call */
  constructor(
    private readonly tree: Tree,
    search: string,
    private readonly kind: string,
  ) {
    const all = [wholeTree(tree)];

    this.columns = columnsOf(tree);
    this.roots = searchModules(all, search);
    this.open = this.openSet(all, search);
    this.element = h(
      'div',
      { class: 'table-frame' },
      h('table', { role: 'treegrid' }, h('caption', {}, `Memory by ${kind}`), h('thead', {}, this.head()), this.body),
    );
    this.body.addEventListener('keydown', (event) => this.key(event));
    this.render();
  }

  csv(): string {
    const path = textColumn<ModuleNode>(this.kind, ({ row, name }) => row.module ?? name);
    const kind = textColumn<ModuleNode>('class', ({ row }) => row.class);
    const columns = [path, kind, ...this.columns];
    return toCsv(columns.map((c) => c.hint ?? c.title), this.rows.map(({ node }) => columns.map((c) => c.value(node))));
  }

  /* A search opens everything that it found. */
  private openSet(all: ModuleNode[], search: string): Set<string> {
    if (search !== '') return new Set(['', ...this.tree.rows.map((row, i) => row.module ?? `#${i}`)]);
    const open = openAtFirst(all, rowsAtFirst);
    for (const [path, isOpen] of choices) if (isOpen) open.add(path); else open.delete(path);
    return open;
  }

  private head(): HTMLElement {
    const cells = this.columns.map((column) => h('th', { scope: 'col', class: 'number', title: column.hint ?? null }, column.title));
    return h('tr', {}, h('th', { scope: 'col' }, this.kind), h('th', { scope: 'col' }, Object.keys(this.tree.by_category).length > 0 ? 'composition' : 'size'), ...cells);
  }

  private render(focus?: string): void {
    this.rows = visibleRows(this.roots, this.open);
    this.body.replaceChildren(...this.rows.map((row, i) => this.row(row, i)));
    if (focus !== undefined) this.focus(this.rows.findIndex(({ node }) => node.path === focus));
  }

  private row({ node, level }: VisibleRow, index: number): HTMLElement {
    const isOpen = this.open.has(node.path);
    const cells = this.columns.map((c) => h('td', { class: 'number', title: c.exact?.(node) ?? null }, c.text(node)));

    return h(
      'tr',
      {
        tabindex: index === 0 ? 0 : -1,
        'aria-level': level,
        'aria-expanded': node.children.length > 0 ? String(isOpen) : null,
      },
      this.nameCell(node, level, isOpen),
      h('td', {}, compositionBar(node.row.by_category, this.tree.bytes)),
      ...cells,
    );
  }

  private nameCell(node: ModuleNode, level: number, isOpen: boolean): HTMLElement {
    const isClassKnown = node.row.class !== null && node.row.class !== node.name;
    const detail = isClassKnown ? h('span', { class: 'quiet' }, ` ${node.row.class}`) : null;
    const mark = isOpen ? '▾' : '▸';
    const toggle =
      node.children.length > 0
        ? button(mark, () => this.toggle(node), { class: 'toggle', tabindex: -1, 'aria-hidden': true })
        : h('span', { class: 'toggle' });
    const cell = h('td', { class: 'name', title: node.row.module ?? node.name }, toggle, node.name, detail);

    cell.style.paddingLeft = `${level - 0.6}em`;
    return cell;
  }

  private toggle(node: ModuleNode): void {
    if (!this.open.delete(node.path)) this.open.add(node.path);
    choices.set(node.path, this.open.has(node.path));
    this.render(node.path);
  }

  private focus(index: number): void {
    const rows = [...this.body.querySelectorAll('tr')];

    if (!rows[index]) return;
    for (const row of rows) row.tabIndex = -1;
    rows[index].tabIndex = 0;
    rows[index].focus();
  }

  private key(event: KeyboardEvent): void {
    const index = [...this.body.children].indexOf(event.target as Element);
    const node = this.rows[index]?.node;

    if (!node || !this.act(event.key, index, node)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  private act(key: string, index: number, node: ModuleNode): boolean {
    const isOpen = this.open.has(node.path);
    const hasChildren = node.children.length > 0;

    if (key === 'ArrowDown') this.focus(index + 1);
    else if (key === 'ArrowUp') this.focus(index - 1);
    else if (key === 'ArrowRight' && hasChildren && !isOpen) this.toggle(node);
    else if (key === 'ArrowRight') this.focus(index + 1);
    else if (key === 'ArrowLeft' && isOpen) this.toggle(node);
    else if (key === 'ArrowLeft') this.focus(this.rows.findIndex((row) => row.node.path === node.parent?.path));
    else if (key === 'Enter' && hasChildren) this.toggle(node);
    else return false;
    return true;
  }
}

export function treePanel(answer: Answer<Tree>, search: string): HTMLElement {
  const tree = answer.data;

  if (tree.rows.length === 0) return panel([answer], {}, nothing('Nothing was live at this moment.'));
  const grid = new TreeGrid(tree, search, 'module');
  const remark = tree.from_scopes ? remarks(['The trace has no modules; these are its scopes.']) : null;
  return panel([answer], { csv: () => grid.csv() }, remark, grid.element);
}

/* For a trace without modules. */
export function callTreePanel(answer: Answer<Calls>, search: string): HTMLElement {
  const grid = new TreeGrid(callTree(answer.data), search, 'call');
  const remark = remarks(['The trace has no modules; these are the calls that requested its memory.']);
  return panel([answer], { csv: () => grid.csv() }, remark, grid.element);
}
