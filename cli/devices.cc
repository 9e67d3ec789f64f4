// SPDX-License-Identifier: Apache-2.0
// `beeswax devices`: what this machine offers.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "beeswax/system.h"
#include "cli/commands.h"
#include "cli/json_text.h"

namespace beeswax::cli {
namespace {

std::string libraries_of(const DeviceInfo& info) {
  return info.usable ? list_libraries(Device::parse(info.device)) : "";
}

// list_devices(), with the free memory of those that are usable.
std::vector<DeviceInfo> all_devices() {
  std::vector<DeviceInfo> all = list_devices();
  for (DeviceInfo& info : all)
    if (info.usable) info.memory_free_bytes = device_info(Device::parse(info.device)).memory_free_bytes;
  return all;
}

template <class T>
nlohmann::json or_null(const T& value) {
  return value == T{} ? nlohmann::json() : nlohmann::json(value);
}

void print_json() {
  nlohmann::json out = nlohmann::json::array();
  for (const DeviceInfo& info : all_devices())
    out.push_back({{"device", info.device},
                   {"name", info.name},
                   {"detail", info.detail},
                   {"arch", or_null(info.arch)},
                   {"units", or_null(info.units)},
                   {"driver", or_null(info.driver)},
                   {"library", or_null(info.library)},
                   {"kernels", or_null(info.kernels)},
                   {"libraries", libraries_of(info)},
                   {"memory_bytes", info.memory_bytes},
                   {"memory_free_bytes", or_null(info.memory_free_bytes)},
                   {"usable", info.usable},
                   {"reason", info.reason}});
  std::printf("%s\n", json_text(out).c_str());
}

double gib(size_t bytes) { return static_cast<double>(bytes) / (1 << 30); }

std::string free_text(const DeviceInfo& info) {
  if (info.memory_free_bytes == 0) return "";
  char text[32];
  std::snprintf(text, sizeof(text), ", %.1f free", gib(info.memory_free_bytes));
  return text;
}

void print_table() {
  for (const DeviceInfo& info : all_devices()) {
    // A device that cannot be used is still told of: what it is says what would help.
    if (!info.name.empty())
      std::printf("%-6s %s\n       %s, %.1f GiB of memory%s\n", info.device.c_str(), info.name.c_str(),
                  info.detail.c_str(), gib(info.memory_bytes), free_text(info).c_str());
    if (!info.usable)
      std::printf("%-6s not usable: %s\n", info.name.empty() ? info.device.c_str() : "", info.reason.c_str());
    if (const std::string libraries = libraries_of(info); !libraries.empty())
      std::printf("       libraries: %s\n", libraries.c_str());
  }
}

}  // namespace

void add_devices(CLI::App& app) {
  CLI::App* command = app.add_subcommand("devices", "List the devices of this machine");
  const auto json = std::make_shared<bool>(false);
  command->footer("\nExamples:\n  beeswax devices\n  beeswax devices --json\n");
  command->add_flag("--json", *json, "Print JSON");
  command->callback([json] { *json ? print_json() : print_table(); });
}

}  // namespace beeswax::cli
