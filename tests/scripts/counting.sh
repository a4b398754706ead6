#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# How cases are counted: one that was left out has not passed, whatever version of Catch2 reports it.
set -euo pipefail

cat > two.xml <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<Catch name="t"><Group name="t">
  <TestCase name="left out" filename="t.cc" line="1">
    <Warning>
      SKIPPED: no CUDA toolkit
    </Warning>
    <OverallResult success="true"/>
  </TestCase>
  <TestCase name="passes with a warning" filename="t.cc" line="2">
    <Warning>something else</Warning>
    <OverallResult success="true"/>
  </TestCase>
  <TestCase name="fails after a part was left out" filename="t.cc" line="3">
    <Warning>SKIPPED: no CUDA toolkit</Warning>
    <OverallResult success="false"/>
  </TestCase>
</Group></Catch>
XML
cat > three.xml <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<Catch2TestRun name="t">
  <TestCase name="left out" filename="t.cc" line="1">
    <Skip filename="t.cc" line="1">no CUDA toolkit</Skip>
    <OverallResult success="true" skips="1"/>
  </TestCase>
  <TestCase name="passes" filename="t.cc" line="2">
    <OverallResult success="true" skips="0"/>
  </TestCase>
</Catch2TestRun>
XML
python3 -B - "$DEVLINK_SOURCE/scripts" <<'PY'
import sys

sys.path.insert(0, sys.argv[1])
import run_tests

for report, expected in (("two.xml", (1, 1, 1)), ("three.xml", (1, 0, 1))):
    result = run_tests.Result(report)
    assert run_tests.read_catch_report(report, result), report
    counts = (result.passed, result.failed, result.skipped)
    assert counts == expected, f"{report}: {counts}"
    assert result.reasons == {"no CUDA toolkit": 1}, result.reasons
PY
