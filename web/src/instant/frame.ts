/* What the panels of an instant share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Answer } from '../api/client';
import type { Health, Instant } from '../api/types';
import { toolbar, type Copies } from '../dom/toolbar';
import { h } from '../dom/element';
import { formatBytes, formatCount, formatExact } from '../format/bytes';
import { formatDuration } from '../format/time';

/* A time is written as such already; "peak", "step 3" and others are named.
 * @at  as for --at; the answer has only its kind */
export function instantName(instant: string, at: string): string {
  if (instant === 'time') return '';
  return ` (${at.startsWith(`${instant}:`) ? at.replace(/:/g, ' ') : instant})`;
}

/* An imported trace may have only the order of its events. */
export function hasTimes(health: Health): boolean {
  return !health.unknown?.includes('times');
}

/* "58.3 MiB live in 246 blocks at 1 min 36 s (peak)" */
export function instantHeading(data: Instant, at = ''): HTMLElement {
  const size = h('strong', { title: formatExact(data.bytes) }, formatBytes(data.bytes));
  const blocks = `${formatCount(data.blocks)} block${data.blocks === 1 ? '' : 's'}`;
  const when = hasTimes(data.health)
    ? h('span', { title: `${formatCount(data.at_ns)} ns` }, formatDuration(data.at_ns))
    : h('span', {}, `event ${formatCount(data.at_ns)}`);

  return h('p', { class: 'heading' }, size, ` live in ${blocks} at `, when, instantName(data.instant, at));
}

/* @answers  what the content was made of, at least one */
export function panel(answers: readonly Answer<unknown>[], copies: Copies, ...content: (Node | null)[]): HTMLElement {
  const data = answers.length === 1 ? answers[0]?.data : answers.map((answer) => answer.data);
  const json = () => JSON.stringify(data, null, 2);
  const body = h('div', { class: 'panel' }, toolbar(answers.map(({ command }) => command), { json, ...copies }));

  body.append(...content.filter((node) => node !== null));
  return body;
}
