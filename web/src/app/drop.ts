/* Takes files that are dropped anywhere on the page.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

function hasFiles(event: DragEvent): boolean {
  return event.dataTransfer?.types.includes('Files') ?? false;
}

export function takeDrops(dropped: (file: File) => void): void {
  document.addEventListener('dragover', (event) => {
    if (hasFiles(event)) event.preventDefault();
  });
  document.addEventListener('drop', (event) => {
    const file = event.dataTransfer?.files[0];

    if (!hasFiles(event)) return;
    event.preventDefault();
    if (file) dropped(file);
  });
}
