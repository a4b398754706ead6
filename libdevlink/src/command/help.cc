// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "base/strings.h"
#include "command/option_table.h"
#include "devlink/nvlink_command.h"
#include "devlink/version.h"

namespace devlink {

namespace {

// "-o, --output-file <value>"; a long name that is no longer than a letter needs no second form.
std::string Names(const internal::Option& option) {
  std::string out;
  if (!option.short_name.empty()) out = base::Cat({"-", option.short_name});
  if (option.short_name.size() != 1 || option.long_name != option.short_name) {
    out += base::Cat({out.empty() ? "--" : ", --", option.long_name});
  }
  if (option.takes != internal::Takes::kNothing) out += " <value>";
  return out;
}

}  // namespace

std::string NvlinkHelpText() {
  constexpr std::size_t kNamesWidth = 62;
  std::string out = "usage: devlink -arch sm_NN -o output.cubin input.cubin...\n\n";
  for (const internal::Option& option : internal::Options()) {
    std::string names = Names(option);
    names.resize(std::max(names.size(), kNamesWidth), ' ');
    out += base::Cat({"  ", names, " ", option.help, "\n"});
  }
  return out;
}

std::string NvlinkVersionText(const ToolkitProfile& profile) {
  const std::string_view text = profile.version_text;
  return base::Cat({"devlink: open device linker for CUDA, version ", Version(),
                    "\nWrites what nvlink of CUDA ", profile.ReleaseName(), " writes (",
                    text.substr(std::min(text.find("release"), text.size())), ")\n"});
}

}  // namespace devlink
