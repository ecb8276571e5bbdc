/* Problems of a trace in sentences, with the words of the command line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Health } from '../api/types';
import { formatCount } from '../format/bytes';
import { formatDuration } from '../format/time';

function cutShort(health: Health): string | null {
  if (!health.cut_short) return null;
  if (health.being_written) return 'Still being recorded: this is the part written so far.';
  if (health.ignored_bytes > 0)
    return `The file is truncated: ${formatCount(health.ignored_bytes)} bytes of an incomplete block at its end are ignored.`;
  return 'The recording was not finished: memledger or the machine was stopped.';
}

function kept(health: Health): string | null {
  if (!health.window) return null;
  const { begin_ns, kept_ns } = health.window;
  return `Kept: the last ${formatDuration(kept_ns)} of ${formatDuration(begin_ns + kept_ns)}. Blocks that were freed before are missing.`;
}

function imported(health: Health): string | null {
  if (!health.imported_from) return null;
  const unknown = health.unknown?.length ? `; unknown: ${health.unknown.join(', ')}` : '';
  const inferred = health.inferred?.length ? '; categories inferred from stacks' : '';
  return `Imported from ${health.imported_from}${unknown}${inferred}.`;
}

function counted(count: number, one: string, many: string): string | null {
  return count === 0 ? null : `${formatCount(count)} ${count === 1 ? one : many}`;
}

export function healthSentences(health: Health): string[] {
  return [
    imported(health),
    kept(health),
    cutShort(health),
    counted(health.lost, 'event was lost.', 'events were lost.'),
    counted(health.damaged_blocks, 'damaged block was skipped.', 'damaged blocks were skipped.'),
    counted(health.names_folded, 'name was recorded as “(other names)”.', 'names were recorded as “(other names)”.'),
  ].filter((sentence) => sentence !== null);
}
