# Sourced by packaging/run and packaging/test: finds a Python that is new enough and lets packaging/prepare.py do the rest.
#
#   prepare [--tests]     returns when .venv is complete; ends the script with words and a command otherwise
#
# Where .venv is complete its own Python is used, so that a second call costs a few hundredths of a second.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1

new_enough() {
    "$1" -I -S -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

find_python() {
    local candidate
    if [ -f .venv/complete.json ] && new_enough .venv/bin/python; then
        echo .venv/bin/python
        return
    fi
    for candidate in python3.11 python3.12 python3.13 python3.14 python3; do
        if command -v "$candidate" >/dev/null 2>&1 && new_enough "$candidate"; then
            command -v "$candidate"
            return
        fi
    done
    return 1
}

install_python() {
    command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ] || return 1
    echo "No Python 3.11 or newer is here. Installing the distribution's: apt-get install python3 python3-venv" >&2
    DEBIAN_FRONTEND=noninteractive apt-get update -qq >&2 &&
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3 python3-venv >&2
}

no_python() {
    local command="install Python 3.11 or newer from your distribution or from python.org"
    command -v apt-get >/dev/null 2>&1 && command="sudo apt-get install python3 python3-venv"
    {
        echo "Actum cannot be set up."
        echo "Why:        no Python 3.11 or newer is on the PATH (looked for python3.11 to python3.14, and python3)."
        echo "What to do: $command"
        echo "            then call this command again."
    } >&2
    exit 1
}

prepare() {
    local python
    python=$(find_python) || { install_python && python=$(find_python); } || no_python
    "$python" -I -S packaging/prepare.py "$@" || exit $?
}
