// SPDX-License-Identifier: Apache-2.0
#include "image/file_records.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "devlink/version.h"
#include "format/notes.h"

namespace devlink::internal {

namespace {

// Written by nvlink into every executable below sm_100; its meaning is not known.
constexpr std::array<std::uint8_t, 16> kRelocationActions = {
    0x73, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x11, 0x25, 0x00, 0x05, 0x36};

// devlink's record takes exactly nvlink's room, so that nothing behind it moves.
std::vector<std::uint8_t> OwnRecord(const ImageSettings& settings) {
  constexpr std::string_view kTool = "devlink";
  constexpr std::size_t kNvlinkNameLength = 6;
  const ToolkitProfile& profile = settings.profile;
  format::ToolRecord record;
  record.object = settings.recorded_object;
  record.tool = kTool;
  record.version =
      base::Cat({"libdevlink ", Version(), ", as nvlink of CUDA ", profile.ReleaseName()});
  record.version.resize(profile.version_text_length, ' ');
  record.build = "https://github.com/libdevlink";
  record.build.resize(profile.build_text_length - (kTool.size() - kNvlinkNameLength), ' ');
  record.options = settings.recorded_options;
  return format::EncodeToolRecord(record);
}

}  // namespace

void FillFileRecords(const Program& program, const FileParts& file, const ViewHandles& handles,
                     bool relocatable, const ImageSettings& settings, CubinWriter& writer) {
  const SectionHandle tools = handles.sections[program.tool_note];
  const SectionHandle cuda = handles.sections[program.cuda_note];
  writer.AppendCopy(tools, OwnRecord(settings));
  if (!relocatable) {
    for (const Piece& record : file.tool_records) {
      writer.AppendAligned(tools, record.bytes, 1);
    }
  }
  writer.AppendCopy(cuda, file.cuda_note);
  writer.SetLinkSection(cuda, tools);
  if (program.compat != kNone) {
    const SectionHandle compat = handles.sections[program.compat];
    writer.AppendCopy(compat, file.compat);
    writer.SetInfoSection(cuda, compat);
  }
  if (handles.actions != kNoSection) writer.AppendCopy(handles.actions, kRelocationActions);
}

}  // namespace devlink::internal
