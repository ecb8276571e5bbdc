/* The visible part of a timeline.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

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
}

/* All steps with a margin, so that imports before them do not take half of the picture. */
export function fitToSteps(steps: readonly Span[], bounds: Range): Range {
  const first = steps[0];
  const last = steps[steps.length - 1];

  if (!first || !last || last.end_ns <= first.begin_ns) return bounds;
  const margin = (last.end_ns - first.begin_ns) * 0.02;
  const from = Math.max(first.begin_ns - margin, bounds.from);
  const to = Math.min(last.end_ns + margin, bounds.to);
  return { from: Math.round(from), to: Math.round(to) };
}
