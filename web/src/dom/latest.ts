/* Runs requests whose results replace each other: only the latest is shown.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { failure, loading } from './notice';

const patienceMs = 150; // a quick answer replaces the old content without a flash

export class Latest {
  private turn = 0;

  constructor(private readonly place: HTMLElement) {}

  /* @make  the content; an error becomes a sentence. @return false: a later one took its place */
  async show(make: () => Promise<Node>): Promise<boolean> {
    const turn = ++this.turn;
    const patience = setTimeout(() => this.wait(turn), patienceMs);
    const content = await make().catch(failure);

    clearTimeout(patience);
    if (turn !== this.turn) return false;
    this.place.removeAttribute('aria-busy');
    this.replace(content);
    return true;
  }

  /* A control that had the focus keeps it if the new content has one of its name. */
  private replace(content: Node): void {
    const name = this.place.contains(document.activeElement) ? document.activeElement?.getAttribute('name') : null;

    this.place.replaceChildren(content);
    if (name) this.place.querySelector<HTMLElement>(`[name="${CSS.escape(name)}"]`)?.focus();
  }

  private wait(turn: number): void {
    if (turn !== this.turn) return;
    this.place.setAttribute('aria-busy', 'true');
    if (this.place.childElementCount === 0) this.place.replaceChildren(loading());
  }
}
