/* Sentences instead of a view: it loads, it failed, there is nothing to show.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { ApiError } from '../api/client';
import { h } from './element';
import { toolbar } from './toolbar';

export function loading(): HTMLElement {
  return h('p', { class: 'notice quiet', role: 'status' }, 'Reading the trace …');
}

export function nothing(...sentences: string[]): HTMLElement {
  return h('p', { class: 'notice' }, sentences.join(' '));
}

const unprocessable = 422; // the command ran and has nothing to show, or cannot read the trace

/* Messages of the command begin in lower case and have no full stop. A path stays as it is. */
export function asSentence(text: string): string {
  const begin = /^[a-z']+ /.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
  return /[.!?]$/.test(begin) ? begin : `${begin}.`;
}

/* The reason, below the command that gave it. */
export function failure(error: unknown): HTMLElement {
  const text = asSentence(error instanceof Error ? error.message : String(error));
  const isAnswer = error instanceof ApiError && error.status === unprocessable;
  const reason = h('p', { class: isAnswer ? 'notice' : 'notice failure', role: 'alert' }, text);

  return withCommand(error, reason);
}

/* Puts the command that failed, if one ran, above the words about it. */
export function withCommand(error: unknown, words: HTMLElement): HTMLElement {
  if (!(error instanceof ApiError) || error.command === '') return words;
  return h('div', {}, toolbar([error.command], {}), words);
}

export function remarks(sentences: readonly string[]): HTMLElement | null {
  if (sentences.length === 0) return null;
  return h('p', { class: 'remarks' }, sentences.join(' '));
}
