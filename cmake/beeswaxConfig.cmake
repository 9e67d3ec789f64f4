# SPDX-License-Identifier: Apache-2.0
# What find_package(beeswax) reads; installed beside the exported targets.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/beeswaxTargets.cmake)
