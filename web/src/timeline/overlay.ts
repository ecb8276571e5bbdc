/* What a timeline shows above and over its bands: steps, phases, pauses, markers, refusals, chosen moments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import uPlot from 'uplot';
import type { Mark, Plot } from '../api/types';
import { formatBytes } from '../format/bytes';
import { labelStride } from '../format/marks';
import type { Moments } from '../instant/moments';
import { inks } from '../theme/inks';
import { colour } from '../theme/theme';
import { phaseSpans } from './phases';

export const overlayEm = 2.9; // above the bands
const stepRowEm = 1; // baseline, below the top
const phaseRowEm = [1.4, 2.6] as const;
const stepLabelEm = 3;
const lineMinPx = 8; // of two lines that are closer to each other, the second is left out

type Occasions = Pick<Plot, 'marks' | 'pauses'>;

/* Drawing in CSS pixels, with x in ns. */
interface Pen {
  context: CanvasRenderingContext2D;
  em: number; // of the font
  x: (ns: number) => number;
  left: number;
  right: number;
  top: number;
  bottom: number;
  from: number;
  to: number;
}

function penOf(u: uPlot, em: number): Pen {
  const scale = uPlot.pxRatio;
  const { left, top, width, height } = u.bbox;

  return {
    context: u.ctx,
    em,
    x: (ns) => u.valToPos(ns, 'x') + left / scale,
    left: left / scale,
    right: (left + width) / scale,
    top: top / scale,
    bottom: (top + height) / scale,
    from: u.scales.x?.min ?? 0,
    to: u.scales.x?.max ?? 0,
  };
}

function verticalLine(pen: Pen, ns: number, top: number, dash: number[] = []): void {
  const x = Math.round(pen.x(ns)) + 0.5;

  pen.context.setLineDash(dash);
  pen.context.beginPath();
  pen.context.moveTo(x, top);
  pen.context.lineTo(x, pen.bottom);
  pen.context.stroke();
  pen.context.setLineDash([]);
}

function visible(pen: Pen, marks: readonly Mark[], kind: Mark['kind']): Mark[] {
  return marks.filter((mark) => mark.kind === kind && mark.time_ns >= pen.from && mark.time_ns <= pen.to);
}

interface Place {
  top: number;
  y: number;
  dash: number[];
  rows?: number; // for names that would overlap
  plate?: boolean;
}

const rowEm = 1.7;

/* Lines with names beside them: to the right if there is room, in the next row where they would overlap, none
 * where all rows are taken. */
function namedLines(pen: Pen, marks: readonly Mark[], place: Place, name: (mark: Mark) => string): void {
  const free = new Array<number>(place.rows ?? 1).fill(pen.left); // where the last name of each row ends

  for (const mark of marks) {
    const x = pen.x(mark.time_ns);
    const text = name(mark);
    const width = pen.context.measureText(text).width + 3;
    const left = x + width > pen.right ? x - width : x + 3;

    verticalLine(pen, mark.time_ns, place.top, place.dash);
    const row = free.findIndex((end) => left >= end);
    if (row < 0) continue;
    free[row] = left + width;
    const y = place.y + row * rowEm * pen.em;
    if (place.plate) drawPlate(pen, left, y, width);
    haloText(pen, text, left, y);
  }
}

/* Behind red letters, which a halo does not lift off coloured bands. */
function drawPlate(pen: Pen, left: number, y: number, width: number): void {
  const { fillStyle } = pen.context;

  pen.context.fillStyle = colour(inks.paper);
  pen.context.fillRect(left - 3, y - 1.1 * pen.em, width + 3, 1.5 * pen.em);
  pen.context.fillStyle = fillStyle;
}

/* Readable on any band. */
function haloText(pen: Pen, text: string, x: number, y: number): void {
  const { strokeStyle, lineWidth } = pen.context;

  pen.context.strokeStyle = colour(inks.paper);
  pen.context.lineWidth = 3;
  pen.context.lineJoin = 'round';
  pen.context.strokeText(text, x, y);
  pen.context.fillText(text, x, y);
  pen.context.strokeStyle = strokeStyle;
  pen.context.lineWidth = lineWidth;
}

function drawStepLine(pen: Pen, ns: number, top: number): void {
  pen.context.strokeStyle = colour(inks.axis);
  pen.context.globalAlpha = 0.55;
  verticalLine(pen, ns, top, [2, 3]);
  pen.context.globalAlpha = 1;
}

/* Lines without a number end below the numbers and phases. */
function drawSteps(pen: Pen, marks: readonly Mark[]): void {
  const steps = visible(pen, marks, 'step');
  const stepPx = (pen.right - pen.left) / Math.max(steps.length, 1);
  const stride = labelStride(stepPx, stepLabelEm * pen.em);

  pen.context.fillStyle = colour(inks.quiet);
  let free = pen.left; // to the right of the last number: steps may be far apart, then close
  let line = -Infinity;
  for (const [i, step] of steps.entries()) {
    const number = step.number ?? 0;
    const text = i === 0 ? `step ${number}` : String(number);
    const x = pen.x(step.time_ns) + 3;
    const isNamed = (i === 0 || number % stride === 0) && x >= free;
    if (isNamed || x - line >= lineMinPx) {
      drawStepLine(pen, step.time_ns, isNamed ? 0 : pen.top);
      line = x;
    }
    if (!isNamed) continue;
    pen.context.fillText(text, x, stepRowEm * pen.em);
    free = x + pen.context.measureText(text).width + 3;
  }
}

const phaseShade: Record<string, keyof typeof inks> = { forward: 'grid', backward: 'deepShade' };

function drawPhase(pen: Pen, name: string, from: number, to: number): void {
  const left = Math.max(pen.x(from), pen.left);
  const width = Math.min(pen.x(to), pen.right) - left;
  const [top, bottom] = [phaseRowEm[0] * pen.em, phaseRowEm[1] * pen.em];

  if (width < 1) return;
  pen.context.fillStyle = colour(inks[phaseShade[name] ?? 'shade']);
  pen.context.fillRect(left, top, width, bottom - top);
  pen.context.fillStyle = colour(inks.text);
  if (pen.context.measureText(name).width < width - 6) pen.context.fillText(name, left + 3, bottom - 0.25 * pen.em);
}

/* Nothing is known of the memory in a pause: what is drawn there only goes on. */
function drawPauses(pen: Pen, pauses: NonNullable<Plot['pauses']>): void {
  for (const pause of pauses) {
    const left = Math.max(pen.x(pause.from_ns), pen.left);
    const width = Math.min(pen.x(pause.to_ns), pen.right) - left;
    if (width < 1) continue;
    pen.context.fillStyle = colour(inks.paper);
    pen.context.globalAlpha = 0.6;
    pen.context.fillRect(left, pen.top, width, pen.bottom - pen.top);
    pen.context.globalAlpha = 1;
    pen.context.strokeStyle = colour(inks.quiet);
    verticalLine(pen, Math.max(pause.from_ns, pen.from), pen.top, [2, 3]);
    verticalLine(pen, Math.min(pause.to_ns, pen.to), pen.top, [2, 3]);
    pen.context.fillStyle = colour(inks.text);
    if (pen.context.measureText('paused').width < width - 6) haloText(pen, 'paused', left + 3, pen.bottom - 0.5 * pen.em);
  }
}

function drawPhases(pen: Pen, marks: readonly Mark[]): void {
  for (const span of phaseSpans(marks, pen.to))
    if (span.to > pen.from && span.from < pen.to) drawPhase(pen, span.name, span.from, span.to);
}

function drawNamed(pen: Pen, marks: readonly Mark[]): void {
  const y = pen.top + pen.em;

  pen.context.strokeStyle = colour(inks.quiet);
  pen.context.fillStyle = colour(inks.text);
  namedLines(pen, visible(pen, marks, 'marker'), { top: pen.top, y, dash: [6, 3] }, (mark) => `⚑ ${mark.name ?? ''}`);
  namedLines(pen, visible(pen, marks, 'epoch'), { top: 0, y: y + 1.1 * pen.em, dash: [] }, (mark) => `epoch ${mark.number ?? ''}`);
}

function drawRefusals(pen: Pen, marks: readonly Mark[]): void {
  const place = { top: pen.top, y: pen.top + 3.2 * pen.em, dash: [], rows: 3, plate: true };

  pen.context.strokeStyle = colour(inks.red);
  pen.context.fillStyle = colour(inks.red);
  namedLines(pen, visible(pen, marks, 'oom'), place, (mark) => `✕ out of memory${mark.bytes ? `: ${formatBytes(mark.bytes)}` : ''}`);
}

interface Flag {
  text: string;
  row: number; // from the bottom: two flags do not cover each other
  dash: number[];
}

function drawMoment(pen: Pen, ns: number | null, flag: Flag): void {
  if (ns === null || ns < pen.from || ns > pen.to) return;
  pen.context.strokeStyle = colour(inks.text);
  pen.context.lineWidth = 1.5;
  verticalLine(pen, ns, pen.top, flag.dash);
  pen.context.lineWidth = 1;
  drawFlag(pen, pen.x(ns), flag);
}

/* Beside the line, on the side where there is room. */
function drawFlag(pen: Pen, x: number, { text, row }: Flag): void {
  const width = pen.context.measureText(text).width + 8;
  const left = x + width > pen.right ? x - width : x;
  const bottom = pen.bottom - 1.5 * row * pen.em;

  pen.context.fillStyle = colour(inks.text);
  pen.context.fillRect(left, bottom - 1.4 * pen.em, width, 1.4 * pen.em);
  pen.context.fillStyle = colour(inks.paper);
  pen.context.fillText(text, left + 4, bottom - 0.4 * pen.em);
}

/* @fontPx  size of the texts */
export function drawOverlay(u: uPlot, { marks, pauses }: Occasions, moments: Moments, fontPx: number): void {
  const pen = penOf(u, fontPx);

  u.ctx.save();
  u.ctx.scale(uPlot.pxRatio, uPlot.pxRatio);
  u.ctx.font = `${fontPx}px system-ui, sans-serif`;
  u.ctx.textAlign = 'left';
  u.ctx.textBaseline = 'alphabetic';
  u.ctx.lineWidth = 1;
  drawPauses(pen, pauses ?? []);
  drawPhases(pen, marks);
  drawSteps(pen, marks);
  drawNamed(pen, marks);
  drawMoment(pen, moments.base, { text: 'compared with', row: 1, dash: [5, 3] });
  drawMoment(pen, moments.at, { text: 'chosen', row: 0, dash: [] });
  drawRefusals(pen, marks); // last: the lines of moments would cross their names
  u.ctx.restore();
}
