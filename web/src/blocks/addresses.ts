/* Blocks at their addresses over time. Wide gaps between used addresses are cut out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Tile } from '../api/types';
import { blockCount, nameOf, type Layout } from './tile';

interface Span {
  from: number;
  to: number;
}

interface Region extends Span {
  y: number; // of `from`
}

const gapShare = 0.02; // of the used bytes: wider gaps are cut out …
const cutShare = 0.01; // … and are drawn this wide

function spansOf(tile: Tile, blocks: readonly number[]): Span[] {
  const spans = blocks.map((block) => {
    const from = tile.list.address[block] as number;
    return { from, to: from + (tile.list.bytes[block] as number) };
  });
  return spans.sort((a, b) => a.from - b.from);
}

/* Spans that are closer than `gap` become one. */
export function mergeSpans(sorted: readonly Span[], gap: number): Span[] {
  const merged: Span[] = [];

  for (const span of sorted) {
    const last = merged[merged.length - 1];
    if (last && span.from - last.to <= gap) last.to = Math.max(last.to, span.to);
    else merged.push({ ...span });
  }
  return merged;
}

function length(spans: readonly Span[]): number {
  return spans.reduce((sum, span) => sum + span.to - span.from, 0);
}

/* The region of an address, by bisection. */
function regionOf(regions: readonly Region[], address: number): Region {
  let [low, high] = [0, regions.length - 1];

  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((regions[middle] as Region).from <= address) low = middle;
    else high = middle - 1;
  }
  return regions[low] as Region;
}

/* Addresses of one process or device mean nothing in another. What all blocks have in common is not named: there
 * is room for a few words. */
function places(tile: Tile): Map<string, number[]> {
  const found = new Map<string, number[]>();
  const hasDevices = new Set(tile.list.device).size > 1;
  const hasProcesses = new Set(tile.list.pid).size > 1;

  for (let block = 0; block < blockCount(tile); block++) {
    const names = [hasDevices ? nameOf(tile, 'device', block) : '', hasProcesses ? `process ${tile.list.pid[block]}` : ''];
    const key = names.filter((name) => name !== '').join(', ');
    const list = found.get(key) ?? [];
    list.push(block);
    found.set(key, list);
  }
  return found;
}

export function hex(address: number): string {
  return `0x${address.toString(16)}`;
}

export function addressLayout(tile: Tile): Layout {
  const groups = places(tile);
  const used = Math.max([...groups.values()].reduce((sum, blocks) => sum + length(mergeSpans(spansOf(tile, blocks), 0)), 0), 1);
  const layout: Layout = { boxes: [], height: 0, marks: [], edge: [] };

  for (const [place, blocks] of groups) {
    const merged = mergeSpans(spansOf(tile, blocks), gapShare * used);
    const regions = merged.map((span) => {
      const region = { ...span, y: layout.height };
      layout.height += span.to - span.from + cutShare * used;
      return region;
    });
    for (const [i, region] of regions.entries()) {
      layout.marks.push({ y: region.y, text: i === 0 && groups.size > 1 ? place : hex(region.from) });
      layout.marks.push({ y: region.y + region.to - region.from, text: hex(region.to) });
    }
    for (const block of blocks) {
      const address = tile.list.address[block] as number;
      const region = regionOf(regions, address);
      layout.boxes.push({
        block, from: tile.list.begin_ns[block] as number, to: tile.list.end_ns[block] as number,
        y: region.y + address - region.from, height: tile.list.bytes[block] as number,
      });
    }
  }
  return layout;
}
