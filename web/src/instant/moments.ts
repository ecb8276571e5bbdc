/* The moments that are chosen in the timeline.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
export interface Moments {
  at: number | null; // ns; null: none, or not known yet
  base: number | null; // the one to compare with
}
