#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The Python package: the wheel is the same twice, holds what it should, goes into an environment that
# has nothing else, and does what tests/python, docs/python.md and the example say.
set -euo pipefail

setting() { sed -n "s/^$1:[A-Z]*=//p" "$DEVLINK_BUILD/CMakeCache.txt"; }
if [[ $(setting DEVLINK_BUILD_C_LIBRARY) != ON || $(setting DEVLINK_STATIC_DEPENDENCIES) != ON ]]; then
  echo "built without a libdevlink.so.0 that other machines could load"
  exit 77
fi
fail() {
  echo "$*"
  exit 1
}

# --- The wheel -----------------------------------------------------------------------------------
"$DEVLINK_SOURCE/scripts/wheel" --build "$DEVLINK_BUILD" --output first >wheel.txt
# At another time, by a user with other habits.
(umask 077 && TZ=Asia/Tokyo LC_ALL=C SOURCE_DATE_EPOCH=1 PYTHONHASHSEED=7 \
  "$DEVLINK_SOURCE/scripts/wheel" --build "$DEVLINK_BUILD" --output second >/dev/null)
wheel="$(cat wheel.txt)"
cmp "$wheel" "second/${wheel##*/}" || fail "two wheels of one build differ"
[[ ${wheel##*/} =~ ^devlink-[0-9.]+-py3-none-manylinux_2_[0-9]+_x86_64\.whl$ ]] || fail "called $wheel"

python3 - "$wheel" <<'PYTHON'
import base64, csv, hashlib, io, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    assert wheel.testzip() is None
    names = wheel.namelist()
    record = [name for name in names if name.endswith(".dist-info/RECORD")]
    rows = list(csv.reader(io.StringIO(wheel.read(record[0]).decode())))
    assert sorted(row[0] for row in rows) == sorted(names), "RECORD is not the list of all files"
    for name, digest, size in rows:
        data = wheel.read(name)
        if name == record[0]:
            assert (digest, size) == ("", "")
            continue
        found = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        assert (digest, int(size)) == (f"sha256={found}", len(data)), name
        assert b"/build/release" not in data, f"{name} knows where it was built"
    for wanted in ("devlink/py.typed", "devlink/lib/libdevlink.so.0", "devlink/bin/devlink"):
        assert wanted in names, wanted
    for licence in ("LICENSE", "NOTICE", "llvm-19-dev.txt"):
        assert any(name.endswith(f"/licenses/{licence}") for name in names), licence
    assert not [name for name in names if "ptxcompiler" in name or "__pycache__" in name]
PYTHON

# --- An environment with nothing else ------------------------------------------------------------
unset PYTHONPATH PYTHONHOME
export PIP_CONFIG_FILE=/dev/null PIP_DISABLE_PIP_VERSION_CHECK=1
environment="$PWD/environment"
python="$environment/bin/python"
if python3 -m venv "$environment" >venv.log 2>&1; then
  "$python" -m pip install --quiet --no-index --no-deps "$wheel"
else
  # Debian has pip for it in a package of its own, python3-venv; a wheel is a folder in a zip.
  rm -rf "$environment"
  if ! python3 -m venv --without-pip "$environment" >venv.log 2>&1; then
    cat venv.log
    echo "no environment can be made: install python3-venv"
    exit 77
  fi
  echo "no pip for an environment (python3-venv): the wheel is unpacked by hand"
  packages="$("$python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')"
  "$python" -m zipfile -e "$wheel" "$packages"
  chmod +x "$packages"/devlink/bin/*
fi

# --- What it does --------------------------------------------------------------------------------
status=0
# -I, so that nothing but the environment and the tests is found; -X dev, so that leaks are told.
(cd "$DEVLINK_SOURCE/tests/python" &&
  "$python" -X dev -B -W error::ResourceWarning -m unittest discover) >unittest.log 2>&1 || status=$?
[[ $status -eq 0 ]] || { cat unittest.log; exit 1; }
summary="$(tail -n 3 unittest.log | tr '\n' ' ')"
echo "$summary"
if [[ -z ${CUDA_HOME-} ]] || ! command -v nvcc >/dev/null; then
  echo "no CUDA toolkit: what nvcc makes was not linked, and the snippets on PTX were not run"
fi
# No test that could not fail: a module that is not found would be none of 0.
[[ $(sed -n 's/^Ran \([0-9]*\) tests.*/\1/p' unittest.log) -ge 80 ]] || fail "tests are missing"

# --- Types ---------------------------------------------------------------------------------------
if command -v mypy >/dev/null; then
  mypy --strict --cache-dir /dev/null "$DEVLINK_SOURCE/libdevlink/python/devlink"
else
  echo "no mypy: annotations were not checked"
fi
