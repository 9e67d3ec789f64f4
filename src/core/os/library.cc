// SPDX-License-Identifier: Apache-2.0
#include "core/os/library.h"

#include <dlfcn.h>
#include <link.h>

#include <cerrno>
#include <system_error>

namespace beeswax::os {
namespace {

// The loader says the same of a file that is not there and of one that needs such a file, but names that one.
bool says_absent(const std::string& reason, const std::string& name) {
  return reason.find(name + ": ") != std::string::npos &&
         reason.ends_with(std::generic_category().message(ENOENT));
}

}  // namespace

Library::Library(std::span<const std::string> names) {
  for (const std::string& name : names) {
    handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) {
      name_ = name;
      return;
    }
    const char* said = dlerror();
    const std::string reason = said != nullptr ? said : name + ": cannot be opened";
    const bool there = !says_absent(reason, name);
    if (reason_.empty() || (there && !is_there_))
      reason_ = reason.find(name) == std::string::npos ? (name + ": ").append(reason) : reason;
    is_there_ = is_there_ || there;
  }
}

void* Library::symbol(const char* name) const { return handle_ == nullptr ? nullptr : dlsym(handle_, name); }

std::string Library::path() const {
  const link_map* map = nullptr;
  if (handle_ == nullptr || dlinfo(handle_, RTLD_DI_LINKMAP, static_cast<void*>(&map)) != 0 || map == nullptr)
    return "";
  return map->l_name;
}

std::string own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr) return "";
  const std::string path = info.dli_fname;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

}  // namespace beeswax::os
