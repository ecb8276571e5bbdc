/* Command lines where there is room for a few words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* "6118 python3 train.py" for "6118 /usr/bin/python3 /home/me/train.py" */
export function withoutFolders(command: string): string {
  return command.replace(/(^|\s)\/(?:[^\s/]+\/)+(?=[^\s/])/g, '$1');
}
