/* files.test.ts: A trace that grows, ends, or is replaced.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { expect, test } from 'vitest';
import { changeOf } from '../../src/api/files';
import type { FileState } from '../../src/api/types';

const before: FileState = { bytes: 100, modified_ns: 5, inode: 7, recording: true };

test.each<[string, Partial<FileState>]>([
  ['none', {}],
  ['grown', { bytes: 150, modified_ns: 6 }],
  ['ended', { bytes: 150, modified_ns: 6, recording: false }],
  ['replaced', { bytes: 150, modified_ns: 6, inode: 8 }],
  ['replaced', { bytes: 90, modified_ns: 6 }],
  ['replaced', { modified_ns: 6 }],
])('%s', (change, now) => expect(changeOf(before, { ...before, ...now })).toBe(change));
