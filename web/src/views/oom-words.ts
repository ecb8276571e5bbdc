/* The verdict on a refused allocation, in the words of `memledger oom`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { OomChange, OomVerdict } from '../api/types';
import { formatBytes } from '../format/bytes';
import { formatDuration } from '../format/time';

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function askedWords(v: OomVerdict): string {
  const limit = v.group_limit_bytes ?? null;

  if (v.killed && limit !== null)
    return `The kernel killed process ${v.pid} to keep the memory limit of its control group, ${formatBytes(limit)}. Its last allocation was of`;
  return `${v.pid ? `Process ${v.pid}` : 'The program'} asked for`;
}

export function requestSentence(v: OomVerdict): string {
  const place = v.module ?? v.scope;
  const kind = v.class === null ? '' : ` (${v.class})`;
  const inside = place === null ? '' : `, in ${place}${kind}`;
  const phase = v.phase === null ? '' : `, ${v.phase}: ${v.killed ? 'probably' : 'it would be'} ${v.category}`;
  const line = v.line === null ? '' : `, at ${v.line}`;

  return `${askedWords(v)} ${formatBytes(v.asked_bytes)} on ${v.device} (${v.space})${inside}${phase}${line}.`;
}

function limitSentence(limit: number, used: number | null): string {
  const inUse = used === null ? '' : `, of which ${formatBytes(used)} was in use`;
  return `The limit on the process’s address space (ulimit -v, RLIMIT_AS) forbade it: ${formatBytes(limit)}${inUse}.`;
}

function sampledSentence(free: number | null, total: number | null, ageNs: number): string {
  if (free === null) return 'The device’s free memory was not recorded.';
  const of = total === null ? '' : ` of ${formatBytes(total)}`;
  const before = ageNs > 1e8 ? `, ${formatDuration(ageNs)} before` : '';
  const old = ageNs > 1e9 ? ', too long ago to judge by it' : '';

  return `The device had ${formatBytes(free)} free${of}${before}${old}.`;
}

export function freeSentences(v: OomVerdict): string[] {
  const { segments: s } = v;
  const sentences: string[] = [];

  if (s) {
    sentences.push(`The allocator had ${formatBytes(s.bytes)} in ${plural(s.segments, 'segment')}.`);
    if (s.holes > 0)
      sentences.push(`${formatBytes(s.hole_bytes)} was free in ${plural(s.holes, 'hole')}, the largest ${formatBytes(s.largest_hole_bytes)}.`);
    sentences.push(`The largest request that would have succeeded was ${formatBytes(s.largest_request_bytes)}.`);
  }
  sentences.push(sampledSentence(v.free_bytes, v.total_bytes, v.free_age_ns ?? 0));
  if (v.rule === 'address_limit' && v.address_limit_bytes !== null) sentences.push(limitSentence(v.address_limit_bytes, v.address_used_bytes));
  if (v.short_bytes !== null && v.short_bytes > 0) sentences.push(`${formatBytes(v.short_bytes)} was missing.`);
  return sentences;
}

const changes: Record<string, (change: OomChange) => string> = {
  leak: (c) => `stop the leak: ${c.module ?? 'memory'} keeps growing`,
  expandable_segments: () => 'PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True: the holes become usable',
  free_segments: (c) => `free the blocks in the emptiest segments (${String(c.segments)}), which are then released`,
  raise_limit: () => 'raise the limit of the process, its container or its allocator',
  smaller_batch: (c) =>
    typeof c.fraction === 'number'
      ? `a batch smaller by ${(100 * c.fraction).toFixed(1)} %: ${formatBytes(c.of_bytes ?? 0)} grow with it`
      : 'a smaller batch: this grows with it',
  gradients: () => 'drop the gradients before forward: zero_grad(set_to_none=True)',
  optimizer_state: () => 'keep the optimizer’s state elsewhere, or in fewer bits',
  bfloat16: (c) => `${c.of ?? 'parameters and activations'} in bf16 instead of fp32`,
  recompute: (c) => `recompute ${c.module ?? 'modules'} in backward: at most its activations`,
};

/* A change of a later version has its own name. */
export function changeText(change: OomChange): string {
  return changes[change.change]?.(change) ?? change.change;
}

export function enoughText(enough: boolean | null): string {
  if (enough === null) return '?';
  return enough ? 'yes' : 'no';
}
