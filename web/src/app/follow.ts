/* Watches the file of the trace that is shown: it may still grow, end, or be replaced by another.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { changeOf, fileState, type Change } from '../api/files';
import type { FileState } from '../api/types';

const recordingMs = 1500;
const finishedMs = 10000;
const restFactor = 2; // between two readings of a long trace, compared with the time of one

export class Follower {
  private file = -1;
  private last: FileState | null = null;
  private timer = 0;
  private readMs = 0;

  /* @changed  reads the trace again; not called twice at once
   * @gone     the file cannot be read any more */
  constructor(
    private readonly changed: (change: Change, state: FileState) => Promise<void>,
    private readonly gone: (error: unknown) => void,
  ) {}

  follow(file: number): void {
    if (file === this.file) return;
    this.file = file;
    this.last = null;
    void this.look();
  }

  private async look(): Promise<void> {
    const { file } = this;

    clearTimeout(this.timer);
    if (file < 0) return;
    try {
      const state = await fileState(file);
      if (file === this.file) await this.compare(state);
    } catch (error) {
      if (file === this.file) this.gone(error);
    }
    if (file === this.file) this.lookAgain();
  }

  private async compare(state: FileState): Promise<void> {
    const change = this.last ? changeOf(this.last, state) : state.recording ? 'grown' : 'none';
    const begin = performance.now();

    this.last = state;
    if (change === 'none') return;
    await this.changed(change, state);
    this.readMs = performance.now() - begin;
  }

  private lookAgain(): void {
    const pause = this.last?.recording ? Math.max(recordingMs, restFactor * this.readMs) : finishedMs;
    this.timer = window.setTimeout(() => void this.look(), pause);
  }
}
