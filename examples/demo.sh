#!/usr/bin/env bash
# Crawls the sample intranet on loopback and searches it. Usage: examples/demo.sh [DIRECTORY OF THE COMMANDS]
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
bin="$(cd "${1:-$root/.venv/bin}" && pwd)"
work="$root/var/demo"
server=""
command=""

stop_all() {
    local job
    for job in $command $server; do
        kill "$job" 2>/dev/null || true
        wait "$job" 2>/dev/null || true
    done
}
trap stop_all EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# The shell acts on a signal while it waits, but not while a command runs in the foreground.
run() {
    printf '\n$ ultracrawl'
    printf ' %q' "$@"
    printf '\n'
    "$bin/ultracrawl" "$@" &
    command=$!
    wait "$command"
    command=""
}

start_server() {
    "$bin/python" "$root/examples/serve.py" "$root/examples/intranet" --port-file "$work/port" >/dev/null &
    server=$!
    for _ in {1..100}; do
        [[ -s $work/port ]] && return
        kill -0 "$server" 2>/dev/null || break
        sleep 0.1
    done
    echo "the sample intranet could not be served" >&2
    exit 1
}

rm -rf -- "$work"
mkdir -p -- "$work"
start_server
url="http://127.0.0.1:$(<"$work/port")/"
cd "$work"

# The server is our own, so there is no reason to be slow; the default is half a second between two requests.
run crawl --url "$url" --delay 0
run search vacation request

cat <<END

That was the sample intranet (examples/intranet), crawled into var/demo. What to try next:

  cd var/demo
  ../../.venv/bin/ultracrawl search "VPN certificate renewal"
  ../../.venv/bin/ultracrawl search Urlaubsantrag
  ../../.venv/bin/ultracrawl search cuttlebone      # finds nothing: robots.txt forbids that page

To crawl it again, serve it on the same port, and only what has changed is fetched:

  .venv/bin/python examples/serve.py examples/intranet --port $(<"$work/port") &
  cd var/demo && ../../.venv/bin/ultracrawl crawl --url $url

examples/intranet/README.md tells what each odd page is there for.
END
