/* A frame of a stack in words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Frame } from '../api/types';

/* From the frame that asked for memory on, as the command line prints a stack: operator new says nothing. */
export function askingFrames(of: { stack?: Frame[] | null; asker?: number } | undefined): Frame[] {
  return (of?.stack ?? []).slice(of?.asker ?? 0);
}

/* "forward (model.py:12)", "malloc (libc.so.6)", "+0x1234 (libtorch.so)" */
export function frameText(frame: Frame): string {
  const name = frame.function ?? (frame.offset === undefined ? '(unknown)' : `+0x${frame.offset.toString(16)}`);
  const library = frame.library?.split('/').at(-1) ?? null;
  const place = frame.file ? `${frame.file}${frame.line ? `:${frame.line}` : ''}` : library;

  return place === null ? name : `${name} (${place})`;
}
