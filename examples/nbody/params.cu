// SPDX-License-Identifier: Apache-2.0
#include "nbody.h"

__constant__ SimulationParams params = {1e-3f, 1e-4f, 1.0f, 0};
