// SPDX-License-Identifier: Apache-2.0
__device__ int Step(int, int);
__global__ void Loop(int* p) {
  switch (p[2]) {
    case 0:
      p[0] = 1;
      break;
    case 1:
      p[1] = __brev(p[0]);
      break;
    case 2:
      p[2] = p[0] / p[1];
      break;
    case 3:
      p[3] = p[0] % 7;
      break;
    case 4:
      p[4] = __ffs(p[0]);
      break;
    case 5:
      p[5] = p[0] * p[1];
      break;
    default:
      p[6] = Step(p[0], p[1]);
  }
}
