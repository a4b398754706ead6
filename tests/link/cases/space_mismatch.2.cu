// SPDX-License-Identifier: Apache-2.0
__constant__ int numbers[4];
