/* Ranks and steps as a map: one row for each rank; the stronger the colour, the higher the peak in its steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Rank, Ranks } from '../api/types';
import { h } from '../dom/element';
import type { Picture } from '../dom/save';
import { formatBytes } from '../format/bytes';
import { labelStride } from '../format/marks';
import { inks, shadeOf } from '../theme/inks';
import { beginCanvas, type Surface } from '../theme/surface';

const [rowRem, rowMinRem, mapRem] = [1.5, 0.15, 30];
const [leftEm, bottomEm] = [6.4, 1.8];
const hint = 'Point at a rank, or press ↑ ↓ ← →, for its numbers; a click or Enter opens it.';

interface Cell {
  row: number;
  column: number;
}

function scaleText(least: number, most: number): string {
  if (most === 0) return 'No rank has memory in any step.';
  return `The stronger the colour, the higher the peak in these steps: from ${formatBytes(least)} (faintest) to ${formatBytes(most)}.`;
}

export class RankMap {
  readonly canvas = h('canvas', { class: 'rank-map', role: 'img', tabindex: 0, 'aria-label': 'Peaks of the ranks, step by step; the table has the ranks.' });
  readonly status = h('p', { class: 'icicle-status', role: 'status' }, hint);
  readonly scale: HTMLElement;
  private readonly columns: number;
  private readonly least: number;
  private readonly most: number;
  private cell: Cell | null = null;

  constructor(
    private readonly ranks: Ranks,
    private readonly open: (rank: Rank) => void,
  ) {
    const peaks = ranks.ranks.flatMap((rank) => rank.step_peaks).filter((bytes) => bytes > 0);

    this.columns = ranks.ranks.reduce((most, { step_peaks: list }) => Math.max(most, list.length), 0);
    this.least = peaks.reduce((least, bytes) => Math.min(least, bytes), Infinity);
    this.most = peaks.reduce((most, bytes) => Math.max(most, bytes), 0);
    this.scale = h('p', { class: 'quiet' }, scaleText(this.least, this.most));
    this.canvas.style.height = `calc(${ranks.ranks.length * this.rowSize()}rem + 2rem)`;
    this.canvas.addEventListener('mousemove', (event) => this.point(event));
    this.canvas.addEventListener('mouseleave', () => this.choose(null));
    this.canvas.addEventListener('click', () => this.openChosen());
    this.canvas.addEventListener('keydown', (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  picture(): Picture {
    return {
      name: 'ranks',
      size: () => ({ width: this.canvas.clientWidth, height: this.canvas.clientHeight }),
      draw: (surface) => this.drawAll(surface),
    };
  }

  private rowSize(): number {
    return Math.max(rowMinRem, Math.min(rowRem, mapRem / Math.max(this.ranks.ranks.length, 1)));
  }

  private rem(): number {
    return parseFloat(getComputedStyle(document.documentElement).fontSize);
  }

  private place() {
    const em = 0.92 * this.rem();
    const left = leftEm * em;

    return { em, left, row: this.rowSize() * this.rem(), column: (this.canvas.clientWidth - left - 4) / Math.max(this.columns, 1) };
  }

  private draw(): void {
    const surface = beginCanvas(this.canvas);
    const { left, row, column } = this.place();

    if (!surface || this.canvas.clientWidth === 0) return;
    this.drawAll(surface);
    if (this.cell) surface.frame(left + this.cell.column * column, this.cell.row * row, Math.max(column, 2), Math.max(row, 2));
  }

  private drawAll(surface: Surface): void {
    this.drawNames(surface);
    this.drawSteps(surface);
    for (const [i, rank] of this.ranks.ranks.entries()) this.drawRow(surface, rank, i);
    surface.setAlpha(1);
  }

  private drawRow(surface: Surface, { step_peaks: peaks }: Rank, index: number): void {
    const { left, row, column } = this.place();
    const gap = row > 6 ? 1 : 0;

    for (const [i, bytes] of peaks.entries()) {
      surface.setAlpha(shadeOf(bytes, this.least, this.most));
      surface.rect(left + i * column, index * row, Math.max(column - (column > 6 ? 1 : 0), 0.7), row - gap, inks.text);
    }
  }

  private drawNames(surface: Surface): void {
    const { em, left, row } = this.place();
    const stride = labelStride(row, 1.2 * em);

    for (const [i, { rank }] of this.ranks.ranks.entries()) {
      const text = i === 0 ? `rank ${rank}` : String(rank);
      if (rank % stride === 0) surface.text(left - 6 - surface.measure(text, em), (i + 0.5) * row, text, { px: em, quiet: true });
    }
  }

  private drawSteps(surface: Surface): void {
    const { em, left, row, column } = this.place();
    const y = this.ranks.ranks.length * row + (bottomEm * em) / 2;
    const stride = labelStride(column, 4 * em);

    for (let i = 0; i < this.columns; i += stride) {
      const step = i * this.ranks.steps_per_column;
      surface.text(left + i * column, y, i === 0 ? `step ${step}` : String(step), { px: em, quiet: true });
    }
  }

  private point(event: MouseEvent): void {
    const { left, row, column } = this.place();
    this.choose({ row: Math.floor(event.offsetY / row), column: Math.floor((event.offsetX - left) / column) });
  }

  private choose(cell: Cell | null): void {
    const rank = cell ? this.ranks.ranks[cell.row] : undefined;

    this.cell = rank && cell && cell.column >= 0 && cell.column < this.columns ? cell : null;
    this.status.textContent = rank && this.cell ? this.describe(rank, this.cell.column) : hint;
    this.draw();
  }

  /* "rank 3: 41.2 MiB at its peak in steps 8 to 11; 43.0 MiB in the whole run" */
  private describe(rank: Rank, column: number): string {
    const each = this.ranks.steps_per_column;
    const first = column * each;
    const steps = each === 1 ? `step ${first}` : `steps ${first} to ${first + each - 1}`;
    const bytes = rank.step_peaks[column] ?? 0;

    return `rank ${rank.rank}: ${bytes > 0 ? `${formatBytes(bytes)} at its peak in ${steps}` : `no ${steps}`}; ${formatBytes(rank.peak_bytes)} in the whole run`;
  }

  private openChosen(): void {
    const rank = this.cell ? this.ranks.ranks[this.cell.row] : undefined;
    if (rank) this.open(rank);
  }

  private key(event: KeyboardEvent): void {
    const { row, column } = this.cell ?? { row: 0, column: 0 };
    const moves: Record<string, Cell> = {
      ArrowUp: { row: row - 1, column }, ArrowDown: { row: row + 1, column }, ArrowLeft: { row, column: column - 1 }, ArrowRight: { row, column: column + 1 },
    };
    const to = moves[event.key];

    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === 'Enter') this.openChosen();
    else if (event.key === 'Escape') this.choose(null);
    else if (to && !this.cell) this.choose({ row: 0, column: 0 });
    else if (to && this.ranks.ranks[to.row] && to.column >= 0 && to.column < this.columns) this.choose(to);
    else if (!to) return;
    event.preventDefault();
  }
}
