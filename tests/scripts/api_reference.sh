#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Every public name of C++ and C is described in its header, and the reference that is made of the
# headers has all of them and no link that leads nowhere.
set -euo pipefail

reference="$DEVLINK_SOURCE/scripts/api-reference"
fail() {
  echo "$*"
  exit 1
}

status=0
"$reference" --check >names 2>&1 || status=$?
if [[ $status -eq 77 ]]; then
  echo "no libclang for Python (python3-clang-19)"
  exit 77
fi
[[ $status -eq 0 ]] || { cat names; exit 1; }
# No check that finds nothing to check: the functions of C alone are more than 50.
[[ $(sed -n '$s/ names, 0 undocumented$//p' names) -gt 1000 ]] || fail "hardly a name: $(<names)"

# --- It sees what is missing -----------------------------------------------------------------------
mkdir -p include/devlink
cat >include/devlink/some.h <<'CPP'
// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/some.h
#pragma once

namespace devlink {

// Two numbers.
struct Pair {
  int left = 0;  // of two
  int bare = 0;
  // Both of these are lengths in bytes.
  int width = 0;
  int height = 0;

  int other = 0;  // the other
  int after = 0;
  void Nothing();
  // Is told.
  void Told();
  void Untold();

 private:
  int hidden_ = 0;
};

// Repeated number.
int RepeatedNumber();

enum class Kind { kOne, kTwo };

// Which of them.
enum class Line { kThis, kThat };

}  // namespace devlink
CPP
status=0
"$reference" --include include --check >missing || status=$?
[[ $status -eq 1 ]] || fail "an undocumented name is no failure"
sed -n 's/.* is said of //p' missing | sort >found
printf '%s\n' Kind Kind::kOne Kind::kTwo Pair::Nothing Pair::Untold Pair::after Pair::bare \
  Pair::other RepeatedNumber |
  sort >wanted
diff wanted found || fail "other names than these are said to be undocumented"

# --- The pages -----------------------------------------------------------------------------------
"$reference" --output api >/dev/null
"$reference" --output again >/dev/null
diff -r api again || fail "two references of the same headers differ"
python3 - api "$DEVLINK_SOURCE/libdevlink/include" <<'PYTHON'
import pathlib, re, sys
pages = {p.name: p.read_text() for p in pathlib.Path(sys.argv[1]).glob("*.html")}
include = pathlib.Path(sys.argv[2])
for header in include.rglob("*.h"):
    name = str(header.relative_to(include))
    page = pages[name.removesuffix(".h").replace("/", "_") + ".html"]
    assert name in page, name
ids = {}
for name, text in pages.items():
    ids[name] = re.findall(r'id="([^"]+)"', text)
    assert len(ids[name]) == len(set(ids[name])), f"an id stands twice in {name}"
    assert text.count("<section>") == text.count("</section>"), name
links = 0
for name, text in pages.items():
    for to in re.findall(r'href="([^"]+)"', text):
        page, _, anchor = to.partition("#")
        assert page in pages and (not anchor or anchor in ids[page]), f"{name}: {to} leads nowhere"
        links += 1
assert links > 1000, links
code = (include / "devlink/c/devlink.h").read_text()
for function in set(re.findall(r"\b(dl_\w+)\(", re.sub(r"//.*", "", code))):
    assert function in ids["devlink_c_devlink.html"], function
assert "LinkSession::AddFile" in ids["devlink_link_session.html"]
PYTHON
tail -n 1 names
