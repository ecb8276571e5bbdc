/* cuda_absent_linked.c: a library that was loaded with the program looks for a driver, and for
 * PyTorch, where there is none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
void look_from_plugin(const char *name);

int main(void)
{
    look_from_plugin("cuInit");
    look_from_plugin("_ZN3c109alloc_cpuEm");
    look_from_plugin("strlen");
    return 0;
}
