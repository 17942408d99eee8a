# Sourced by the other scripts: a uv of our own in .tools, and the packages of a lock in .venv.
# Both are made again only when a lock, the interpreter or the place of this folder has changed.
# PYTHON chooses the interpreter (python3 unless told).

root=$(cd "$(dirname "$0")/.." && pwd)
venv=$root/.venv
uv=$root/.tools/uv/bin/uv

export UV_CACHE_DIR="${UV_CACHE_DIR:-$root/.tools/cache}"
export UV_LINK_MODE=copy
export UV_NO_PROGRESS=1
export UV_PYTHON_DOWNLOADS=never
export UV_SYSTEM_CERTS="${UV_SYSTEM_CERTS:-true}"
unset VIRTUAL_ENV PYTHONHOME PYTHONPATH

say() {
    printf '==> %s\n' "$*"
}

give_up() {
    printf '%s\n' "$*" >&2
    exit 1
}

# Run a command and show what it printed only if it fails.
quietly() {
    if ! printed=$("$@" 2>&1); then
        printf '%s\n' "$printed" >&2
        give_up "failed: $*"
    fi
}

find_python() {
    python=$(command -v "${PYTHON:-python3}") || give_up "cofire needs Python 3.11 or newer: install it, or name it with PYTHON=…"
    python=$("$python" -c 'import sys; print(sys.executable if sys.version_info >= (3, 11) else "")')
    [ -n "$python" ] || give_up "cofire needs Python 3.11 or newer: name one with PYTHON=…"
}

# uv does not read pip's settings, so an index that pip is told to use is handed on.
share_index() {
    index=${PIP_INDEX_URL:-$("$python" -m pip config get global.index-url 2>/dev/null || true)}
    [ -z "$index" ] || export UV_DEFAULT_INDEX="${UV_DEFAULT_INDEX:-$index}"
}

get_uv() {
    find_python
    share_index
    lock=$root/requirements/tools.txt
    ! cmp -s "$lock" "$root/.tools/uv/lock" || return 0
    say "fetching uv into .tools"
    rm -rf "$root/.tools/uv"
    quietly "$python" -m pip install --quiet --no-cache-dir --disable-pip-version-check --root-user-action=ignore \
        --require-hashes --only-binary :all: --target "$root/.tools/uv" --requirement "$lock"
    cp "$lock" "$root/.tools/uv/lock"
}

# What .venv is made from: equal fingerprints, equal contents.
fingerprint() {
    (cd "$root" && { echo "$root" "${PYTHON:-python3}"; cat pyproject.toml "$@"; } | cksum)
}

# environment core: what cofire needs to run. environment dev: that, and what its tests need.
environment() {
    case $1 in
        core) set -- requirements/core.txt requirements/build.txt ;;
        dev) set -- requirements/dev.txt ;;
    esac
    wanted=$(fingerprint "$@")
    present=$([ -x "$venv/bin/python" ] && cat "$venv/fingerprint" 2>/dev/null || true)
    [ "$present" != "$wanted" ] || return 0
    # The packages of dev contain those of core.
    [ "$present" != "$(fingerprint requirements/dev.txt)" ] || return 0
    get_uv
    say "installing $* into .venv"
    (
        cd "$root"
        quietly "$uv" venv --quiet --clear --python "$python" "$venv"
        quietly "$uv" pip install --quiet --python "$venv" --require-hashes $(printf ' --requirement %s' "$@")
        quietly "$uv" pip install --quiet --python "$venv" --no-deps --no-build-isolation --editable .
    )
    printf '%s\n' "$wanted" >"$venv/fingerprint"
}
