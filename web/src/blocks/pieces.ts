/* A segment of an allocator in pieces: its blocks, and the holes between them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

export interface SegmentBlock {
  offset: number;
  bytes: number;
  category: string;
  name: string | null;
}

export interface Segment {
  device: string;
  pid: number;
  address: number;
  bytes: number;
  live_bytes: number;
  free_bytes: number;
  free_percent: number;
  largest_hole_bytes: number;
  block_list: SegmentBlock[];
}

interface Piece {
  from: number; // offsets
  to: number;
  block: SegmentBlock | null; // null: a hole
}

/* The block or the hole at an offset. */
export function pieceAt(segment: Pick<Segment, 'bytes' | 'block_list'>, offset: number): Piece {
  const block = segment.block_list.find((one) => offset >= one.offset && offset < one.offset + one.bytes);
  const ends = segment.block_list.map((one) => one.offset + one.bytes).filter((end) => end <= offset);
  const starts = segment.block_list.map((one) => one.offset).filter((start) => start > offset);

  if (block) return { from: block.offset, to: block.offset + block.bytes, block };
  return { from: Math.max(0, ...ends), to: Math.min(segment.bytes, ...starts), block: null };
}
