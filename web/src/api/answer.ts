/* A question to a command, and its answer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

export type Query = readonly (readonly [string, string])[];

/* An answer with the command line that prints the same numbers. */
export interface Answer<T> {
  data: T;
  command: string;
}

/* The server's or the command's own words.
 * command: the one that failed, or '' if none ran */
export class ApiError extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly command = '',
  ) {
    super(message);
  }
}
