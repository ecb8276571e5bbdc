/* unwind_throws.cc: see unwind_shapes.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "unwind_shapes.h"

#include <stdexcept>
#include <string>
#include <vector>

namespace
{

struct calls_at_end {
    shape_leaf *leaf;

    ~calls_at_end()
    {
        leaf();
    }
};

int thrower(shape_leaf *leaf, int depth)
{
    calls_at_end at_end{leaf};
    std::vector<std::string> words(static_cast<size_t>(depth) + 1, "word");

    if (!depth)
        throw std::runtime_error("out of " + words.at(0));
    return thrower(leaf, depth - 1) + static_cast<int>(words.size());
}

} // namespace

int shape_throws(shape_leaf *leaf, int depth)
{
    try {
        return thrower(leaf, depth);
    } catch (const std::exception &e) {
        leaf();
        return static_cast<int>(std::string(e.what()).size());
    }
}
