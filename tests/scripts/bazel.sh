#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The files for Bazel say what CMake's say, and Bazel takes them: it makes the pages as CMake does, and
# knows for every source of the library how to compile it. The library itself is not built again.
set -euo pipefail
cd "$DEVLINK_SOURCE"
work="$OLDPWD"
fail() {
  echo "$*"
  exit 1
}

version="$(sed -n 's/^  VERSION \([0-9.]*\)$/\1/p' CMakeLists.txt)"
[[ -n $version ]] || fail "CMakeLists.txt has no version"
grep -qxF "    version = \"$version\"," MODULE.bazel || fail "MODULE.bazel has another version"
grep -qF "DEVLINK_VERSION=\\\\\\\"$version\\\\\\\"" BUILD.bazel || fail "BUILD.bazel has another version"
grep -o 'absl::[a-z_]*' libdevlink/CMakeLists.txt | sed 's/absl:://' | sort -u >"$work/wanted"
sed -n 's/^_PARTS = \[\(.*\)\]$/\1/p' bazel/system.bzl | tr -d '" ' | tr , '\n' | sort -u >"$work/named"
diff "$work/wanted" "$work/named" || fail "other parts of Abseil than CMake's"

if ! command -v bazel >/dev/null; then
  echo "no bazel"
  exit 77
fi
if [[ ! $(bazel --version) =~ no_version|4\. ]]; then
  echo "a Bazel that fetches its rules, and tests fetch nothing"
  exit 77
fi
# Bazel 4 fetches rules that it has itself; these stand in for them.
for language in cc java; do
  mkdir -p "$work/rules_$language/$language"
  touch "$work/rules_$language/WORKSPACE" "$work/rules_$language/$language/BUILD"
done
for rule in cc_binary cc_import cc_library cc_proto_library cc_test cc_toolchain cc_toolchain_suite \
  fdo_prefetch_hints fdo_profile objc_import objc_library; do
  echo "$rule = native.$rule"
done >"$work/rules_cc/cc/defs.bzl"
for rule in java_binary java_import java_library java_package_configuration java_plugin java_runtime \
  java_test java_toolchain; do
  echo "$rule = native.$rule"
done >"$work/rules_java/java/defs.bzl"

start=("--output_user_root=$work/bazel" --max_idle_secs=5)
same=("--override_repository=rules_cc=$work/rules_cc" "--override_repository=rules_java=$work/rules_java")
finish() {
  bazel "${start[@]}" shutdown >/dev/null 2>&1 || true
  chmod -R u+w "$work/bazel" 2>/dev/null || true
}
trap finish EXIT
build=(bazel "${start[@]}" build "${same[@]}" --symlink_prefix=/ --noshow_progress)
"${build[@]}" --nobuild //:link_two_cubins >"$work/analysis.log" 2>&1 || fail "$(tail -n 10 "$work/analysis.log")"
"${build[@]}" //:page_texts >"$work/pages.log" 2>&1 || fail "$(tail -n 10 "$work/pages.log")"
made="$(bazel "${start[@]}" info "${same[@]}" bazel-bin 2>/dev/null)/page_texts.cc"
cmp "$made" "$DEVLINK_BUILD/libdevlink/page_texts.cc"

# Every source of the library, as CMake's list has them.
bazel "${start[@]}" query "${same[@]}" 'kind("source file", labels(srcs, //:devlink))' 2>"$work/query.log" |
  sed 's|^//:||' | sort >"$work/of_bazel"
git ls-files 'libdevlink/src/*.cc' | sort >"$work/of_git"
[[ ! -s $work/of_git ]] || diff "$work/of_git" "$work/of_bazel" || fail "other sources than those of the tree"
[[ $(wc -l <"$work/of_bazel") -gt 150 ]] || fail "hardly a source: $(<"$work/query.log")"
