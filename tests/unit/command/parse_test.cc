// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "command/option_table.h"
#include "devlink/nvlink_command.h"
#include "support/catch.h"
#include "support/text.h"

namespace devlink::testing {
namespace {

using Words = std::vector<std::string>;
using Files = std::map<std::string, std::string>;

absl::StatusOr<NvlinkCommand> Parse(const Words& words, const Files& files = {},
                                    std::vector<CommandMessage>* messages = nullptr) {
  CommandContext context;
  context.read_options_file = [&files](const std::string& path) -> std::optional<std::string> {
    const auto found = files.find(path);
    if (found == files.end()) return std::nullopt;
    return found->second;
  };
  return ParseNvlinkCommand(words, context, messages);
}

// What is said, under the name of the tool where no other is given.
Words Said(const Words& words) {
  std::vector<CommandMessage> messages;
  (void)Parse(words, {}, &messages);
  Words lines;
  for (const CommandMessage& message : messages) {
    lines.push_back(RenderDiagnostic(message.diagnostic, message.tool.value_or("tool")));
  }
  return lines;
}

// With all that a command must have.
Words Whole(const Words& more) {
  Words words = {"-arch=sm_80", "-o", "x.cubin", "a.cubin"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

NvlinkCommand Good(const Words& words, const Files& files = {}) {
  auto command = Parse(words, files);
  INFO(command.status().message());
  REQUIRE(command.ok());
  return *std::move(command);
}

std::string Bad(const Words& words, const Files& files = {}) {
  const auto command = Parse(words, files);
  REQUIRE_FALSE(command.ok());
  CHECK(command.status().code() == absl::StatusCode::kInvalidArgument);
  return std::string(command.status().message());
}

// --- Every option --------------------------------------------------------------------------------

struct Row {
  std::string_view option;  // its long name
  Words words;              // that set it
  std::function<bool(const NvlinkCommand&)> is_set;
};

using Command = const NvlinkCommand&;
bool Always(Command /*command*/) { return true; }

const std::vector<Row> kRows = {
    {"suppress-stack-size-warning",
     {"-suppress-stack-size-warning"},
     [](Command c) { return c.options.suppress_stack_size_warning; }},
    {"suppress-arch-warning",
     {"-suppress-arch-warning"},
     [](Command c) { return c.options.suppress_arch_warning; }},
    {"output-file", {"-o", "y"}, [](Command c) { return c.output == "y"; }},
    {"debug", {"-g"}, [](Command c) { return c.options.debug; }},
    {"arch", {"-arch", "sm_90a"}, [](Command c) { return c.options.target.Name() == "sm_90a"; }},
    {"relocatable-link", {"-r"}, [](Command c) { return c.options.relocatable; }},
    {"machine", {"-m64"}, Always},
    {"library", {"-lfoo"}, [](Command c) { return c.libraries.names == Words{"foo"}; }},
    {"library-path",
     {"-L", "p,q"},
     [](Command c) { return c.libraries.directories == Words{"p", "q"}; }},
    {"verbose", {"-v"}, [](Command c) { return c.options.verbose; }},
    {"disable-warnings", {"-w"}, Always},
    {"warning-as-error", {"-Werror"}, [](Command c) { return c.options.warnings_are_errors; }},
    {"disable-infos", {"-disable-infos"}, [](Command c) { return c.options.suppress_warnings; }},
    {"keep-system-libraries",
     {"-keep-system-libraries"},
     [](Command c) { return c.options.keep_system_libraries; }},
    {"kernels-used",
     {"-kernels-used", "a,b", "-kernels-used=c"},
     [](Command c) { return c.options.kernels_used == Words{"a", "b", "c"}; }},
    {"variables-used",
     {"-variables-used", "\"a,b\""},
     [](Command c) { return c.options.variables_used == Words{"a,b"}; }},
    {"cpu-arch",
     {"-cpu-arch", "AARCH64"},
     [](Command c) { return c.libraries.arch == CpuArch::kAarch64; }},
    {"report-arch", {"-report-arch"}, [](Command c) { return c.options.report_arch; }},
    {"emit-ptx", {"-lto", "-emit-ptx"}, [](Command c) { return c.options.lto.emit_ptx; }},
    {"extra-warnings", {"-extrawarn"}, Always},
    {"link-time-opt", {"-lto"}, [](Command c) { return c.options.lto.enabled; }},
    {"dlto", {"-dlto"}, [](Command c) { return c.options.lto.enabled; }},
    {"nvvmpath",
     {"-nvvmpath", "/nvvm"},
     [](Command c) { return c.toolchain.lto.nvvm_path == "/nvvm"; }},
    {"split-compile", {"-split-compile=4"}, [](Command c) { return c.options.split_compile == 4; }},
    {"lto-partitions",
     {"-lto", "--lto-partitions=4"},
     [](Command c) { return c.options.lto.partitions == 4; }},
    {"split-compile-extended",
     {"-split-compile-extended", "0"},
     [](Command c) { return c.options.lto.split_compile_extended == 0; }},
    {"Ofast-compile",
     {"-lto", "-Ofc", "max"},
     [](Command c) { return c.options.lto.fast_compile == FastCompile::kMax; }},
    {"Xptxas",
     {"-Xptxas", "-O1,-v", "-Xptxas=-w"},
     [](Command c) { return c.options.xptxas == Words{"-O1,-v", "-w"}; }},
    {"Xnvvm", {"-Xnvvm", "-a b"}, [](Command c) { return c.options.lto.xnvvm == Words{"-a b"}; }},
    {"maxrregcount",
     {"-maxrregcount", "0x20"},
     [](Command c) { return c.options.max_registers == 32; }},
    {"suppress-debug-info",
     {"-g", "-suppress-debug-info"},
     [](Command c) { return c.options.suppress_debug_info; }},
    {"use-host-info",
     {"-use-host-info"},
     [](Command c) { return c.options.host_info == HostInfo::kUse; }},
    {"ignore-host-info",
     {"-ignore-host-info"},
     [](Command c) { return c.options.host_info == HostInfo::kIgnore; }},
    {"device-stack-protector",
     {"-device-stack-protector=false"},
     [](Command c) { return c.options.stack_protector == std::optional<bool>(false); }},
    {"force-partial-lto",
     {"-lto", "-force-partial-lto"},
     [](Command c) { return c.options.lto.force_partial; }},
    {"force-whole-lto",
     {"-lto", "-force-whole-lto"},
     [](Command c) { return c.options.lto.force_whole; }},
    {"register-link-binaries",
     {"--register-link-binaries=ids.h"},
     [](Command c) { return c.register_file == "ids.h"; }},
    {"preserve-relocs",
     {"-preserve-relocs"},
     [](Command c) { return c.options.preserve_relocations; }},
    {"wrap",
     {"--wrap", "f,g", "--wrap=h"},
     [](Command c) { return c.options.wrapped_symbols == Words{"f", "g", "h"}; }},
    {"defsym",
     {"--defsym=f=g"},
     [](Command c) {
       return c.options.symbol_aliases.size() == 1 &&
              c.options.symbol_aliases.front().name == "f" &&
              c.options.symbol_aliases.front().means == "g";
     }},
    {"undefined",
     {"--undefined=f"},
     [](Command c) { return c.options.kept_functions == Words{"f"}; }},
    {"icf", {"--icf=safe"}, [](Command c) { return c.options.fold_identical_functions; }},
    {"retain-symbols-file",
     {"--retain-symbols-file", "g.txt"},
     [](Command c) { return c.options.retained_symbols == Words{"-g"}; }},
    {"force-rela", {"-force-rela"}, [](Command c) { return c.options.force_rela; }},
    {"allow-undefined-globals",
     {"-allow-undefined-globals"},
     [](Command c) { return c.options.allow_undefined_globals; }},
    {"reserve-null-pointer",
     {"-reserve-null-pointer"},
     [](Command c) { return c.options.reserve_null_pointer; }},
    {"dont-reserve-null-pointer", {"-dont-reserve-null-pointer"}, Always},
    {"disable-smem-reservation",
     {"-disable-smem-reservation=true"},
     [](Command c) { return c.options.disable_shared_reservation; }},
    {"enable-extended-smem", {"-enable-extended-smem", "true"}, Always},
    {"nv-host", {"-nv-host", "h"}, [](Command c) { return c.host_file == "h"; }},
    {"uidx-file", {"--uidx-file=u"}, [](Command c) { return c.index_file == "u"; }},
    {"time", {"-time", "-"}, [](Command c) { return c.time_table == "-"; }},
    {"dump-callgraph", {"-dump-callgraph"}, [](Command c) { return c.options.dump_call_graph; }},
    {"dump-callgraph-no-demangle",
     {"-dump-callgraph-no-demangle"},
     [](Command c) { return c.options.dump_call_graph; }},
    {"dot-file",
     {"-dot=g.dot"},
     [](Command c) { return c.dot_file == "g.dot" && c.options.dot_call_graph; }},
    {"tool-name", {"-tool-name", "t"}, [](Command c) { return c.tool_name == "t"; }},
    {"verbose-tkinfo",
     {"-verbose-tkinfo=true"},
     [](Command c) { return c.options.recorded_object == "x.cubin"; }},
    {"cuda-api-version", {"-cuda-api-version", "13.7"}, Always},
    {"syscall-const-offset", {"-syscall-const-offset=0x10"}, Always},
    {"device-stack-protector-frame-size-threshold",
     {"-device-stack-protector-frame-size-threshold=1"},
     Always},
    {"uumn", {"-uumn"}, Always},
    {"gen-host-linker-script",
     {"-ghls=lcs-aug", "-V"},  // alone, -ghls takes no inputs
     [](Command c) { return c.host_linker_script == HostLinkerScript::kAugmenting; }},
    {"host-ccbin", {"-host-ccbin", "g++"}, [](Command c) { return c.host_compiler == "g++"; }},
    {"host-linker-options", {"-Xlinker", "a,b"}, Always},
    {"shared", {"-shared"}, [](Command c) { return c.host_shared; }},
    {"options-file", {"-optf", "g.txt"}, [](Command c) { return c.options.debug; }},
    {"version", {"-V"}, [](Command c) { return c.version; }},
    {"help", {"--help"}, [](Command c) { return c.help; }},
    {"help-as",
     {"--help-as=man"},
     [](Command c) { return c.help && c.help_form == HelpForm::kMan; }},
    {"map", {"--map=m"}, [](Command c) { return c.map == "m"; }},
    {"why-live",
     {"--why-live=f(int, int)", "--why-live", "g"},
     [](Command c) { return c.why_live == Words{"f(int, int)", "g"}; }},
    {"why-input", {"--why-input=a"}, [](Command c) { return c.why_input == Words{"a"}; }},
    {"why-registers",
     {"--why-registers=k"},
     [](Command c) { return c.why_registers == Words{"k"}; }},
    {"size", {"--size"}, [](Command c) { return c.size_table; }},
    {"dependency-file",
     {"--dependency-file=d"},
     [](Command c) { return c.dependency_file == "d"; }},
    {"ptxas-path", {"--ptxas-path=p"}, [](Command c) { return c.toolchain.ptx.ptxas_path == "p"; }},
    {"nvptxcompiler-path",
     {"--nvptxcompiler-path=n"},
     [](Command c) { return c.toolchain.ptx.nvptxcompiler_path == "n"; }},
    {"nvjitlink-path",
     {"--nvjitlink-path=j"},
     [](Command c) {
       const ToolchainOptions& tools = c.toolchain;
       return tools.ptx.nvjitlink_path == "j" && tools.lto.nvjitlink_path == "j" &&
              tools.finalizer.nvjitlink_path == "j";
     }},
    {"nvlink-path",
     {"--nvlink-path=n"},
     [](Command c) { return c.toolchain.finalizer.nvlink_path == "n"; }},
    {"finalizer-backend",
     {"--finalizer-backend=nvjitlink"},
     [](Command c) { return c.toolchain.finalizer.backend == FinalizerBackend::kNvJitLink; }},
    {"keep-dir", {"--keep-dir=k"}, [](Command c) { return c.keep_dir == "k"; }},
    {"reproduce", {"--reproduce=r.tar"}, [](Command c) { return c.reproduce == "r.tar"; }},
    {"error-limit", {"--error-limit=7"}, [](Command c) { return c.error_limit == 7; }},
    {"diagnostics-format",
     {"--diagnostics-format=sarif"},
     [](Command c) { return c.message_format == MessageFormat::kSarif; }},
    {"color", {"--color=never"}, [](Command c) { return c.color == UseColor::kNever; }},
    {"report", {"--report", "r.json"}, [](Command c) { return c.report == "r.json"; }},
    {"toolkit",
     {"--toolkit=13.1"},
     [](Command c) {
       return c.options.profile.build_text == ToolkitProfile::ForRelease("13.1")->build_text;
     }},
    {"accept-newer", {"--accept-newer"}, [](Command c) { return c.options.accept_newer_inputs; }},
    {"compat",
     {"--compat", "nvlink"},
     [](Command c) { return c.options.compatibility == Compatibility::kNvlink; }},
    {"keep-references",
     {"--keep-references"},
     [](Command c) { return c.options.keep_references == true; }},
    {"ptx-backend",
     {"--ptx-backend=ptxas"},
     [](Command c) { return c.toolchain.ptx.backend == PtxBackend::kPtxas; }},
    {"ptxas-timeout",
     {"--ptxas-timeout=90"},
     [](Command c) {
       return c.toolchain.ptx.timeout == std::chrono::seconds(90) &&
              c.toolchain.finalizer.timeout == std::chrono::seconds(90);
     }},
    {"lto-backend",
     {"--lto-backend", "nvjitlink"},
     [](Command c) { return c.toolchain.lto.backend == LtoBackend::kNvJitLink; }},
    {"finalize",
     {"--finalize=never"},
     [](Command c) { return c.options.finalize == FinalizeMode::kNever; }},
    {"finalizer-parts",
     {"--finalizer-parts=3"},
     [](Command c) { return c.options.finalizer_parts == 3; }},
    {"cache", {"--cache", "dir"}, [](Command c) { return c.cache == "dir"; }},
    {"remote-cache",
     {"--remote-cache=redis://h"},
     [](Command c) { return c.remote_cache == "redis://h"; }},
    {"print-after",
     {"--print-after", "merge,relocate", "--print-after=shared"},
     [](Command c) {
       return c.print_after ==
              std::vector<LinkPass>{LinkPass::kMerge, LinkPass::kRelocate, LinkPass::kShared};
     }},
    {"time-trace", {"--time-trace", "t.json"}, [](Command c) { return c.time_trace == "t.json"; }},
    {"log", {"--log"}, [](Command c) { return c.log; }},
};

TEST_CASE("Every option does what its row says", "[command]") {
  const NvlinkCommand plain = Good(Whole({}));
  for (const Row& row : kRows) {
    CAPTURE(row.option);
    const bool always = row.is_set(plain);
    const NvlinkCommand command = Good(Whole(row.words), {{"g.txt", "-g"}});
    CHECK(row.is_set(command));
    if (always) CHECK(command.inputs == Words{"a.cubin"});  // the words are taken, no more
  }
}

TEST_CASE("Every option has a test and help, and one name", "[command]") {
  std::set<std::string_view> tested;
  for (const Row& row : kRows) tested.insert(row.option);
  std::set<std::string_view> names;
  const std::string help = NvlinkHelpText();
  for (const internal::Option& option : internal::Options()) {
    CAPTURE(option.long_name);
    CHECK(tested.contains(option.long_name));
    CHECK(names.insert(option.long_name).second);
    CHECK_FALSE(option.help.empty());
    CHECK(help.find("-" + std::string(option.long_name)) != std::string::npos);
  }
}

TEST_CASE("An option may be written in several ways", "[command]") {
  for (const Words& words :
       {Words{"-arch=sm_90"}, {"-arch", "sm_90"}, {"--arch=sm_90"}, {"--arch", "sm_90"}}) {
    CHECK(Good(Whole(words)).options.target.Name() == "sm_90");
  }
  for (const Words& words :
       {Words{"-l=a"}, {"-la"}, {"-l", "a"}, {"--library=a"}, {"--library", "a"}}) {
    CHECK(Good(Whole(words)).libraries.names == Words{"a"});
  }
  CHECK(Good(Whole({"-ldir=x"})).libraries.names == Words{"dir=x"});
}

TEST_CASE("A virtual architecture only checks, until a real one follows", "[command]") {
  const NvlinkCommand checked = Good({"-arch=compute_80", "a.cubin"});
  CHECK(checked.options.check_only);
  CHECK(checked.options.target.Name() == "sm_80");
  CHECK(checked.output.empty());
  CHECK_FALSE(Good(Whole({"-arch=compute_80", "-arch=sm_80"})).options.check_only);
}

TEST_CASE("What does not begin with a dash is an input, and so is a dash", "[command]") {
  CHECK(Good(Whole({"-", "b.o", "", "-g", "c"})).inputs == Words{"a.cubin", "-", "b.o", "", "c"});
}

// --- What is wrong -------------------------------------------------------------------------------

TEST_CASE("Words that are wrong are named", "[command]") {
  CHECK(Bad(Whole({"-nonsense"})) == "Unknown option 'nonsense'");
  CHECK(Bad(Whole({"--nonsense"})) == "Unknown option '-nonsense'");
  CHECK(Bad(Whole({"-nonsense=3"})) == "Unknown option 'nonsense'");
  CHECK(Bad(Whole({"--"})) == "Unknown option '-'");
  CHECK(Bad(Whole({"--o", "x"})) == "Unknown option '-o'");
  CHECK(Bad(Whole({"-output-file", "x"})) == "Unknown option 'output-file'");
  CHECK(Bad(Whole({"-o"})) == "argument expected after '-o'");
  CHECK(Bad(Whole({"--report"})) == "argument expected after '--report'");
  CHECK(Bad(Whole({"-g=1"})) == "no argument expected after '-g'");
  CHECK(Bad(Whole({"--debug="})) == "no argument expected after '--debug'");
}

TEST_CASE("Values that are wrong are named", "[command]") {
  const auto undefined = [](std::string_view option, std::string_view value) {
    return "Value '" + std::string(value) + "' is not defined for option '" + std::string(option) +
           "'";
  };
  for (const char* option : {"arch", "cpu-arch", "toolkit", "compat", "ptx-backend", "lto-backend",
                             "finalizer-backend"}) {
    CHECK(Bad(Whole({"--" + std::string(option), "x"})) == undefined(option, "x"));
    CHECK(Bad(Whole({"--" + std::string(option) + "="})) == undefined(option, ""));
  }
  CHECK(Bad(Whole({"-arch=compute_1"})) == undefined("arch", "compute_1"));
  CHECK(Bad(Whole({"-m32"})) == undefined("machine", "32"));
  CHECK(Bad(Whole({"-m="})) == undefined("machine", ""));
  CHECK(Bad(Whole({"-device-stack-protector", "yes"})) == "'yes': expected true or false");
  for (const char* option :
       {"machine", "maxrregcount", "split-compile", "split-compile-extended", "lto-partitions"}) {
    CHECK(Bad(Whole({"--" + std::string(option), "x"})) == "'x': expected a number");
  }
  CHECK(Bad(Whole({"-kernels-used", "\"a"})) == "Stray '\"' character");
  CHECK(Bad(Whole({"-lto", "-Ofc", "x"})) == "Invalid argument for option '--Ofast-compile'");
}

TEST_CASE("A target belongs to the releases that know it", "[command]") {
  const Words files = {"-o", "x", "a.cubin"};
  for (const std::string arch : {"sm_107", "sm_107a", "compute_107"}) {
    for (const bool release_first : {false, true}) {
      Words words = {"-arch", arch};
      const auto at = release_first ? words.begin() : words.end();
      words.insert(at, {"--toolkit", "13.4"});
      words.insert(words.end(), files.begin(), files.end());
      CHECK(Good(words).options.target.number == 107);
      *std::find(words.begin(), words.end(), "13.4") = "13.3";
      CHECK(Bad(words) == "Value '" + arch + "' is not defined for option 'arch'");
    }
  }
}

TEST_CASE("Every pass has a name that --print-after knows", "[command]") {
  for (const LinkPass pass : AllPasses()) {
    CHECK(Good(Whole({"--print-after", std::string(PassName(pass))})).print_after ==
          std::vector<LinkPass>{pass});
  }
  CHECK(Bad(Whole({"--print-after=merge,nothing"})) ==
        "Value 'nothing' is not defined for option 'print-after'");
}

TEST_CASE("What is wrong first is said", "[command]") {
  CHECK(Bad({"-m32", "-nonsense"}) == "Value '32' is not defined for option 'machine'");
  CHECK(Bad({"-nonsense", "-m32"}) == "Unknown option 'nonsense'");
}

TEST_CASE("What is missing is said in nvlink's order", "[command]") {
  CHECK(Bad({}) == "Unknown arch name '(null)'");
  CHECK(Bad({"-o", "x", "a.cubin"}) == "Unknown arch name '(null)'");
  CHECK(Bad({"-arch=sm_80"}) == "Must specify output file with -o option");
  CHECK(Bad({"-arch=sm_80", "-o", "x"}) ==
        "No input files specified; use option --help for more information");
}

TEST_CASE("Options that contradict each other are named in nvlink's order", "[command]") {
  const auto conflict = [](std::string_view one, std::string_view other) {
    return "Conflicting options '" + std::string(one) + "' and '" + std::string(other) + "'";
  };
  CHECK(Bad(Whole({"-emit-ptx", "-use-host-info", "-ignore-host-info", "-suppress-debug-info"})) ==
        conflict("-suppress-debug-info", "no -g"));
  CHECK(Bad(Whole({"-use-host-info", "-ignore-host-info", "-dump-callgraph",
                   "-dump-callgraph-no-demangle"})) ==
        conflict("-dump-callgraph", "-dump-callgraph-no-demangle"));
  CHECK(Bad(Whole({"-emit-ptx", "-use-host-info", "-ignore-host-info"})) ==
        conflict("-use-host-info", "-ignore-host-info"));
  CHECK(Bad(Whole({"-emit-ptx", "-force-whole-lto", "-force-partial-lto"})) ==
        conflict("-force-partial-lto", "no -dlto"));
  CHECK(Bad(Whole({"-emit-ptx", "-force-whole-lto"})) == conflict("-force-whole-lto", "no -dlto"));
  CHECK(Bad(Whole({"-emit-ptx", "-Ofc=x"})) == conflict("-emit-ptx", "no -dlto"));
  CHECK(Bad(Whole({"-Ofc=x"})) == conflict("--Ofast-compile", "no -dlto"));
  CHECK(Bad(Whole({"-lto", "--compat=nvlink", "-force-whole-lto", "-r"})) ==
        "-nvvmpath should be specified with -lto");
  CHECK(Bad(Whole({"-lto", "-force-whole-lto", "-r", "-Ofc=x"})) ==
        conflict("-force-partial-lto", "-force-whole-lto"));
  CHECK(Good(Whole({"-lto", "--compat=nvlink", "-nvvmpath="})).options.lto.enabled);
}

TEST_CASE("Nothing is missing for help and the version, but words must be right", "[command]") {
  CHECK(Good({"-h", "-emit-ptx"}).help);
  CHECK(Good({"-V"}).version);
  CHECK(Bad({"-h", "-nonsense"}) == "Unknown option 'nonsense'");
}

TEST_CASE("Of two values the last counts, with a warning where they differ", "[command]") {
  const Words words =
      Whole({"-arch=sm_90", "-maxrregcount=31", "-maxrregcount=32", "-o", "x.cubin"});
  CHECK(Good(words).options.target.Name() == "sm_90");
  const std::string begin = "tool warning : incompatible redefinition for option '";
  const std::string end = "', the last value of this option was used\n";
  CHECK(Said(words) == Words{begin + "arch" + end, begin + "maxrregcount" + end});
  CHECK(Said(Whole({"-kernels-used=a", "-kernels-used=b", "-g", "-g", "-maxrregcount=0x20",
                    "-maxrregcount=32"}))
            .empty());
}

TEST_CASE("Warnings stand in front of what ends the command", "[command]") {
  const std::string warning =
      "tool warning : incompatible redefinition for option 'output-file', the last value of this "
      "option was used\n";
  CHECK(Said({"-o", "x", "-o", "y", "--compat=nvlink"}) ==
        Words{warning, "tool fatal   : Unknown arch name '(null)'\n"});
}

TEST_CASE("From the moment that all words are read a command speaks in its own name", "[command]") {
  CHECK(Said({"-tool-name=it", "-tool-name=me", "--compat=nvlink"}) ==
        Words{"tool warning : incompatible redefinition for option 'tool-name', the last value of "
              "this option was used\n",
              "me fatal   : Unknown arch name '(null)'\n"});
  CHECK(Said({"-tool-name=it", "-nonsense", "--compat=nvlink"}) ==
        Words{"tool fatal   : Unknown option 'nonsense'\n"});
}

TEST_CASE("sm_90 and later are warned of -preserve-relocs, once all else is right", "[command]") {
  const std::string end =
      " : Option '--preserve-relocs' is not fully implemented for gpu archtecture 'sm_90' and may "
      "not work as expected\n";
  const Words words = Whole({"-arch=sm_80", "-preserve-relocs"});
  CHECK(Said(words).empty());
  const auto with = [](Words more) {
    more.insert(more.begin(), {"-arch=sm_90", "-o", "x", "a", "-preserve-relocs"});
    return more;
  };
  CHECK(Said(with({})) == Words{"tool warning" + end});
  CHECK(Said(with({"-disable-infos", "-Werror"})).empty());
  CHECK(Said(with({"-Werror"})) == Words{"tool error  " + end});
  CHECK(Said(with({"-emit-ptx"})).size() == 1);
  CHECK(Said(with({"-cuda-api-version=12.9"})).size() == 2);
}

TEST_CASE("Notes say what may have been meant, but not in nvlink's place", "[command]") {
  CHECK(Said({"-output-file", "x"}) == Words{"tool fatal   : Unknown option 'output-file'\n"
                                             "tool note    : did you mean '--output-file'?\n"});
  CHECK(Said({"-output-file", "x", "--compat", "nvlink"}) ==
        Words{"tool fatal   : Unknown option 'output-file'\n"});
  CHECK(Said({"-arch=80"}).front().find("note    : did you mean 'sm_80'?\n") != std::string::npos);
}

TEST_CASE("Wrong words say what format their messages are to have", "[command]") {
  const auto format = [](const Words& words) { return MessageFormatOf(words); };
  CHECK(format({"-bogus"}) == MessageFormat::kText);
  CHECK(format({"-diagnostics-format=json", "-bogus"}) == MessageFormat::kJson);
  CHECK(format({"-bogus", "--diagnostics-format", "sarif"}) == MessageFormat::kSarif);
  CHECK(format({"--diagnostics-format"}) == MessageFormat::kText);
  CHECK(format({"diagnostics-format=json"}) == MessageFormat::kText);
  CHECK(format({"--diagnostics-formats=json"}) == MessageFormat::kText);
}

TEST_CASE("The version of the API is that of the toolkit", "[command]") {
  for (const char* good : {"13.0", "13.99", "013.1"}) {
    CHECK(Good(Whole({"-cuda-api-version", good})).inputs.size() == 1);
  }
  for (const char* bad : {"", "13", "13.", "13.x", "13.1x"}) {
    CHECK(Bad(Whole({"-cuda-api-version", bad})) == "--cuda-api-version value cannot be parsed");
  }
  for (const char* other : {"12.9", "-13.1", "130.0"}) {
    CHECK(Bad(Whole({"-cuda-api-version", other})) ==
          "--cuda-api-version major number must be == toolkit version");
  }
}

// --- Files of options ----------------------------------------------------------------------------

TEST_CASE("Words of a file stand in the place of the option", "[command]") {
  const Files files = {{"one", "b.o -arch \"sm\"_80"}, {"two", "c.o\n-optf one\td.o"}};
  const NvlinkCommand command = Good({"a.o", "-optf", "two", "e.o", "-o", "x"}, files);
  CHECK(command.inputs == Words{"a.o", "c.o", "b.o", "d.o", "e.o"});
  CHECK(command.options.recorded_options == "-arch sm_80 ");
}

TEST_CASE("Words of a file stand in the place of its name behind an @", "[command]") {
  const Files files = {{"one", "b.o -g"}};
  const NvlinkCommand command = Good(Whole({"@one", "c.o"}), files);
  CHECK(command.inputs == Words{"a.cubin", "b.o", "c.o"});
  CHECK(command.options.debug);
  // What is not there is an input of that name, and so is everything for nvlink.
  CHECK(Good(Whole({"@two", "@"}), files).inputs == Words{"a.cubin", "@two", "@"});
  CHECK(Good(Whole({"@one", "--compat=nvlink"}), files).inputs == Words{"a.cubin", "@one"});
  CHECK(Bad(Whole({"@one"}), {{"one", "@one"}}) == "Too many options file opened 'one'");
}

TEST_CASE("Several files of options are read in their order", "[command]") {
  const Files files = {{"one", "b"}, {"two", "c"}};
  CHECK(Good(Whole({"-optf", "two,one", "--options-file=two"}), files).inputs ==
        Words{"a.cubin", "c", "b", "c"});
  CHECK(Good(Whole({"-optf="})).inputs == Words{"a.cubin"});
}

TEST_CASE("An option's value does not stand in another file", "[command]") {
  CHECK(Bad({"-optf", "one", "sm_80"}, {{"one", "-arch"}}) == "argument expected after '-arch'");
}

TEST_CASE("A file of options that cannot be read ends the command", "[command]") {
  CHECK(Bad({"-optf", "one"}) == "Could not open options file 'one'");
  CHECK(Bad({"-optf", "one"}, {{"one", "-optf two"}}) == "Could not open options file 'two'");
}

TEST_CASE("A file of options that reads itself ends the command", "[command]") {
  CHECK(Bad({"-optf", "one"}, {{"one", "-optf one"}}) == "Too many options file opened 'one'");
}

TEST_CASE("Files of options that multiply, or have no end, end the command", "[command]") {
  const std::string refused = "is one too many: of all files together at most 4096 and 16 MiB";
  Files tree = {{"13", "-g"}};
  for (int i = 0; i < 13; ++i) {
    const std::string next = std::to_string(i + 1);
    tree[std::to_string(i)] = Cat("-optf ", next, ",", next, ",", next);
  }
  CHECK(Bad({"-optf", "0"}, tree).find(refused) != std::string::npos);
  CHECK(Bad({"-optf", "one"}, {{"one", std::string((16 << 20) + 1, ' ')}}).find(refused) !=
        std::string::npos);
  if (!std::filesystem::is_character_file("/dev/zero")) return;
  const Words words = {"-optf", "/dev/zero"};
  CHECK(std::string(ParseNvlinkCommand(words, {}).status().message()).find(refused) !=
        std::string::npos);
}

// --- What nvlink records -------------------------------------------------------------------------

std::string Recorded(const Words& words) { return Good(words).options.recorded_options; }

TEST_CASE("Options are recorded in nvlink's order, under their short names", "[command]") {
  CHECK(Recorded(Whole({})) == "-arch sm_80 ");
  CHECK(Recorded(Whole({"--verbose", "-r", "-suppress-arch-warning"})) ==
        "-suppress-arch-warning  -arch sm_80 -v  -r  ");
  CHECK(Recorded(Whole({"-maxrregcount=0x20", "-time=t", "-optf="})) ==
        "-arch sm_80 -maxrregcount 32 ");
  CHECK(Recorded(Whole({"-la,b", "-lc", "-maxrregcount=1", "-maxrregcount=2"})) ==
        "-arch sm_80 -l a,b,c -maxrregcount 2 ");
  CHECK(Recorded(Whole({"-shared", "--report=x", "--cache", "y"})) == "-arch sm_80 ");
  CHECK(Recorded(Whole({"-arch=compute_80"})) == "-arch compute_80 ");
}

TEST_CASE("With -g names of files are recorded, too", "[command]") {
  const NvlinkCommand command = Good({"-g", "-arch=sm_80", "-o", "out/x.cubin", "in/a.o", "b.o",
                                      "--register-link-binaries=r/ids.h"});
  CHECK(command.options.recorded_options == "a.o,b.o -o x.cubin -g  -arch sm_80 - ids.h ");
  CHECK(command.options.recorded_object == "x.cubin");
  CHECK(Good(Whole({})).options.recorded_object.empty());
  CHECK(Recorded(Whole({"-time=d/t.csv", "-optf=", "-verbose-tkinfo=true"})) ==
        "a.cubin -o x.cubin -arch sm_80 -time t.csv -optf  ");
  CHECK(Recorded(Whole({"-g", "-verbose-tkinfo=false"})) == "-g  -arch sm_80 ");
}

}  // namespace
}  // namespace devlink::testing
