/* A real table: captions and headers for screen readers, sortable columns, exact numbers on hover.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { toCsv } from '../format/csv';
import { sizeTest } from '../format/size-search';
import type { Column } from './columns';
import { button, h } from './element';
import { searchRows, sortRows, type Order } from './sort';

export interface RowAction<Row> {
  label: (row: Row) => string;
  run: (row: Row) => void;
}

export interface TableOptions<Row> {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  search?: string;
  action?: RowAction<Row>; // of the first cell
  isMarked?: (row: Row) => boolean;
  cell?: (row: Row, column: number) => Node | null; // in front of the text
}

const pageRows = 500;

export class DataTable<Row> {
  readonly element = h('div', { class: 'table-frame' });
  private readonly body = h('tbody');
  private readonly head = h('tr');
  private readonly more = h('p', { class: 'more' });
  private order: Order | null = null;
  private shownMax = pageRows;

  constructor(private readonly options: TableOptions<Row>) {
    const table = h('table', {}, h('caption', {}, options.caption), h('thead', {}, this.head), this.body);

    this.element.append(table, this.more);
    this.render();
  }

  /* The rows as they are shown, all of them. */
  csv(): string {
    const { columns } = this.options;
    return toCsv(columns.map((c) => c.hint ?? c.title), this.rows().map((row) => columns.map((c) => c.value(row))));
  }

  private rows(): Row[] {
    const { rows, columns, search } = this.options;
    return sortRows(searchRows(rows, columns, search ?? ''), columns, this.order);
  }

  private render(): void {
    const rows = this.rows();
    const hidden = rows.length - this.shownMax;

    this.head.replaceChildren(...this.options.columns.map((column, i) => this.headCell(column, i)));
    this.body.replaceChildren(...rows.slice(0, this.shownMax).map((row) => this.row(row)));
    this.more.replaceChildren(...this.remark(rows.length, hidden));
  }

  private remark(found: number, hidden: number): Node[] {
    const { rows, search } = this.options;

    if (hidden > 0) return [button(`Show ${hidden} more`, () => this.showAll())];
    if (found === 0 && rows.length > 0) return [document.createTextNode(sizeTest(search ?? '') ? `No row has a size of ${search}.` : `No name contains “${search}”.`)];
    return [];
  }

  private showAll(): void {
    this.shownMax = Infinity;
    this.render();
  }

  private headCell(column: Column<Row>, index: number): HTMLElement {
    const isSorted = this.order?.column === index;
    const direction = this.order?.descending ? 'descending' : 'ascending';
    const sort = button(column.title, () => this.sortBy(index), { title: column.hint ?? null });

    return h(
      'th',
      { scope: 'col', class: column.numeric ? 'number' : null, 'aria-sort': isSorted ? direction : null },
      sort,
    );
  }

  /* Numbers begin with the largest. A third click restores the order of the command. */
  private sortBy(index: number): void {
    const first = this.options.columns[index]?.numeric ?? false;

    if (this.order?.column !== index) this.order = { column: index, descending: first };
    else if (this.order.descending === first) this.order = { column: index, descending: !first };
    else this.order = null;
    this.render();
    this.head.querySelectorAll('button')[index]?.focus();
  }

  private row(row: Row): HTMLElement {
    const { columns, isMarked } = this.options;
    const marked = isMarked?.(row) ?? false;
    const cells = columns.map((column, i) => this.cell(row, column, i));

    return h('tr', { class: marked ? 'marked' : null, 'aria-current': marked ? 'true' : null }, ...cells);
  }

  private cell(row: Row, column: Column<Row>, index: number): HTMLElement {
    const { action, cell } = this.options;
    const text = column.text(row);
    const title = column.exact?.(row) ?? (column.numeric ? null : text);
    const run = action && index === 0 ? button(text, () => action.run(row), { title: action.label(row) }) : text;

    return h('td', { class: column.numeric ? 'number' : 'name', title }, cell?.(row, index) ?? null, run);
  }
}
