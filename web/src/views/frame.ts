/* A view below the tabs: a title, its command, its content.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Answer } from '../api/client';
import { filtersIgnored } from '../api/filters';
import { h } from '../dom/element';
import { remarks } from '../dom/notice';
import { toolbar, type Copies } from '../dom/toolbar';
import type { State } from '../state/state';

export interface Framed {
  verb: string;
  title: string;
  answer: Answer<unknown>;
  state: State;
  csv?: () => string;
  saves?: readonly HTMLElement[];
}

export function framed({ verb, title, answer, state, csv, saves }: Framed, ...content: (Node | null)[]): HTMLElement {
  const copies: Copies = { json: () => JSON.stringify(answer.data, null, 2), ...(csv ? { csv } : {}), ...(saves ? { saves } : {}) };
  const body = h('section', { class: 'view', 'aria-label': title }, h('h1', {}, title), toolbar([answer.command], copies));

  body.append(...[remarks(filtersIgnored(verb, state)), ...content].filter((node) => node !== null));
  return body;
}

/* A view that has nothing but a reason to show. */
export function failed(title: string, reason: HTMLElement): HTMLElement {
  return h('section', { class: 'view', 'aria-label': title }, h('h1', {}, title), reason);
}
