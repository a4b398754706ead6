// SPDX-License-Identifier: Apache-2.0
#include "jit_cases.h"

#include "modules.h"
#include "programs.h"

namespace devlink::bench {

namespace {

namespace fs = std::filesystem;

JitCase Compiled(JitCase what, const ProgramClass& program, const fs::path& cache) {
  const CompiledProgram compiled = CompileProgram(program, what.arch, cache);
  for (const std::string& file : compiled.files) {
    what.files.push_back((compiled.directory / file).string());
  }
  return what;
}

JitCase Cubins(const std::string& arch, int count, const fs::path& cache) {
  const JitCase out{.name = std::to_string(count) + (count == 1 ? " cubin" : " cubins"),
                    .arch = arch,
                    .files = {}};
  return Compiled(out, {.name = "flat", .family = "flat", .modules = count}, cache);
}

// Two modules of a kernel and a function each.
JitCase Pair(const std::string& arch, JitCase::Kind kind, const fs::path& cache) {
  JitCase out{.name = "2 small ", .kind = kind, .arch = arch, .files = {}};
  ProgramClass program{.name = "pair", .family = "pair", .modules = 2, .source = "pair.cu"};
  if (kind == JitCase::Kind::kPtx) {
    out.name += "PTX";
    program.kind = ModuleKind::kPtx;
  } else if (kind == JitCase::Kind::kLtoIr) {
    out.name += "LTO IR";
    out.options = {"-lto"};
    program.kind = ModuleKind::kLtoIr;
  } else {
    out.name += "cubins";
  }
  return Compiled(out, program, cache);
}

}  // namespace

std::vector<JitCase> LatencyCases(const std::string& arch, const fs::path& cache) {
  std::vector<JitCase> out = {Pair(arch, JitCase::Kind::kCubins, cache)};
  for (const int count : {1, 2, 10, 100, 1000}) out.push_back(Cubins(arch, count, cache));
  out.push_back(Pair(arch, JitCase::Kind::kPtx, cache));
  out.push_back(Pair(arch, JitCase::Kind::kLtoIr, cache));
  return out;
}

std::vector<JitCase> LeakCases(const std::string& arch, const fs::path& cache) {
  const JitCase same = Cubins(arch, 2, cache);
  JitCase other = same;
  other.name = "2 new cubins";
  other.changes = true;
  // The second module alone calls functions that the first has.
  JitCase fails = same;
  fails.name = "undefined";
  fails.fails = true;
  fails.files.erase(fails.files.begin());
  return {same, other, fails};
}

JitCase GivenCase(const std::string& arch, const std::vector<std::string>& words) {
  JitCase out{.name = "given", .kind = JitCase::Kind::kGiven, .arch = arch, .files = {}};
  for (const std::string& word : words) {
    (word.starts_with('-') ? out.options : out.files).push_back(word);
  }
  return out;
}

std::vector<NamedBytes> ReadInputs(const JitCase& what) {
  std::vector<NamedBytes> out;
  for (const std::string& file : what.files) {
    out.push_back({fs::path(file).filename().string(), ReadBytes(file)});
    if (file.ends_with(".ptx")) out.back().bytes.push_back('\0');
  }
  return out;
}

}  // namespace devlink::bench
