/* cuda_called_plugin.c: a plugin that calls back. A test opens many copies of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
__attribute__((visibility("default"))) void run_plugin(void (*call)(void));

void run_plugin(void (*call)(void))
{
    call();
    __asm__ volatile("" ::: "memory"); /* no tail call */
}
