/* Holds the state, keeps the address in step with it, and tells the views what changed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { formatState, parseState, type State } from './state';

type Listener = (state: State, changed: ReadonlySet<keyof State>) => void;

const writeDelayMs = 200;

/* A page in a frame of a notebook has no address of its own. */
function setAddress(how: 'pushState' | 'replaceState', state: State): void {
  try {
    history[how](null, '', `#${formatState(state)}`);
  } catch {
    // The state is that of the page alone.
  }
}

export class Store {
  private current: State;
  private writeTimer = 0;
  private readonly listeners: Listener[] = [];

  constructor() {
    this.current = parseState(location.hash);
    window.addEventListener('hashchange', () => this.replace(parseState(location.hash)));
  }

  get state(): State {
    return this.current;
  }

  onChange(listener: Listener): void {
    this.listeners.push(listener);
  }

  /* A step that the browser's back button undoes. */
  update(change: Partial<State>): void {
    const next = this.changed(change);

    if (!next) return;
    this.write();
    setAddress('pushState', next);
    this.replace(next);
  }

  /* A change that makes no entry in the history: panning, typing. Browsers limit how often the address
   * may change, so that it follows after a pause. */
  adjust(change: Partial<State>): void {
    const next = this.changed(change);

    if (!next) return;
    this.replace(next);
    clearTimeout(this.writeTimer);
    this.writeTimer = window.setTimeout(() => this.write(), writeDelayMs);
  }

  private changed(change: Partial<State>): State | null {
    const next = { ...this.current, ...change };
    return formatState(next) === formatState(this.current) ? null : next;
  }

  private write(): void {
    clearTimeout(this.writeTimer);
    setAddress('replaceState', this.current);
  }

  private replace(next: State): void {
    const before = this.current;
    const keys = Object.keys(next) as (keyof State)[];
    const changed = new Set(keys.filter((key) => String(before[key]) !== String(next[key])));

    this.current = next;
    if (changed.size > 0) for (const listener of this.listeners) listener(next, changed);
  }
}
