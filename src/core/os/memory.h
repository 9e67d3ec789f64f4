// SPDX-License-Identifier: Apache-2.0
// Memory from the operating system.
#pragma once

#include <cstddef>
#include <string>

#include "beeswax/export.h"

namespace beeswax::os {

/// 64-byte aligned (page aligned from 1 MiB, on huge pages where the system has them); null when there is
/// none.
BW_API void* allocate_pages(size_t bytes);
BW_API void free_pages(void* data, size_t bytes);
/// Pages that take memory only once they are touched, however many; null where even that is refused.
BW_API void* reserve_pages(size_t bytes);
BW_API void release_pages(void* data, size_t bytes);

/// Memory of the machine, or the limit this process runs under where that is lower: of its address space, or
/// of its control group (a container's).
BW_API size_t physical_memory_bytes();

/// Memory that this process may still take without anything being written elsewhere: what the system calls
/// available (files in memory count as that), or what its control groups leave where that is less; 0 where
/// the system does not say.
BW_API size_t available_memory_bytes();

/// What is left of the memory limits of the control groups that `groups` lists and of those above them, where
/// files in memory count as free; the largest size_t where there is no limit. As control_group_limit().
BW_API size_t control_group_room(const std::string& groups = "/proc/self/cgroup",
                                 const std::string& folder = "/sys/fs/cgroup");

/// The least memory limit of the control groups that `groups` lists and of those above them, of version 1 and
/// 2, whose files lie under `folder`; the largest size_t where there is none.
BW_API size_t control_group_limit(const std::string& groups = "/proc/self/cgroup",
                                  const std::string& folder = "/sys/fs/cgroup");

}  // namespace beeswax::os
