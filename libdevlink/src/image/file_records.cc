// SPDX-License-Identifier: Apache-2.0
#include "image/file_records.h"

#include <array>
#include <cstdint>

#include "format/notes.h"

namespace devlink::internal {

namespace {

// Written by nvlink into every executable below sm_100; its meaning is not known.
constexpr std::array<std::uint8_t, 16> kRelocationActions = {
    0x73, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x11, 0x25, 0x00, 0x05, 0x36};

}  // namespace

void FillFileRecords(const Program& program, const FileParts& file, const ViewHandles& handles,
                     bool relocatable, const ImageSettings& settings, CubinWriter& writer) {
  const SectionHandle tools = handles.sections[program.tool_note];
  const SectionHandle cuda = handles.sections[program.cuda_note];
  writer.AppendCopy(tools,
                    format::EncodeOwnRecord(settings.profile, settings.recorded_object,
                                            settings.recorded_options, settings.recorded_tool));
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
