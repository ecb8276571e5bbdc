/* A surface whose drawing becomes an SVG file: text stays text, and names stay names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { hatchOpacity, hatchTilePx, inks, partHatch, partInk, type Ink } from './inks';
import type { Fill, Point, Surface, TextStyle } from './surface';
import { fontFamily } from './surface';
import { colour } from './theme';

const meanLetter = 0.56; // width of a letter, in heights of the font

export function escapeXml(text: string): string {
  const names: Record<string, string> = { '<': '&lt;', '>': '&gt;', '&': '&amp;', '"': '&quot;', "'": '&apos;' };
  // XML cannot contain most control characters.
  return [...text].map((c) => (c < ' ' ? ' ' : (names[c] ?? c))).join('');
}

function round(value: number): string {
  return String(Math.round(100 * value) / 100);
}

export class SvgSurface implements Surface {
  private readonly shapes: string[] = [];
  private readonly parts = new Set<number>();
  private opacity = '';

  constructor(
    private readonly width: number,
    private readonly height: number,
  ) {}

  rect(x: number, y: number, width: number, height: number, fill: Fill): void {
    this.shapes.push(`<rect ${this.box(x, y, width, height)} fill="${this.paint(fill)}"${this.opacity}/>`);
  }

  area(points: readonly Point[], fill: Fill): void {
    this.shapes.push(`<path d="${pathData(points)}Z" fill="${this.paint(fill)}"${this.opacity}/>`);
  }

  path(points: readonly Point[], ink: Ink, dash: readonly number[]): void {
    this.shapes.push(`<path d="${pathData(points)}" fill="none" stroke="${colour(ink)}" stroke-width="1.5" stroke-dasharray="${dash.join(' ')}"/>`);
  }

  frame(x: number, y: number, width: number, height: number): void {
    this.shapes.push(`<rect ${this.box(x, y, width, height)} fill="none" stroke="${colour(inks.text)}" stroke-width="2"/>`);
  }

  line(x1: number, y1: number, x2: number, y2: number, ink: Ink): void {
    const ends = `x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}"`;
    this.shapes.push(`<line ${ends} stroke="${colour(ink)}"${this.opacity}/>`);
  }

  text(x: number, y: number, text: string, { px, halo = false, quiet = false }: TextStyle): void {
    const paint = `fill="${colour(quiet ? inks.quiet : inks.text)}"`;
    const paper = halo ? ` stroke="${colour(inks.paper)}" stroke-width="3" paint-order="stroke"` : '';
    const place = `x="${round(x)}" y="${round(y)}" font-size="${round(px)}" dominant-baseline="central"`;

    if (text !== '') this.shapes.push(`<text ${place} ${paint}${paper}${this.opacity}>${escapeXml(text)}</text>`);
  }

  measure(text: string, px: number): number {
    return text.length * px * meanLetter;
  }

  setAlpha(alpha: number): void {
    this.opacity = alpha < 1 ? ` opacity="${alpha}"` : '';
  }

  file(title: string): string {
    const size = `width="${round(this.width)}" height="${round(this.height)}" viewBox="0 0 ${round(this.width)} ${round(this.height)}"`;
    const patterns = [...this.parts].map(patternOf).join('\n');

    return [
      `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="${fontFamily}">`,
      `<title>${escapeXml(title)}</title>`,
      `<defs>${patterns}</defs>`,
      `<rect width="100%" height="100%" fill="${colour(inks.paper)}"/>`,
      ...this.shapes,
      '</svg>\n',
    ].join('\n');
  }

  private paint(fill: Fill): string {
    if (typeof fill !== 'number') return colour(fill);
    this.parts.add(fill);
    return `url(#part-${fill})`;
  }

  private box(x: number, y: number, width: number, height: number): string {
    return `x="${round(x)}" y="${round(y)}" width="${round(Math.max(width, 0))}" height="${round(Math.max(height, 0))}"`;
  }
}

function pathData(points: readonly Point[]): string {
  return points.map(([x, y], i) => `${i === 0 ? 'M' : 'L'}${round(x)} ${round(y)}`).join('');
}

/* The ink of a category or band under its hatch. */
function patternOf(part: number): string {
  const lines = partHatch(part).map(([x1, y1, x2, y2]) => `M${x1} ${y1}L${x2} ${y2}`);
  const hatch = lines.length === 0 ? '' : `<path d="${lines.join('')}" stroke="${colour(inks.text)}" stroke-opacity="${hatchOpacity}"/>`;

  return (
    `<pattern id="part-${part}" width="${hatchTilePx}" height="${hatchTilePx}" patternUnits="userSpaceOnUse">` +
    `<rect width="${hatchTilePx}" height="${hatchTilePx}" fill="${colour(partInk(part))}"/>${hatch}</pattern>`
  );
}
