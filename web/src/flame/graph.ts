/* An icicle or a flame graph on a canvas: hover and arrow keys name a cell, a click or Enter makes it
 * as wide as the picture.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { h } from '../dom/element';
import type { Picture } from '../dom/save';
import { contains } from '../dom/sort';
import { formatBytes, formatCount, formatExact, formatPercent } from '../format/bytes';
import { inks, isHatched } from '../theme/inks';
import { fitText } from '../theme/fit-text';
import { beginCanvas, type Surface } from '../theme/surface';
import { cellAt, cellBeside, flameCells, pathTo, type Cell, type FlameNode } from './cells';

const rowRem = 1.7;
const textRoomPx = 26; // narrower cells have no name …
const lettersLeast = 3; // … nor do those with room for fewer letters of it and an ellipsis
const minPx = 0.7;

export class FlameGraph {
  readonly canvas = h('canvas', { class: 'icicle', tabindex: 0, role: 'img' });
  readonly status = h('p', { class: 'icicle-status', role: 'status' });
  private cells: Cell[] = [];
  private path: FlameNode[];
  private current = -1;
  private readonly amount: (n: number) => string;

  constructor(
    private readonly root: FlameNode,
    private readonly search: string,
    label: string,
    unit: 'bytes' | 'calls' = 'bytes',
  ) {
    this.amount = unit === 'bytes' ? formatBytes : (calls) => `${formatCount(calls)} calls`;
    this.path = [root];
    this.canvas.setAttribute('aria-label', `${label} Arrow keys move between its cells, Enter zooms in, Escape out.`);
    this.canvas.addEventListener('mousemove', (event) => this.point(event));
    this.canvas.addEventListener('click', () => this.zoom(this.current));
    this.canvas.addEventListener('keydown', (event) => this.key(event));
    new ResizeObserver(() => this.layOut()).observe(this.canvas);
    this.choose(0);
  }

  /* The whole width, without the frame of the chosen cell. */
  picture(name: string): Picture {
    return {
      name,
      size: () => ({ width: this.canvas.clientWidth, height: this.canvas.clientHeight }),
      draw: (surface) => this.drawCells(surface, this.canvas.clientWidth),
    };
  }

  private rowPx(): number {
    return rowRem * parseFloat(getComputedStyle(document.documentElement).fontSize);
  }

  private layOut(): void {
    const width = this.canvas.clientWidth;

    if (width === 0) return;
    this.cells = flameCells(this.path, minPx / width);
    const levels = 1 + this.cells.reduce((most, cell) => Math.max(most, cell.level), 0);
    this.canvas.style.height = `${Math.ceil(levels * this.rowPx())}px`;
    this.choose(Math.min(Math.max(this.current, 0), this.cells.length - 1));
  }

  private zoom(index: number): void {
    const path = pathTo(this.cells, index);

    if (path.length === 0) return;
    this.path = path;
    this.current = path.length - 1;
    this.layOut();
  }

  private choose(index: number): void {
    const node = this.cells[index]?.node;

    this.current = index;
    if (node) {
      const share = formatPercent((100 * node.bytes) / Math.max(this.root.bytes, 1));
      this.status.textContent = `${node.detail}: ${this.amount(node.bytes)}, ${share}${this.amount === formatBytes ? ` (${formatExact(node.bytes)})` : ''}`;
    }
    this.draw();
  }

  private point(event: MouseEvent): void {
    const index = cellAt(this.cells, event.offsetX / this.canvas.clientWidth, Math.floor(event.offsetY / this.rowPx()));
    if (index >= 0 && index !== this.current) this.choose(index);
  }

  private key(event: KeyboardEvent): void {
    if (event.key.startsWith('Arrow')) this.choose(cellBeside(this.cells, this.current, event.key));
    else if (event.key === 'Enter') this.zoom(this.current);
    else if (event.key === 'Escape') this.zoom(0);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private draw(): void {
    const surface = beginCanvas(this.canvas);

    if (!surface) return;
    this.drawCells(surface, this.canvas.clientWidth);
    this.drawFrame(surface, this.canvas.clientWidth);
  }

  private drawCells(surface: Surface, width: number): void {
    for (const cell of this.cells) this.drawCell(surface, cell, width);
    surface.setAlpha(1);
  }

  private drawCell(surface: Surface, { node, level, left, width: share }: Cell, width: number): void {
    const row = this.rowPx();
    const [x, y, w] = [left * width, level * row, share * width];

    surface.setAlpha(this.search !== '' && !contains(node.detail, this.search) ? 0.25 : 1);
    surface.rect(x, y, Math.max(w - 1, 0.5), row - 1, node.part ?? inks.grid);
    if (w <= textRoomPx) return;
    const text = fitText(surface, `${node.name} ${this.amount(node.bytes)}`, 0.5 * row, w - 8, lettersLeast);
    surface.text(x + 4, y + row / 2, text, { px: 0.5 * row, halo: node.part !== null && isHatched(node.part) });
  }

  private drawFrame(surface: Surface, width: number): void {
    const cell = this.cells[this.current];
    const row = this.rowPx();

    if (cell) surface.frame(cell.left * width + 1, cell.level * row + 1, Math.max(cell.width * width - 3, 1), row - 3);
  }
}
