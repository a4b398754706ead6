// SPDX-License-Identifier: Apache-2.0
// A source with host code only gives an object with an empty .debug_frame.
int HostFunction(int x) { return x + 1; }
static int host_variable = 4;
int* HostPointer() { return &host_variable; }
