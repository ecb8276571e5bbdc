/* keeps_sessions.cc lose|end: a server without marks of steps. It keeps the session of every request;
 * its destructor frees them when it ends. With `lose`, every fourth request loses a block as well.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#define NOINLINE __attribute__((noinline))

struct Session {
    std::string user;
    std::vector<int> numbers;
};

class Server {
    std::map<int, std::unique_ptr<Session>> sessions_;
    char *last_ = nullptr;

  public:
    NOINLINE void remember(int request)
    {
        auto session = std::make_unique<Session>();

        session->user = "the user of the request " + std::to_string(request);
        session->numbers.resize(64);
        sessions_[request] = std::move(session);
    }

    NOINLINE void lose(int request)
    {
        last_ = new char[100];
        std::memset(last_, request, 100);
    }
};

int main(int argc, char **argv)
{
    bool loses = argc > 1 && !std::strcmp(argv[1], "lose");
    Server server;

    for (int request = 0; request < 400; request++) {
        server.remember(request);
        if (loses && request % 4 == 0)
            server.lose(request);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    std::puts("done");
}
