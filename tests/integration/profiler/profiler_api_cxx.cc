// profiler_api_cxx.cc: memledger.h from C++: includes cleanly, does the same.
//
// SPDX-License-Identifier: Apache-2.0
#include "memledger/memledger.h"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

void check(bool good, const char *what)
{
    if (good)
        return;
    std::fprintf(stderr, "%s: %s\n", what, memledger_last_error());
    std::exit(1);
}

class Task {
public:
    Task(memledger_object domain, const std::string &name)
        : handle(memledger_task(domain, name.c_str()))
    {
        check(memledger_start(handle) == 0, "start");
    }
    ~Task()
    {
        check(memledger_stop(handle) == 0, "stop");
        check(memledger_destroy(handle) == 0, "destroy");
    }

private:
    memledger_object handle;
};

} // namespace

int main()
{
    const char *keys[] = {"filename", "aggregate_stats"};
    const char *vals[] = {"cxx.json", "true"};
    const char *text = "";

    check(memledger_set_config(2, keys, vals) == 0, "set_config");
    check(memledger_set_state(MEMLEDGER_RUN) == 0, "set_state");
    memledger_object domain = memledger_domain("c++");
    {
        Task task(domain, "scope");
        check(memledger_counter_set(memledger_counter(domain, "n"), 3) == 0, "counter");
        check(memledger_marker(domain, "here", "task") == 0, "marker");
    }
    check(memledger_stats(&text, 0, MEMLEDGER_JSON, MEMLEDGER_BY_COUNT, 1) == 0, "stats");
    std::fputs(text, stdout);
    check(memledger_dump(1) == 0, "dump");
    return 0;
}
