/* What drawings draw on: a canvas on the screen, or an SVG file (svg.ts). In CSS pixels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { inks, type Ink } from './inks';
import { partFill } from './patterns';
import { colour } from './theme';

/* An ink, or the ink and hatch of a category or a band. */
export type Fill = Ink | number;

export type Point = readonly [x: number, y: number];

export interface TextStyle {
  px: number; // height of the font
  halo?: boolean; // on a strip of paper, readable on any fill
  quiet?: boolean;
}

export interface Surface {
  rect(x: number, y: number, width: number, height: number, fill: Fill): void;
  frame(x: number, y: number, width: number, height: number): void;
  line(x1: number, y1: number, x2: number, y2: number, ink: Ink): void;
  area(points: readonly Point[], fill: Fill): void; // closed by itself
  path(points: readonly Point[], ink: Ink, dash: readonly number[]): void;
  text(x: number, y: number, text: string, style: TextStyle): void; // y: the middle
  measure(text: string, px: number): number;
  setAlpha(alpha: number): void;
}

export const fontFamily = 'system-ui, sans-serif';

export class CanvasSurface implements Surface {
  private readonly fills = new Map<number, CanvasPattern | string>();

  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly scale: number, // device pixels of a CSS pixel
  ) {}

  rect(x: number, y: number, width: number, height: number, fill: Fill): void {
    this.context.fillStyle = typeof fill === 'number' ? this.partFill(fill) : colour(fill);
    this.context.fillRect(x, y, width, height);
  }

  frame(x: number, y: number, width: number, height: number): void {
    this.context.strokeStyle = colour(inks.text);
    this.context.lineWidth = 2;
    this.context.strokeRect(x, y, width, height);
  }

  line(x1: number, y1: number, x2: number, y2: number, ink: Ink): void {
    this.context.strokeStyle = colour(ink);
    this.context.lineWidth = 1;
    this.context.beginPath();
    this.context.moveTo(x1, y1);
    this.context.lineTo(x2, y2);
    this.context.stroke();
  }

  area(points: readonly Point[], fill: Fill): void {
    this.context.fillStyle = typeof fill === 'number' ? this.partFill(fill) : colour(fill);
    this.trace(points);
    this.context.fill();
  }

  path(points: readonly Point[], ink: Ink, dash: readonly number[]): void {
    this.context.strokeStyle = colour(ink);
    this.context.lineWidth = 1.5;
    this.context.setLineDash([...dash]);
    this.trace(points);
    this.context.stroke();
    this.context.setLineDash([]);
  }

  text(x: number, y: number, text: string, { px, halo = false, quiet = false }: TextStyle): void {
    this.context.font = `${px}px ${fontFamily}`;
    this.context.textBaseline = 'middle';
    if (halo) this.halo(x, y, text);
    this.context.fillStyle = colour(quiet ? inks.quiet : inks.text);
    this.context.fillText(text, x, y);
  }

  measure(text: string, px: number): number {
    this.context.font = `${px}px ${fontFamily}`;
    return this.context.measureText(text).width;
  }

  setAlpha(alpha: number): void {
    this.context.globalAlpha = alpha;
  }

  private trace(points: readonly Point[]): void {
    this.context.beginPath();
    for (const [x, y] of points) this.context.lineTo(x, y);
  }

  private halo(x: number, y: number, text: string): void {
    this.context.lineWidth = 3;
    this.context.lineJoin = 'round';
    this.context.strokeStyle = colour(inks.paper);
    this.context.strokeText(text, x, y);
  }

  private partFill(part: number): CanvasPattern | string {
    const fill = this.fills.get(part) ?? partFill(this.context, part, this.scale);

    this.fills.set(part, fill);
    return fill;
  }
}

/* Makes the canvas as large as its place, and clears it. @return null: the browser has no canvas */
export function beginCanvas(canvas: HTMLCanvasElement): Surface | null {
  const scale = window.devicePixelRatio;
  const context = canvas.getContext('2d');

  canvas.width = Math.round(canvas.clientWidth * scale);
  canvas.height = Math.round(canvas.clientHeight * scale);
  if (!context) return null;
  context.scale(scale, scale);
  return new CanvasSurface(context, 1);
}
