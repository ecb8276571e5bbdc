/* leaks_in_cc.cc: what a C++ program leaves at its end, as C++ programs do: containers, objects
 * behind a base class, arrays with a destructor, a static object that is destroyed, a thread that
 * still runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace
{
struct Base {
    virtual ~Base() = default;
};

struct Widget : Base {
    std::string name = std::string(200, 'w');
    std::vector<int> values = std::vector<int>(100);
};

struct Member {
    ~Member() { text.clear(); }
    std::string text = std::string(300, 'm');
};

std::map<int, std::string> *table;
std::unique_ptr<Base> destroyed;
Base *volatile second_base;
std::atomic<bool> waits;

/* Behind a pointer to its second base class, which is not the begin of the object. */
struct Twofold : Widget, Member {
};
Member *volatile member;

__attribute__((noinline)) void keep_table()
{
    table = new std::map<int, std::string>;
    for (int i = 0; i < 10; i++)
        (*table)[i] = std::string(100, 'k');
}

__attribute__((noinline)) void keep_by_base()
{
    member = new Twofold;
}

__attribute__((noinline)) void keep_array()
{
    static Member *volatile array;
    array = new Member[3]; /* points behind the number of elements */
}

__attribute__((noinline)) void lose_widget()
{
    second_base = new Widget;
    second_base = nullptr;
}

__attribute__((noinline)) void free_at_exit()
{
    destroyed = std::make_unique<Widget>();
}

/* Its local variable is in use when main returns. */
void keep_in_running_thread()
{
    std::unique_ptr<char[]> buffer(new char[5000]);

    buffer[0] = 1;
    waits = true;
    while (buffer[0])
        std::this_thread::sleep_for(std::chrono::hours(1));
}

__attribute__((noinline)) void clear_stack()
{
    volatile char bytes[65536];

    for (char volatile &byte : bytes)
        byte = 0;
}
} // namespace

int main()
{
    std::thread(keep_in_running_thread).detach();
    while (!waits)
        std::this_thread::yield();
    keep_table();
    keep_by_base();
    keep_array();
    lose_widget();
    free_at_exit();
    clear_stack();
    return 0;
}
