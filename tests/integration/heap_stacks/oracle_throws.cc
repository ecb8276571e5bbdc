// oracle_throws.cc STACKS: expressions, right and wrong ones, parsed by recursion: allocations in
// templates, destructors, handlers and constructors at many depths.
//
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct Node {
    std::string text;
    std::vector<std::unique_ptr<Node>> children;
};

static unsigned next_number = 12345;
static unsigned number(unsigned below)
{
    next_number = next_number * 1103515245u + 12345u;
    return (next_number >> 8) % below;
}

static std::unique_ptr<Node> parse(unsigned depth);

static std::unique_ptr<Node> parse_list(unsigned depth)
{
    auto node = std::make_unique<Node>();
    for (unsigned i = number(3); i-- > 0;)
        node->children.push_back(parse(depth + 1));
    if (number(40) == 0)
        throw std::runtime_error("unbalanced parenthesis at depth " + std::to_string(depth));
    return node;
}

static std::unique_ptr<Node> parse_name(unsigned depth)
{
    auto node = std::make_unique<Node>();
    node->text = std::string(16 + number(40), 'a' + depth % 26);
    return node;
}

static std::unique_ptr<Node> parse(unsigned depth)
{
    try {
        return depth < 40 && number(5) ? parse_list(depth) : parse_name(depth);
    } catch (const std::runtime_error &) {
        if (number(3) == 0)
            throw;
        auto node = std::make_unique<Node>();
        node->text = "a part that could not be read, at depth " + std::to_string(depth);
        return node;
    }
}

int main(int argc, char **argv)
{
    unsigned long rounds = argc > 1 ? strtoul(argv[1], nullptr, 10) / 10 : 100;
    std::map<std::string, unsigned> outcomes;

    for (unsigned long i = 0; i < rounds; i++) {
        try {
            outcomes[parse(0)->text.substr(0, 4)]++;
        } catch (const std::exception &error) {
            outcomes[error.what()]++;
        }
    }
    printf("%zu outcomes\n", outcomes.size());
    return 0;
}
