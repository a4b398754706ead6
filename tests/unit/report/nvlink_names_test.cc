// SPDX-License-Identifier: Apache-2.0
#include "report/nvlink_names.h"

#include "support/catch.h"

namespace devlink::internal {
namespace {

// All as nvlink -dump-callgraph printed them.
TEST_CASE("Names are spelt as nvlink spells them", "[report]") {
  CHECK(NameAsNvlinkSpellsIt("plain") == "plain");
  CHECK(NameAsNvlinkSpellsIt("_Z5knonev") == "knone()");
  CHECK(NameAsNvlinkSpellsIt("_Z4kernPi") == "kern(int *)");
  CHECK(NameAsNvlinkSpellsIt("_Z5FetchPK4int4") == "Fetch(const int4 *)");
  CHECK(NameAsNvlinkSpellsIt("_Z4MakePP5Shape") == "Make(Shape **)");
  CHECK(NameAsNvlinkSpellsIt("_ZN2ns2in1S2stEyPKPKc") ==
        "ns::in::S::st(unsigned long long, const char *const *)");
  CHECK(NameAsNvlinkSpellsIt("_ZNK2ns2in1S1mERKS1_") == "ns::in::S::m(const ns::in::S&) const");
  CHECK(NameAsNvlinkSpellsIt("_ZNK2ns2in1SplERKS1_") ==
        "ns::in::S::operator +(const ns::in::S&) const");
  CHECK(NameAsNvlinkSpellsIt("_ZN2ns2in1SclEOi") == "ns::in::S::operator ()(int &&)");
  CHECK(NameAsNvlinkSpellsIt("_ZN2ns2in1SixEi") == "ns::in::S::operator [](int)");
  CHECK(NameAsNvlinkSpellsIt("_ZNK2ns2in1ScvbEv") == "ns::in::S::operator bool() const");
  CHECK(NameAsNvlinkSpellsIt("_ZN2ns2in1SD1Ev") == "ns::in::S::~S()");
  CHECK(NameAsNvlinkSpellsIt("_Z3arrPVKihalmxstdbz") ==
        "arr(const volatile int *, unsigned char, signed char, long, unsigned long, long long, "
        "short, unsigned short, double, bool, ...)");
  CHECK(NameAsNvlinkSpellsIt("_Z1fPFviEPA3_i") == "f(void (*)(int), int (*)[3])");
}

TEST_CASE("What the compiler adds to names of one file is left out", "[report]") {
  CHECK(NameAsNvlinkSpellsIt("_ZN35_INTERNAL_9d44ec8c_5_cg_cu__Z4leafi4statEi") == "stat(int)");
  CHECK(NameAsNvlinkSpellsIt("_Z2l3iPi$1") == "l3(int, int *)");
  CHECK(NameAsNvlinkSpellsIt("_ZN35_INTERNAL_40d9d0f8_5_dm_cu_c222125037_GLOBAL__N__40d9d0f8_5_dm_"
                             "cu_c22212504anonEi") == "<unnamed>::anon(int)");
}

}  // namespace
}  // namespace devlink::internal
