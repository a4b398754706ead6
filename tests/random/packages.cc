// SPDX-License-Identifier: Apache-2.0
#include "random/packages.h"

#include <algorithm>
#include <string_view>

#include "devlink/experimental/code_choice.h"
#include "random/prng.h"
#include "random/ptx_program.h"
#include "support/elf_builder.h"
#include "support/fatbin_builder.h"
#include "support/host_object.h"
#include "support/process.h"
#include "support/text.h"

namespace devlink::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Form = Package::Form;

constexpr int kManyFiles = 60;

// --- Making a program ----------------------------------------------------------------------------

struct Names {
  std::vector<std::string> visible_kernels;
  std::vector<std::string> static_kernels;
  std::vector<std::string> variables;
};

// The word of `line` that begins behind `before` and ends before one of "([ ;=".
std::string WordBehind(std::string_view line, std::string_view before) {
  const std::size_t at = line.find(before);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + before.size());
  return std::string(line.substr(0, line.find_first_of("([ ;=")));
}

// Variables are the last word before their size.
std::string VariableOf(std::string_view line) {
  line = line.substr(0, line.find('['));
  const std::size_t space = line.rfind(' ');
  return space == std::string_view::npos ? std::string() : std::string(line.substr(space + 1));
}

Names NamesIn(std::string_view text) {
  Names names;
  ForEachLine(text, [&names](std::string_view line) {
    if (const std::string kernel = WordBehind(line, ".entry "); !kernel.empty()) {
      const bool is_static = !line.starts_with(".visible") && !line.starts_with(".weak");
      (is_static ? names.static_kernels : names.visible_kernels).push_back(kernel);
    } else if (line.starts_with(".visible .global") || line.starts_with(".visible .const")) {
      names.variables.push_back(VariableOf(line));
    }
  });
  return names;
}

// Some of `names`, now and then as a pattern, a double or a name that nobody has.
std::vector<std::string> Some(Prng& random, const std::vector<std::string>& names, int percent) {
  std::vector<std::string> out;
  for (const std::string& name : names) {
    if (!random.Chance(percent)) continue;
    const int way = random.Range(0, 19);
    out.push_back(way == 0   ? name.substr(0, name.size() / 2) + "*"
                  : way == 1 ? "*" + name.substr(name.size() / 2)
                             : name);
    if (way == 2) out.push_back(name);
  }
  if (random.Chance(5)) out.emplace_back("nobody");
  return out;
}

class Packer {
 public:
  // `more_random`: for what came later, so that the programs of a seed stay what they are.
  // `leaves_out`: every input tells what its host code refers to, or the options do.
  Packer(Prng& random, Prng& more_random, RandomProgram& program, ProgramTarget target,
         bool leaves_out)
      : random_(random),
        more_random_(more_random),
        program_(program),
        target_(target),
        leaves_out_(leaves_out) {
    for (const SourceFile& file : program_.files) names_.push_back(NamesIn(file.text));
  }

  void Run() {
    AddUsersOfKernels();
    ChooseArchitectures();
    for (std::size_t file = 0; file < program_.files.size();) {
      Package& package = program_.packages.emplace_back();
      package.is_archive = random_.Chance(20);
      std::size_t members = package.is_archive ? random_.Below(4) + 1 : 1;
      for (; members > 0 && file < program_.files.size(); --members, ++file) {
        package.members.push_back(MakeMember(file, package.is_archive));
        Package::Member& member = package.members.back();
        member.only_ptx = member.form != Form::kCubin && more_random_.Chance(10);
      }
      const Form form = package.members.front().form;
      package.name = Cat("p", program_.packages.size() - 1,
                         package.is_archive      ? ".a"
                         : form == Form::kCubin  ? ".cubin"
                         : form == Form::kFatbin ? ".fatbin"
                                                 : ".o");
    }
    ChooseOptions();
  }

 private:
  // Kernels whose addresses code takes, as launches from the device do.
  void AddUsersOfKernels() {
    for (std::size_t i = 0; i < program_.files.size(); ++i) {
      Names& names = names_[i];
      std::vector<std::string> kernels = names.visible_kernels;
      kernels.insert(kernels.end(), names.static_kernels.begin(), names.static_kernels.end());
      if (kernels.empty() || !random_.Chance(30)) continue;
      const bool from_kernel = random_.Chance(60);
      const std::string name = Cat(from_kernel ? "starts" : "begins", i);
      std::string& text = program_.files[i].text;
      Append(text, ".visible ", from_kernel ? ".entry " : ".func ", name, " (.param .u64 p)\n{\n",
             " .reg .b64 a, b; ld.param.u64 a, [p];\n");
      for (int count = random_.Range(1, 3); count > 0; --count) {
        Append(text, " mov.u64 b, ", random_.Pick(kernels), "; st.global.u64 [a], b;\n");
      }
      text += " ret;\n}\n";
      if (from_kernel) names.visible_kernels.push_back(name);
    }
  }

  // Cubins for an older architecture of the same generation run on a newer one.
  void ChooseArchitectures() {
    const bool has_older = target_.variant == 0 && (target_.number == 86 || target_.number == 89);
    if (!has_older || !random_.Chance(40)) return;
    for (SourceFile& file : program_.files) {
      if (!random_.Chance(40)) continue;
      const std::string own = Cat(".target sm_", target_.number, "\n");
      const std::size_t at = file.text.find(own);
      if (at == std::string::npos) continue;
      file.compile_for = target_.number == 89 && random_.Chance(50) ? 86 : 80;
      file.text.replace(at, own.size(), Cat(".target sm_", file.compile_for, "\n"));
    }
  }

  // nvlink takes host objects out of archives, and nothing else.
  Package::Member MakeMember(std::size_t file, bool in_archive) {
    Package::Member member{.file = file};
    const int form = leaves_out_ || in_archive ? 99 : random_.Range(0, 99);
    member.form = form < 30 ? Form::kCubin : form < 50 ? Form::kFatbin : Form::kHostObject;
    member.with_ptx = member.form != Form::kCubin && random_.Chance(15);
    member.has_lists = member.form == Form::kHostObject && (leaves_out_ || random_.Chance(60));
    if (!member.has_lists) return member;
    const Names& names = names_[file];
    member.lists.push_back({".nvHRKE", Some(random_, names.visible_kernels, 50)});
    if (random_.Chance(90)) {
      member.lists.push_back({".nvHRKI", Some(random_, names.static_kernels, 50)});
    }
    if (random_.Chance(50)) member.lists.push_back({".nvHRDE", Some(random_, names.variables, 50)});
    if (random_.Chance(50)) member.lists.push_back({".nvHRCE", Some(random_, names.variables, 50)});
    return member;
  }

  void ChooseOptions() {
    std::vector<std::string>& flags = program_.link_flags;
    std::vector<std::string> kernels;
    std::vector<std::string> variables;
    for (const Names& names : names_) {
      kernels.insert(kernels.end(), names.visible_kernels.begin(), names.visible_kernels.end());
      kernels.insert(kernels.end(), names.static_kernels.begin(), names.static_kernels.end());
      variables.insert(variables.end(), names.variables.begin(), names.variables.end());
    }
    if (leaves_out_ && random_.Chance(20) && !kernels.empty()) {
      flags.push_back("-kernels-used=" + NamesAndOne(kernels));
    }
    if (leaves_out_ && random_.Chance(10) && !variables.empty()) {
      flags.push_back("-variables-used=" + NamesAndOne(variables));
    }
    if (random_.Chance(15)) {
      flags.push_back(random_.Pick<std::string>({"-ignore-host-info", "-use-host-info"}));
    }
    if (random_.Chance(15)) flags.emplace_back("-v");
    if (random_.Chance(5)) flags.emplace_back("-suppress-stack-size-warning");
  }

  std::string NamesAndOne(const std::vector<std::string>& names) {
    std::vector<std::string> out = {random_.Pick(names)};
    for (const std::string& name : names) {
      if (random_.Chance(25)) out.push_back(name);
    }
    return Join(out, ",");
  }

  Prng& random_;
  Prng& more_random_;
  RandomProgram& program_;
  ProgramTarget target_;
  bool leaves_out_;
  std::vector<Names> names_;  // by file
};

// --- Packing -------------------------------------------------------------------------------------

Bytes MakeFatbin(const SourceFile& source, ProgramTarget target, const Bytes& cubin,
                 const Package::Member& form) {
  FatbinBuilder member;
  member.kind = CodeKind::kSass;
  member.arch.number =
      static_cast<std::uint16_t>(source.compile_for == 0 ? target.number : source.compile_for);
  member.arch.variant = target.variant;
  std::vector<Bytes> members;
  if (!form.only_ptx) members.push_back(member.Member(cubin));
  if (form.with_ptx || form.only_ptx) {
    member.kind = CodeKind::kPtx;
    Bytes text(source.text.begin(), source.text.end());
    text.push_back(0);  // as fatbinary does; without it nvlink reads on
    members.push_back(member.Member(text));
  }
  return FatbinBuilder::Container(members);
}

Bytes Pack(const RandomProgram& program, const Package::Member& member, ProgramTarget target,
           const Bytes& cubin) {
  if (member.form == Form::kCubin) return cubin;
  Bytes fatbin = MakeFatbin(program.files[member.file], target, cubin, member);
  if (member.form == Form::kFatbin) return fatbin;
  std::vector<ElfSection> sections;
  for (const HostList& list : member.lists) {
    sections.push_back({list.section, ListBytes(list.names), 1});
  }
  return MakeHostObjectWithFatbin(fatbin, sections);
}

}  // namespace

RandomProgram MakePackagedProgram(std::uint64_t seed, ProgramTarget target,
                                  const GeneratorLimits& limits) {
  Prng random(seed ^ 0x7061636b61676573U);
  GeneratorLimits chosen = limits;
  if (random.Chance(3)) {
    chosen.max_files = kManyFiles;
    chosen.max_functions = std::min(chosen.max_functions, 3);
  }
  // Where kernels are left out, nvlink loses constants (docs/compatibility.md).
  const bool leaves_out = random.Chance(60);
  if (leaves_out) chosen.features &= ~static_cast<std::uint32_t>(kConstants);
  RandomProgram program = MakePtxProgram(random.Next(), target, chosen);
  Prng more_random(seed ^ 0x6f6e6c79507478U);
  Packer(random, more_random, program, target, leaves_out).Run();
  return program;
}

std::optional<std::vector<std::string>> WritePackages(const RandomProgram& program,
                                                      ProgramTarget target,
                                                      const std::vector<std::string>& cubins,
                                                      const std::filesystem::path& directory) {
  std::vector<std::string> inputs;
  for (const Package& package : program.packages) {
    ArchiveContents contents;
    for (const Package::Member& member : package.members) {
      const auto cubin = ReadBytes(cubins[member.file]);
      if (!cubin) return std::nullopt;
      contents.emplace_back(Cat("m", member.file, member.form == Form::kCubin ? ".cubin" : ".o"),
                            Pack(program, member, target, *cubin));
    }
    const std::string path = (directory / package.name).string();
    const Bytes bytes =
        package.is_archive ? BuildArchive(contents) : std::move(contents.front().second);
    if (!WriteBytes(path, bytes)) return std::nullopt;
    inputs.push_back(path);
  }
  return inputs;
}

}  // namespace devlink::testing
