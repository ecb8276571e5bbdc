/* The memory of an instant as an icicle of modules and categories.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Answer } from '../api/client';
import type { Tree } from '../api/types';
import { h } from '../dom/element';
import { nothing } from '../dom/notice';
import { contains } from '../dom/sort';
import { formatBytes, formatExact, formatPercent } from '../format/bytes';
import { categoryNumber } from '../theme/categories';
import { inks } from '../theme/inks';
import { partFill } from '../theme/patterns';
import { colour } from '../theme/theme';
import { panel } from './frame';
import { cellAt, cellBeside, icicleCells, type Cell } from './icicle';
import { moduleTree } from './modules';

const rowRem = 1.7;
const textRoomPx = 26; // narrower cells have no name
const minPx = 0.7;

class Icicle {
  readonly canvas = h('canvas', { class: 'icicle', tabindex: 0, role: 'img' });
  readonly status = h('p', { class: 'icicle-status', role: 'status' });
  private cells: Cell[] = [];
  private current = -1;

  constructor(
    private readonly tree: Tree,
    private readonly search: string,
  ) {
    const text = 'Icicle of modules and categories. Arrow keys move between its cells; the tree has the same numbers.';
    this.canvas.setAttribute('aria-label', text);
    this.canvas.addEventListener('mousemove', (event) => this.point(event));
    this.canvas.addEventListener('keydown', (event) => this.key(event));
    new ResizeObserver(() => this.layOut()).observe(this.canvas);
    this.choose(0);
  }

  private rowPx(): number {
    return rowRem * parseFloat(getComputedStyle(document.documentElement).fontSize);
  }

  private layOut(): void {
    const width = this.canvas.clientWidth;

    if (width === 0) return;
    this.cells = icicleCells(this.tree, moduleTree(this.tree.rows), minPx / width);
    const levels = 1 + this.cells.reduce((most, cell) => Math.max(most, cell.level), 0);
    this.canvas.style.height = `${Math.ceil(levels * this.rowPx())}px`;
    this.choose(Math.max(this.current, 0));
  }

  private choose(index: number): void {
    const cell = this.cells[index];

    this.current = index;
    if (cell) {
      const share = formatPercent((100 * cell.bytes) / Math.max(this.tree.bytes, 1));
      this.status.textContent = `${cell.detail}: ${formatBytes(cell.bytes)}, ${share} (${formatExact(cell.bytes)})`;
    }
    this.draw();
  }

  private point(event: MouseEvent): void {
    const index = cellAt(this.cells, event.offsetX / this.canvas.clientWidth, Math.floor(event.offsetY / this.rowPx()));
    if (index >= 0 && index !== this.current) this.choose(index);
  }

  private key(event: KeyboardEvent): void {
    if (!event.key.startsWith('Arrow')) return;
    event.preventDefault();
    event.stopPropagation();
    this.choose(cellBeside(this.cells, this.current, event.key));
  }

  private draw(): void {
    const scale = window.devicePixelRatio;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const context = this.canvas.getContext('2d');

    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    if (!context) return;
    context.scale(scale, scale);
    context.font = `${0.5 * this.rowPx()}px system-ui, sans-serif`;
    context.textBaseline = 'middle';
    for (const cell of this.cells) this.drawCell(context, cell, width);
    this.drawFrame(context, width);
  }

  private isFaint(cell: Cell): boolean {
    return this.search !== '' && !contains(cell.detail, this.search);
  }

  private drawCell(context: CanvasRenderingContext2D, cell: Cell, width: number): void {
    const row = this.rowPx();
    const [x, y, w] = [cell.left * width, cell.level * row, cell.width * width];

    context.globalAlpha = this.isFaint(cell) ? 0.25 : 1;
    context.fillStyle = cell.category === null ? colour(inks.grid) : partFill(context, categoryNumber(cell.category), 1);
    context.fillRect(x, y, Math.max(w - 1, 0.5), row - 1);
    if (w > textRoomPx) this.drawText(context, cell, x, y + row / 2, w - 8);
    context.globalAlpha = 1;
  }

  /* Text on a hatch stands on a strip of the cell's paper. */
  private drawText(context: CanvasRenderingContext2D, cell: Cell, x: number, y: number, room: number): void {
    const text = fit(context, `${cell.name} ${formatBytes(cell.bytes)}`, room);

    context.lineWidth = 3;
    context.lineJoin = 'round';
    context.strokeStyle = colour(inks.paper);
    if (cell.category !== null) context.strokeText(text, x + 4, y);
    context.fillStyle = colour(inks.text);
    context.fillText(text, x + 4, y);
  }

  private drawFrame(context: CanvasRenderingContext2D, width: number): void {
    const cell = this.cells[this.current];
    const row = this.rowPx();

    if (!cell) return;
    context.strokeStyle = colour(inks.text);
    context.lineWidth = 2;
    context.strokeRect(cell.left * width + 1, cell.level * row + 1, Math.max(cell.width * width - 3, 1), row - 3);
  }
}

/* Cut to the room, with an ellipsis. */
function fit(context: CanvasRenderingContext2D, text: string, room: number): string {
  let length = text.length;

  if (context.measureText(text).width <= room) return text;
  while (length > 0 && context.measureText(`${text.slice(0, length)}…`).width > room) length--;
  return length > 0 ? `${text.slice(0, length)}…` : '';
}

export function iciclePanel(answer: Answer<Tree>, search: string): HTMLElement {
  if (answer.data.bytes === 0) return panel(answer, null, nothing('Nothing was live at this moment.'));
  const icicle = new Icicle(answer.data, search);
  return panel(answer, null, icicle.status, icicle.canvas);
}
