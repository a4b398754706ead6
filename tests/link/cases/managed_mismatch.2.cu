// SPDX-License-Identifier: Apache-2.0
__managed__ int state = 3;
