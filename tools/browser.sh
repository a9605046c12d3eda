#!/usr/bin/env bash
# Have a Chromium for the test of the site where that is easy: as root on a Debian or Ubuntu. Elsewhere
# nothing is installed; the test then checks the pages without a browser and says so.
set -euo pipefail

for name in chromium chromium-browser google-chrome chrome; do
  command -v "$name" >/dev/null && exit 0
done
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  printf 'browser: no Chromium here; install one to have pages opened in it\n'
  exit 0
fi
printf 'browser: installing chromium\n'
export DEBIAN_FRONTEND=noninteractive
install=(apt-get install -y -qq --no-install-recommends chromium)
{ "${install[@]}" || { apt-get update -qq && "${install[@]}"; }; } >/dev/null 2>&1 ||
  printf 'browser: chromium could not be installed; pages are checked without it\n'
