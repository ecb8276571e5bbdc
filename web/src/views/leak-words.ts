/* How a run was cut and what grew in it, in the words of `memledger leaks`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Growth, Leak, Leaks } from '../api/types';
import { formatBytes, formatChange, formatCount } from '../format/bytes';

/* A run without steps is cut into slices. */
export function unitOf(data: Growth): string {
  return data.by_slices_of === 'step' ? 'step' : 'slice';
}

export function plural(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/* Live memory is larger at the end, but nothing grew again and again. */
function onlyRose(data: Leaks): boolean {
  return data.leaks.length === 0 && data.to_bytes > data.from_bytes;
}

export function methodSentences(data: Leaks): string[] {
  const kinds: Record<string, string> = { time: 'of equal time', events: 'of equally many events' };
  const kind = kinds[data.by_slices_of];
  const sentences = [];

  if (kind !== undefined)
    sentences.push(`The run has no steps. It is cut into ${formatCount(data.slices ?? data.steps)} slices ${kind}; the first and the last, ` +
      'where a program starts and ends, are left out. Growth from one to the next may be intended.');
  if (data.other_processes > 0)
    sentences.push(`${formatCount(data.other_processes + 1)} processes mark steps, and one is shown; the filter above chooses another.`);
  return sentences;
}

function tooFew(data: Leaks): string {
  if (data.steps === 0) return `There is nothing to compare: no ${unitOf(data)} was recorded to its end.`;
  const verbs = data.steps === 1 ? 'was recorded and is' : 'were recorded and all are';
  return `There is nothing to compare: ${plural(data.steps, unitOf(data))} ${verbs} warm-up.`;
}

/* An average would suggest growth in every step where there was none. */
function changeText(data: Leaks): string {
  if (onlyRose(data)) return `${formatChange(data.to_bytes - data.from_bytes)} in all`;
  return `${data.bytes_per_step === 0 ? 'no change' : formatChange(data.bytes_per_step)} a ${unitOf(data)}`;
}

export function rangeSentence(data: Leaks): string {
  if (data.measured === 0) return tooFew(data);
  const warmUp = data.warm_up === 0 ? '' : `; ${data.warm_up} before ${data.warm_up === 1 ? 'is' : 'are'} warm-up`;

  return `${plural(data.measured, unitOf(data))}, ${data.first_step} to ${data.last_step}${warmUp}. ` +
    `Live ${formatBytes(data.from_bytes)} before them, ${formatBytes(data.to_bytes)} after: ${changeText(data)}.`;
}

export function nothingGrows(data: Leaks): string {
  const where = data.other_processes > 0 ? ' in the process that is shown' : '';
  const rise = onlyRose(data) ? `: live memory rose by ${formatBytes(data.to_bytes - data.from_bytes)}, but it did not keep rising` : '';

  return `Nothing grows from ${unitOf(data)} to ${unitOf(data)}${where}${rise}.`;
}

export function afterCaption(after: Growth): string {
  return `What grows after the last step, in ${formatCount(after.slices ?? after.steps)} slices of equal time: ` +
    `live ${formatBytes(after.from_bytes)}, then ${formatBytes(after.to_bytes)}`;
}

/* "+1", "+0.57" */
export function blocksText(leak: Leak, measured: number): string {
  const blocks = leak.blocks_per_step;
  const size = Math.floor(100 * Math.abs(blocks) + 0.5) / 100;
  return `${blocks < 0 ? '-' : '+'}${size.toFixed(leak.grown_blocks % measured === 0 ? 0 : 2)}`;
}

/* Data that a program collects until it is done, and a leak of a server that ends cleanly, look the same. */
export function fateSentence(data: Leaks): string[] {
  const isKnown = data.leaks.some((leak) => leak.never_freed_bytes !== undefined);
  const left = data.never_freed?.growing_bytes ?? 0;

  if (!isKnown) return [];
  return [left > 0 ? `${formatBytes(left)} of this growth was never freed.`
    : 'All of this was freed before the program ended. A program that collects data until it is done looks like this, ' +
      'and so does a server that keeps too much and ends cleanly.'];
}
