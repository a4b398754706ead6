# SPDX-License-Identifier: Apache-2.0
"""A program in C that takes devlink from its Conan package and runs."""

import os

from conan import ConanFile
from conan.tools.cmake import CMake


class Consumer(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeToolchain"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        self.folders.build = "build"
        self.folders.generators = "build"

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        self.run(os.path.join(self.build_folder, "consumer"), env="conanrun")
