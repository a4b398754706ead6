// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"
#include "base/visible_text.h"
#include "devlink/sinks.h"

namespace devlink {

namespace {

std::string_view PhaseText(LinkPhase phase) {
  switch (phase) {
    case LinkPhase::kReading:
      return "reading";
    case LinkPhase::kLtoCompile:
      return "optimising";
    case LinkPhase::kAssembling:
      return "assembling";
    case LinkPhase::kLinking:
      return "linking";
    case LinkPhase::kWriting:
      return "writing";
  }
  return "working";
}

bool ContinuesCharacter(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// At most `width` bytes, the middle replaced by dots; no UTF-8 sequence is cut in two.
std::string Shorten(std::string text, std::size_t width) {
  constexpr std::string_view kDots = "...";
  if (text.size() <= width) return text;
  if (width <= kDots.size()) return {};
  std::size_t head = (width - kDots.size()) / 2;
  std::size_t tail = text.size() - (width - kDots.size() - head);
  while (head > 0 && ContinuesCharacter(text[head])) --head;
  while (tail < text.size() && ContinuesCharacter(text[tail])) ++tail;
  return text.replace(head, tail - head, kDots);
}

}  // namespace

std::string ProgressText(const ProgressEvent& event, std::size_t width) {
  std::string out(PhaseText(event.phase));
  if (event.total > 1) {
    out += base::Cat({" ", std::to_string(event.done), " of ", std::to_string(event.total)});
  }
  if (event.subject.empty() || out.size() + 2 >= width) return out;
  std::string subject = Shorten(base::VisibleText(event.subject), width - out.size() - 2);
  return subject.empty() ? out : base::Cat({out, ": ", subject});
}

}  // namespace devlink
