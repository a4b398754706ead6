# SPDX-License-Identifier: Apache-2.0
"""For Conan 2: docs/packages.md, "Conan"."""

import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain
from conan.tools.files import load
from conan.tools.system.package_manager import Apt


class DevlinkConan(ConanFile):
    name = "devlink"
    description = "An open device linker for CUDA: nvlink's bytes, in process"
    license = "Apache-2.0"
    url = "https://github.com/libdevlink"
    topics = ("cuda", "linker", "gpu", "compiler")
    settings = "os", "arch", "compiler", "build_type"
    exports_sources = (
        "CMakeLists.txt",
        "LICENSE",
        "NOTICE",
        "apps/*",
        "cmake/*",
        "libdevlink/*",
        "scripts/build_facts.py",
        "scripts/sbom",
    )

    def set_version(self):
        text = load(self, os.path.join(self.recipe_folder, "CMakeLists.txt"))
        self.version = re.search(r"project\(\s*devlink\s+VERSION (\S+)", text).group(1)

    def layout(self):
        # With a build that is there, `conan export-pkg` builds nothing.
        self.folders.build = os.environ.get("DEVLINK_BUILD", os.path.join("build", "conan"))
        self.folders.generators = os.path.join("build", "conan", "generators")

    def validate(self):
        if (str(self.settings.os), str(self.settings.arch)) != ("Linux", "x86_64"):
            raise ConanInvalidConfiguration("devlink is for Linux on x86-64")
        if self.settings.get_safe("compiler.cppstd"):
            check_min_cppstd(self, 20)

    def system_requirements(self):
        # LLVM, Abseil, zstd and LZ4 are the system's: packages of Conan would be a second copy of
        # each in a process that has Debian's.
        Apt(self).check(
            [
                "libabsl-dev",
                "libfmt-dev",
                "liblz4-dev",
                "libspdlog-dev",
                "libzstd-dev",
                "llvm-19-dev",
                "zlib1g-dev",
            ]
        )

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["DEVLINK_BUILD_TESTS"] = False
        toolchain.cache_variables["DEVLINK_BUILD_EXAMPLES"] = False
        # NVIDIA's compiler must not get into a package.
        toolchain.cache_variables["DEVLINK_NVPTXCOMPILER"] = "OFF"
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        self.run(f'cmake --install "{self.build_folder}" --prefix "{self.package_folder}"')
        for folder in ("lib", "lib64"):
            compiler = os.path.join(self.package_folder, folder, "libdevlink_ptxcompiler.so")
            if os.path.exists(compiler):
                os.remove(compiler)

    def package_info(self):
        # CMake finds what the installation brings: devlink::devlink and devlink::c.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "devlink")]
        self.cpp_info.libs = ["devlink"]
        self.runenv_info.prepend_path("PATH", os.path.join(self.package_folder, "bin"))
