/* The whole run in a strip below the timeline, with the visible part as a window to drag.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { inks } from '../theme/inks';
import { colour } from '../theme/theme';
import { clampRange, type Range } from './range';

const edgePx = 6; // from here a drag moves one edge of the window

type Grip = 'from' | 'to' | 'both';

export interface Silhouette {
  bounds: Range;
  times: readonly number[];
  bytes: readonly number[]; // totals
}

export class Minimap {
  readonly canvas = document.createElement('canvas');
  private shown: Silhouette | null = null;
  private range: Range = { from: 0, to: 1 };
  private drag: { grip: Grip; startX: number; range: Range } | null = null;

  constructor(private readonly moved: (range: Range) => void) {
    this.canvas.className = 'minimap';
    this.canvas.setAttribute('aria-hidden', 'true'); // the keys of the timeline do the same
    this.canvas.title = 'The whole run. Drag the window or its edges.';
    this.canvas.addEventListener('pointerdown', (event) => this.begin(event));
    this.canvas.addEventListener('pointermove', (event) => this.move(event));
    this.canvas.addEventListener('pointerup', () => (this.drag = null));
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  show(silhouette: Silhouette, range: Range): void {
    this.shown = silhouette;
    this.range = range;
    this.draw();
  }

  /* Below the bands of the timeline. */
  align({ left, width }: { left: number; width: number }): void {
    this.canvas.style.marginLeft = `${left}px`;
    this.canvas.style.width = `${width}px`;
  }

  setRange(range: Range): void {
    this.range = range;
    this.draw();
  }

  private nsPerPx(): number {
    const { from, to } = this.shown?.bounds ?? { from: 0, to: 1 };
    return (to - from) / Math.max(this.canvas.clientWidth, 1);
  }

  private x(ns: number): number {
    return (ns - (this.shown?.bounds.from ?? 0)) / this.nsPerPx();
  }

  private gripAt(x: number): Grip {
    if (Math.abs(x - this.x(this.range.from)) < edgePx) return 'from';
    if (Math.abs(x - this.x(this.range.to)) < edgePx) return 'to';
    return 'both';
  }

  /* A press outside the window moves the window there. */
  private begin(event: PointerEvent): void {
    const x = event.offsetX;
    const ns = (this.shown?.bounds.from ?? 0) + x * this.nsPerPx();
    const grip = this.gripAt(x);

    this.canvas.setPointerCapture(event.pointerId);
    if (grip === 'both' && (ns < this.range.from || ns > this.range.to)) {
      const half = (this.range.to - this.range.from) / 2;
      this.change({ from: ns - half, to: ns + half });
    }
    this.drag = { grip, startX: x, range: this.range };
  }

  private move(event: PointerEvent): void {
    if (!this.drag) {
      this.canvas.classList.toggle('edge', this.gripAt(event.offsetX) !== 'both');
      return;
    }
    const by = (event.offsetX - this.drag.startX) * this.nsPerPx();
    const { grip, range } = this.drag;
    const from = range.from + (grip === 'to' ? 0 : by);
    const to = range.to + (grip === 'from' ? 0 : by);
    if (from < to) this.change({ from, to });
  }

  private change(range: Range): void {
    if (this.shown) this.moved(clampRange(range, this.shown.bounds));
  }

  private draw(): void {
    const context = this.canvas.getContext('2d');
    const scale = window.devicePixelRatio;
    const { clientWidth: width, clientHeight: height } = this.canvas;

    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    if (!context || !this.shown) return;
    context.scale(scale, scale);
    this.drawTotals(context, height);
    this.drawWindow(context, width, height);
  }

  private drawTotals(context: CanvasRenderingContext2D, height: number): void {
    const { times, bytes, bounds } = this.shown as Silhouette;
    const highest = bytes.reduce((a, b) => Math.max(a, b), 1);
    let y = height;

    context.fillStyle = colour(inks.deepShade);
    context.beginPath();
    context.moveTo(this.x(bounds.from), height);
    for (const [i, time] of times.entries()) {
      context.lineTo(this.x(time), y);
      y = height - ((bytes[i] ?? 0) / highest) * (height - 3);
      context.lineTo(this.x(time), y);
    }
    context.lineTo(this.x(bounds.to), y);
    context.lineTo(this.x(bounds.to), height);
    context.fill();
  }

  private drawWindow(context: CanvasRenderingContext2D, width: number, height: number): void {
    const left = this.x(this.range.from);
    const right = this.x(this.range.to);

    context.fillStyle = colour(inks.paper);
    context.globalAlpha = 0.7;
    context.fillRect(0, 0, left, height);
    context.fillRect(right, 0, width - right, height);
    context.globalAlpha = 1;
    context.strokeStyle = colour(inks.text);
    context.lineWidth = 1.5;
    context.strokeRect(left + 0.75, 0.75, Math.max(right - left - 1.5, 1), height - 1.5);
  }
}
