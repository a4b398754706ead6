// SPDX-License-Identifier: Apache-2.0
//
// Nothing but the headers that tests/CMakeLists.txt has compiled once for all tests.
