// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "devlink/driver.h"

int main(int argc, char** argv) {
  return devlink::app::RunDriver(std::vector<std::string>(argv + 1, argv + argc));
}
