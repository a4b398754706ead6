// SPDX-License-Identifier: Apache-2.0
// Thread block clusters and distributed shared memory.
// archs: 90 90a
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ int* Neighbour(int* s) { return cg::this_cluster().map_shared_rank(s, 1); }
__global__ void __cluster_dims__(2, 1, 1) Fixed(int* p) {
  __shared__ int s[8];
  s[threadIdx.x & 7] = *p;
  cg::this_cluster().sync();
  *p = *Neighbour(s);
}
