/* Keeps calls apart: the first happens at once, of those that follow soon only the last, after a pause.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
export class Pace {
  private timer = 0;
  private lastMs = -Infinity;

  constructor(private readonly pauseMs: number) {}

  call(action: () => void): void {
    const sinceMs = performance.now() - this.lastMs;

    this.lastMs = performance.now();
    clearTimeout(this.timer);
    if (sinceMs > this.pauseMs) action();
    else this.timer = window.setTimeout(action, this.pauseMs);
  }
}
