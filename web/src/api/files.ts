/* The files that the server knows, and those that are given to it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { ask, askServer, forgetAnswers } from './client';
import { excerptOfPage } from './embedded';
import type { FileState, TraceFile } from './types';

interface Files {
  files: TraceFile[];
}

export async function listFiles(): Promise<TraceFile[]> {
  const { files } = (await excerptOfPage()) ? (await ask<Files>('files')).data : await askServer<Files>('files', []);
  return files;
}

export function fileState(id: number): Promise<FileState> {
  return askServer<FileState>('state', [['file', String(id)]]);
}

/* The server imports a file that is no trace. @return its number */
export async function sendFile(file: File): Promise<number> {
  const { id } = await askServer<{ id: number }>('open', [['name', file.name]], { method: 'POST', body: file });
  forgetAnswers();
  return id;
}

/* What happened to a file between two looks at it. */
export type Change = 'none' | 'grown' | 'replaced' | 'ended';

export function changeOf(before: FileState, now: FileState): Change {
  if (now.inode !== before.inode || now.bytes < before.bytes) return 'replaced';
  if (before.recording && !now.recording) return 'ended';
  if (now.bytes > before.bytes) return 'grown';
  return now.modified_ns === before.modified_ns ? 'none' : 'replaced';
}

/* The traces of a job: all that were opened, or the one that is shown. */
export function filesOfJob(files: readonly TraceFile[], shown: number): readonly TraceFile[] {
  const opened = files.filter((file) => !file.listed);
  return opened.some(({ id }) => id === shown) ? opened : files.filter(({ id }) => id === shown);
}
