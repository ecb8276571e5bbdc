/* Peaks of steps as a picture: one run as bars by category, several as curves.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { h } from '../dom/element';
import type { Picture } from '../dom/save';
import { formatBytes } from '../format/bytes';
import { byteMarks, labelStride } from '../format/marks';
import { inks } from '../theme/inks';
import { beginCanvas, type Point, type Surface } from '../theme/surface';

export interface StepPart {
  name: string;
  part: number; // ink and hatch
  bytes: number;
}

export interface StepColumn {
  step: number;
  total: number;
  parts: readonly StepPart[]; // one run: from the bottom up
  runs: readonly (number | null)[]; // several: a value of each
}

export const runDashes: readonly (readonly number[])[] = [[], [6, 3], [2, 2.5], [10, 3, 2, 3]];
const [leftEm, topEm, bottomEm] = [6.4, 0.7, 1.8];
const barGap = 0.15; // of a column
const hint = 'Point at a step, or press ← →, for its numbers; a click or Enter shows its peak in the timeline.';

interface Area {
  left: number;
  width: number;
  top: number;
  bottom: number;
  em: number;
}

export interface StepChartOptions {
  label: string;
  describe: (column: StepColumn) => string;
  choose: (step: number) => void;
}

export class StepChart {
  readonly canvas = h('canvas', { class: 'step-chart', role: 'img', tabindex: 0 });
  readonly status = h('p', { class: 'icicle-status', role: 'status' }, hint);
  private readonly most: number;
  private hovered = -1;

  constructor(
    private readonly columns: readonly StepColumn[],
    private readonly options: StepChartOptions,
  ) {
    this.most = 1.05 * columns.reduce((most, { total, runs }) => Math.max(most, total, ...runs.map((bytes) => bytes ?? 0)), 1);
    this.canvas.setAttribute('aria-label', options.label);
    this.canvas.addEventListener('mousemove', (event) => this.point(event));
    this.canvas.addEventListener('mouseleave', () => this.hover(-1));
    this.canvas.addEventListener('click', () => this.choose());
    this.canvas.addEventListener('keydown', (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  picture(name: string): Picture {
    return {
      name,
      size: () => ({ width: this.canvas.clientWidth, height: this.canvas.clientHeight }),
      draw: (surface) => this.drawAll(surface),
    };
  }

  private area(): Area {
    const em = 0.92 * parseFloat(getComputedStyle(document.documentElement).fontSize);
    const { clientWidth: width, clientHeight: height } = this.canvas;

    return { left: leftEm * em, width: width - leftEm * em - 4, top: topEm * em, bottom: height - bottomEm * em, em };
  }

  private y(area: Area, bytes: number): number {
    return area.bottom - (bytes * (area.bottom - area.top)) / this.most;
  }

  private columnPx(area: Area): number {
    return area.width / Math.max(this.columns.length, 1);
  }

  private draw(): void {
    const surface = beginCanvas(this.canvas);

    if (!surface || this.canvas.clientWidth === 0) return;
    this.drawAll(surface);
    this.drawHovered(surface);
  }

  private drawAll(surface: Surface): void {
    const area = this.area();

    this.drawSizes(surface, area);
    this.drawSteps(surface, area);
    for (const [i, column] of this.columns.entries()) this.drawBar(surface, area, column, i);
    for (let run = 0; run < (this.columns[0]?.runs.length ?? 0); run++) this.drawCurve(surface, area, run);
  }

  private drawSizes(surface: Surface, area: Area): void {
    for (const { y, text } of byteMarks(this.most)) {
      const at = this.y(area, y);
      surface.line(area.left, at, area.left + area.width, at, y === 0 ? inks.axis : inks.grid);
      surface.text(area.left - 6 - surface.measure(text, area.em), at, text, { px: area.em, quiet: true });
    }
  }

  private drawSteps(surface: Surface, area: Area): void {
    const stride = labelStride(this.columnPx(area), 3 * area.em);

    for (const [i, { step }] of this.columns.entries()) {
      const text = i === 0 ? `step ${step}` : String(step);
      if (i > 0 && (step % stride !== 0 || i * this.columnPx(area) < 5 * area.em)) continue;
      surface.text(area.left + (i + 0.5) * this.columnPx(area) - (i === 0 ? 0 : surface.measure(text, area.em) / 2), area.bottom + area.em, text, { px: area.em, quiet: true });
    }
  }

  private drawBar(surface: Surface, area: Area, { parts }: StepColumn, index: number): void {
    const width = this.columnPx(area);
    const gap = width > 4 ? barGap * width : 0;
    let bytes = 0;

    for (const part of parts) {
      const [top, bottom] = [this.y(area, bytes + part.bytes), this.y(area, bytes)];
      surface.rect(area.left + index * width + gap, top, Math.max(width - 2 * gap, 0.7), bottom - top, part.part);
      bytes += part.bytes;
    }
  }

  /* A run that has fewer steps ends earlier. */
  private drawCurve(surface: Surface, area: Area, run: number): void {
    const points = this.columns.flatMap(({ runs }, i): Point[] => {
      const bytes = runs[run] ?? null;
      return bytes === null ? [] : [[area.left + (i + 0.5) * this.columnPx(area), this.y(area, bytes)]];
    });

    surface.path(points, inks.text, runDashes[run % runDashes.length] ?? []);
    for (const [x, y] of points.length <= 60 ? points : []) surface.rect(x - 2, y - 2, 4, 4, inks.text);
  }

  private drawHovered(surface: Surface): void {
    const area = this.area();
    const width = this.columnPx(area);

    if (this.hovered >= 0) surface.frame(area.left + this.hovered * width, area.top, Math.max(width, 2), area.bottom - area.top);
  }

  private point(event: MouseEvent): void {
    const area = this.area();
    const index = Math.floor((event.offsetX - area.left) / this.columnPx(area));
    this.hover(this.columns[index] ? index : -1);
  }

  private hover(index: number): void {
    const column = this.columns[index];

    if (index === this.hovered) return;
    this.hovered = index;
    this.status.textContent = column ? this.options.describe(column) : hint;
    this.draw();
  }

  private key(event: KeyboardEvent): void {
    const last = this.columns.length - 1;
    const places: Record<string, number> = {
      ArrowLeft: this.hovered < 0 ? last : Math.max(this.hovered - 1, 0), ArrowRight: Math.min(this.hovered + 1, last), Home: 0, End: last,
    };

    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === 'Enter') this.choose();
    else if (event.key === 'Escape') this.hover(-1);
    else if (places[event.key] !== undefined) this.hover(places[event.key] ?? -1);
    else return;
    event.preventDefault();
  }

  private choose(): void {
    const column = this.columns[this.hovered];
    if (column) this.options.choose(column.step);
  }
}

/* "step 3: 37.1 MiB at its peak: 13.2 MiB activation, …" */
export function describeParts({ step, total, parts }: StepColumn): string {
  const list = [...parts].sort((a, b) => b.bytes - a.bytes).map(({ name, bytes }) => `${formatBytes(bytes)} ${name}`);
  return `step ${step}: ${formatBytes(total)} at its peak: ${list.join(', ')}`;
}
