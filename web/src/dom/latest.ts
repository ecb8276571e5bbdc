/* Runs requests whose results replace each other: only the latest is shown.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { replaceContent } from './focus';
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
    replaceContent(this.place, content);
    return true;
  }

  private wait(turn: number): void {
    if (turn !== this.turn) return;
    this.place.setAttribute('aria-busy', 'true');
    if (this.place.childElementCount === 0) this.place.replaceChildren(loading());
  }
}
