// SPDX-License-Identifier: Apache-2.0
//
// Whatever the CUDA tools write can be said to a CubinWriter: their files, described to it part by
// part, come out byte for byte.
#include "support/cubin_rewrite.h"

#include <cstddef>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.h"
#include "support/process.h"
#include "support/toolkit.h"

namespace devlink::testing {
namespace {

// Static and dynamic shared memory, constants of all kinds, initialised and other variables, calls
// into another file, double precision (constants and subroutines of the compiler's own).
constexpr const char* kKernels = R"(
__constant__ int table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__device__ int counter = 3;
__device__ int scratch[16];
extern __device__ double helper(double);
static __device__ __noinline__ double local(double x) { return x * 1.2345678912 + 3.1415926; }
__global__ void k(double* p, int n) {
  __shared__ double s[32];
  s[threadIdx.x] = p[threadIdx.x] / 3.3333333333;
  __syncthreads();
  if (n > 3) {
    p[0] = helper(s[n]) + table[n] + local(s[1]) + p[1] * 7.1234567891;
    atomicAdd(&counter, scratch[n]);
    __threadfence();
  }
}
__global__ void k2(int* p, int n) {
  extern __shared__ int dynamic[];
  switch (n) {
    case 0: *p = table[*p]; break;
    case 1: *p = dynamic[n]; break;
    case 2: *p = sqrt((double)*p); break;
    case 3: *p ^= 17; break;
    case 4: *p /= n + 77; break;
    case 5: *p %= 99; break;
  }
})";
constexpr const char* kHelper = R"(
typedef double (*Function)(double);
__device__ double twice(double x) { return 2 * x; }
__device__ Function pointer = twice;
__device__ double helper(double x) { return pointer(x) + 1.0 / x; })";

class Files {
 public:
  std::string Compile(const Toolkit& toolkit, const std::string& name, const char* text,
                      const std::vector<std::string>& options) {
    std::ofstream(directory_.File(name + ".cu")) << text;
    const std::string out = directory_.File(name + ".cubin");
    std::vector<std::string> line = {toolkit.nvcc, "-rdc=true", "-cubin",
                                     "-o",         out,         directory_.File(name + ".cu")};
    line.insert(line.end(), options.begin(), options.end());
    const ProcessResult result = RunProcess(line);
    INFO(result.err);
    REQUIRE(result.ok());
    return out;
  }
  std::string Link(const Toolkit& toolkit, const std::string& name, std::vector<std::string> line) {
    const std::string out = directory_.File(name);
    line.insert(line.begin(), toolkit.nvlink);
    line.insert(line.end(), {"-o", out});
    const ProcessResult result = RunProcess(line);
    INFO(result.err);
    REQUIRE(result.ok());
    return out;
  }

 private:
  TemporaryDirectory directory_;
};

void CheckRewritten(const std::string& path) {
  CAPTURE(path);
  const auto file = ReadBytes(path);
  REQUIRE(file.has_value());
  const std::vector<std::uint8_t> rewritten = RewriteCubin(*file);
  CHECK(rewritten.size() == file->size());
  std::size_t same = 0;
  while (same < file->size() && same < rewritten.size() && (*file)[same] == rewritten[same]) ++same;
  CHECK(same == file->size());
}

TEST_CASE("Files of the CUDA tools can be described to the writer", "[link]") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit");
  const std::vector<std::pair<std::string, std::string>> kinds = {
      {"sm_80", ""},           {"sm_90", "-G"},  {"sm_100", ""},
      {"sm_100", "-lineinfo"}, {"sm_100", "-G"}, {"sm_120", ""}};
  for (const auto& [arch, debug] : kinds) {
    CAPTURE(arch, debug);
    Files files;
    std::vector<std::string> options = {"-arch=" + arch};
    if (!debug.empty()) options.push_back(debug);
    const std::string a = files.Compile(*toolkit, "a", kKernels, options);
    const std::string b = files.Compile(*toolkit, "b", kHelper, options);
    CheckRewritten(a);
    CheckRewritten(b);
    CheckRewritten(files.Link(*toolkit, "linked", {options[0], a, b}));
    CheckRewritten(files.Link(*toolkit, "relocatable", {options[0], "-r", a, b}));
  }
}

}  // namespace
}  // namespace devlink::testing
