#!/usr/bin/env bash
# Set up .venv from requirements.lock; `make env` calls this when the stamp is out of date.
# PYTHON names the interpreter, TORCH_INDEX an index to take torch from.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
unset PYTHONPATH PYTHONHOME
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_REQUIRE_VIRTUALENV=0

say() { printf 'env: %s\n' "$*"; }
suits() {
  "$1" -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' \
    >/dev/null 2>&1
}

# python3 first: it is what an activated environment or a CI matrix offers
find_python() {
  if [ -n "${PYTHON:-}" ]; then
    suits "$PYTHON" && { printf '%s' "$PYTHON"; return; }
    say "PYTHON=$PYTHON does not run as Python 3.11, 3.12 or 3.13 with the venv module." >&2
    return 1
  fi
  local name
  for name in python3 python3.13 python3.12 python3.11 python; do
    suits "$name" && { printf '%s' "$name"; return; }
  done
  say "Python 3.11, 3.12 or 3.13 with its venv module is needed, none was found" \
    "(python3 is $(python3 -V 2>&1 | tail -n 1)); name one with PYTHON=..." >&2
  return 1
}

py=.venv/bin/python
if ! suits "$py"; then
  base=$(find_python)
  say "creating .venv with $("$base" -V)"
  "$base" -m venv --clear .venv
fi

pip() { "$py" -m pip "$@"; }
locked() { grep -m 1 "^$1==" requirements.lock; }

say "installing $(grep -c == requirements.lock) pinned packages, about 2 GB on disk:" \
  "1 to 3 minutes, quiet until done"
# the locked pip first: it is much faster than what older Pythons carry
pip install -q "$(locked pip)"
if [ -n "${TORCH_INDEX:-}" ]; then
  say "taking $(locked torch) from TORCH_INDEX"
  pip install -q --no-deps --no-compile --index-url "$TORCH_INDEX" "$(locked torch)"
fi
pip install -q --no-compile -r requirements.lock
pip install -q --no-deps --no-build-isolation -e .
say "loading the libraries once, half a minute"
"$py" tools/check_env.py
touch .venv/.mtr-env
say "ready in $SECONDS s: .venv/bin/python"
