/* On an exported page: what it contains and what it leaves out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { excerptSentences, type Excerpt } from '../api/excerpt';
import { h } from '../dom/element';

export function excerptNotice(excerpt: Excerpt): HTMLElement {
  const sentences = excerptSentences(excerpt).map((text) => h('p', {}, text));
  const commands = excerpt.left_out.map((command) => h('li', {}, h('code', {}, command)));
  const list = commands.length === 0 ? null : h('div', {}, h('p', {}, 'For lack of room:'), h('ul', {}, ...commands));

  return h('details', { class: 'excerpt health' }, h('summary', {}, 'An excerpt: what this file leaves out'), ...sentences, list);
}
