/* serves.cc: a server with threads that keeps strings by name until standard input ends.
 *
 *     serves SOCKET
 *
 * "put NAME TEXT" is answered "ok", "get NAME" by the text, or by "none" through an exception.
 * Prints "ready" and then "ok". For test_attach_moments.py.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

namespace
{

std::mutex guard;
std::map<std::string, std::string> kept;

std::string answer(const std::string &line)
{
    std::istringstream words(line);
    std::string verb, name, text;
    std::lock_guard<std::mutex> hold(guard);

    words >> verb >> name >> text;
    if (verb == "put") {
        kept[name] = text;
        return "ok\n";
    }
    try {
        return kept.at(name) + "\n";
    } catch (const std::out_of_range &) {
        return "none\n";
    }
}

void serve(int connection)
{
    std::string pending;
    char bytes[512];
    ssize_t n;

    while ((n = read(connection, bytes, sizeof(bytes))) > 0) {
        pending.append(bytes, static_cast<size_t>(n));
        for (size_t end; (end = pending.find('\n')) != std::string::npos;) {
            std::string said = answer(pending.substr(0, end));

            pending.erase(0, end + 1);
            if (write(connection, said.data(), said.size()) < 0)
                break;
        }
    }
    close(connection);
}

void accept_all(int listener)
{
    for (int connection; (connection = accept(listener, nullptr, nullptr)) >= 0;)
        std::thread(serve, connection).detach();
}

} // namespace

int main(int argc, char **argv)
{
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address = {};

    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, argc > 1 ? argv[1] : "", sizeof(address.sun_path) - 1);
    if (bind(listener, reinterpret_cast<sockaddr *>(&address), sizeof(address)) ||
        listen(listener, 16)) {
        std::perror("serves");
        return 2;
    }
    std::thread(accept_all, listener).detach();
    std::puts("ready");
    std::fflush(stdout);
    while (std::getchar() != EOF)
        continue;
    std::puts("ok");
    std::fflush(stdout);
    _exit(0); /* the threads still run */
}
