/* inlined_callers.cc: allocations in inlined functions. The lines that a test looks for are marked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cstdlib>
#include <string>
#include <vector>

namespace shop
{
struct Basket {
    std::vector<char *> items;

    __attribute__((always_inline)) char *inner(size_t bytes)
    {
        return static_cast<char *>(malloc(bytes)); /* malloc */
    }
    __attribute__((always_inline)) char *middle(size_t bytes)
    {
        char *item = inner(bytes + 1); /* inner */
        *item = 'x';
        return item;
    }
    __attribute__((noinline)) void outer(size_t bytes)
    {
        items.push_back(middle(bytes)); /* middle */
    }
};
} // namespace shop

int main(int argc, char **argv)
{
    shop::Basket basket;

    (void)argv;
    basket.outer(54320); /* outer */
    return basket.items.size() + argc > 10;
}
