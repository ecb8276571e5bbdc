# nginx.py: a master and two workers that serve files, read their configuration again and end.
#
# SPDX-License-Identifier: Apache-2.0
import hashlib
import os
import signal
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

from stage import PATIENCE_S, Server, free_port

REQUESTS = 400

SETTINGS = """
daemon off;
worker_processes 2;
pid {path}/nginx.pid;
error_log {path}/error.log notice;
events {{ worker_connections 64; }}
http {{
    access_log off;
    gzip on;
    gzip_types text/plain;
    client_body_temp_path {path}/body;
    proxy_temp_path {path}/proxy;
    fastcgi_temp_path {path}/fastcgi;
    uwsgi_temp_path {path}/uwsgi;
    scgi_temp_path {path}/scgi;
    server {{ listen 127.0.0.1:{port}; root {path}/site; }}
}}
"""


def program():
    return next(p for p in ("/usr/sbin/nginx", "/usr/bin/nginx") if os.path.exists(p))


def fetch(port, name):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/{name}", timeout=PATIENCE_S) as reply:
            return reply.status, hashlib.sha256(reply.read()).hexdigest()
    except urllib.error.HTTPError as error:
        return error.code, None
    except urllib.error.URLError:
        return None


def fetch_all(port):
    names = [f"{i % 3}.txt" if i % 10 else "none.txt" for i in range(REQUESTS)]
    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(lambda name: fetch(port, name), names))


def play(record, path):
    port = free_port()
    os.mkdir(f"{path}/site")
    os.chmod(f"{path}/site", 0o755)
    for i in range(3):
        with open(f"{path}/site/{i}.txt", "w") as f:
            f.write(f"line {i}\n" * 20000)
    with open(f"{path}/nginx.conf", "w") as f:
        f.write(SETTINGS.format(path=path, port=port))
    seen = {}
    with Server(record("nginx", [program(), "-c", f"{path}/nginx.conf", "-e", f"{path}/error.log"]),
                path) as server:
        server.wait_until(lambda: fetch(port, "0.txt"))
        seen["before"] = fetch_all(port)
        server.process.send_signal(signal.SIGHUP)
        seen["after"] = fetch_all(port)
        seen["stop"] = server.stop(signal.SIGQUIT)
    return seen
