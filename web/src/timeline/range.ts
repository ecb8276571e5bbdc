/* The visible part of a timeline.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

import type { Plot } from '../api/types';

export interface Range {
  from: number; // ns
  to: number;
}

const shortestNs = 10;

/* Keeps the length where possible, and the range inside the bounds. */
export function clampRange(range: Range, bounds: Range): Range {
  const whole = bounds.to - bounds.from;
  const length = Math.min(Math.max(range.to - range.from, Math.min(shortestNs, whole)), whole);
  const from = Math.min(Math.max(range.from, bounds.from), bounds.to - length);

  return { from: Math.round(from), to: Math.round(from + length) };
}

/* @factor  below 1: closer
 * @center  stays where it is on the screen */
export function zoom(range: Range, factor: number, center: number, bounds: Range): Range {
  const length = Math.max((range.to - range.from) * factor, shortestNs);
  const left = (center - range.from) / (range.to - range.from);
  const from = center - left * length;

  return clampRange({ from, to: from + length }, bounds);
}

/* @share  of the visible part; negative: to the left */
export function pan(range: Range, share: number, bounds: Range): Range {
  const by = (range.to - range.from) * share;
  return clampRange({ from: range.from + by, to: range.to + by }, bounds);
}

/* Moves the range only if the moment is outside. */
export function reveal(range: Range, moment: number, bounds: Range): Range {
  const half = (range.to - range.from) / 2;

  if (moment >= range.from && moment <= range.to) return range;
  return clampRange({ from: moment - half, to: moment + half }, bounds);
}

interface Span {
  begin_ns: number;
  end_ns: number;
  paused_ns?: number;
}

/* A pause of the recording is no time of the step in which it began. */
export function durationOf(span: Span): number {
  return span.end_ns - span.begin_ns - (span.paused_ns ?? 0);
}

const lengthiest = 1.5; // times the longest other step

/* The last step lasts until its process ends, which may take much longer than a step. */
function endOf(steps: readonly Span[], last: Span): number {
  const longest = steps.slice(0, -1).reduce((most, step) => Math.max(most, durationOf(step)), 0);
  return longest > 0 ? Math.min(last.end_ns, last.begin_ns + lengthiest * longest) : last.end_ns;
}

/* All steps with a margin, so that imports before them do not take half of the picture. */
export function fitToSteps(steps: readonly Span[], bounds: Range): Range {
  const first = steps[0];
  const last = steps[steps.length - 1];

  if (!first || !last || last.end_ns <= first.begin_ns) return bounds;
  const end = endOf(steps, last);
  const margin = (end - first.begin_ns) * 0.02;
  const from = Math.max(first.begin_ns - margin, bounds.from);
  const to = Math.min(end + margin, bounds.to);
  return { from: Math.round(from), to: Math.round(to) };
}

/* Nearly the same from the marks of a picture, of which the last may be left out. A last mark with little
 * behind it ends a step, another begins one. */
export function fitToMarks(plot: Pick<Plot, 'marks' | 'marks_left_out'>, bounds: Range): Range {
  const times = plot.marks.filter(({ kind }) => kind === 'step').map(({ time_ns }) => time_ns);
  const [first, last] = [times[0], times[times.length - 1]];

  if (first === undefined || last === undefined) return bounds;
  const stepNs = (last - first) / Math.max(times.length - 1, 1);
  const isEnd = plot.marks_left_out === 0 && times.length > 1 && bounds.to - last < stepNs / 2;
  const begins = isEnd ? times.slice(0, -1) : times;
  const end = isEnd ? last : bounds.to;
  return fitToSteps(begins.map((begin_ns, i) => ({ begin_ns, end_ns: begins[i + 1] ?? end })), bounds);
}
