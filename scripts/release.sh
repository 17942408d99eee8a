#!/bin/sh
# Build the files of a release into dist/: the sdist, and from it a wheel for each platform, compiled with zig.
# Check that each package is complete, and try the wheel of this platform in an empty environment. Publish nothing.
# Arguments limit the wheels to these platforms: sh scripts/release.sh linux-x86_64 macos-arm64
set -eu
. "$(dirname "$0")/setup.sh"

environment dev
get_uv
get_zig
command -v npm >/dev/null || give_up "A release needs npm to build the page. Install Node.js 20 or newer."
page
cd "$root"
chosen=$*
[ $# -gt 0 ] || set -- linux-x86_64 linux-aarch64 macos-x86_64 macos-arm64 windows-x86_64

say "building the sdist"
rm -rf dist
quietly "$venv/bin/python" -m hatchling build --target sdist
unpacked=$(mktemp -d "$root/.tools/sdist.XXXXXX")
trap 'rm -rf "$unpacked"' EXIT
trap 'exit 1' HUP INT TERM
tar -xzf dist/*.tar.gz -C "$unpacked" --strip-components 1

for target in "$@"; do
    say "building the wheel for $target"
    (
        cd "$unpacked"
        quietly env COFIRE_BUILD_TARGET="$target" "$venv/bin/python" -m hatchling build --target wheel --directory "$root/dist"
    )
done

say "checking that each package is complete"
"$venv/bin/python" -m scripts.check_dist dist/*
rm -rf "$unpacked"
[ -n "$chosen" ] || try_wheel complete
ls dist
