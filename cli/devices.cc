// SPDX-License-Identifier: Apache-2.0
// `beeswax devices`: what this machine offers.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "beeswax/system.h"
#include "cli/commands.h"
#include "cli/json_text.h"

namespace beeswax::cli {
namespace {

std::string libraries_of(const DeviceInfo& info) {
  return info.usable ? list_libraries(Device::parse(info.device)) : "";
}

void print_json() {
  nlohmann::json out = nlohmann::json::array();
  for (const DeviceInfo& info : list_devices())
    out.push_back({{"device", info.device},
                   {"name", info.name},
                   {"detail", info.detail},
                   {"libraries", libraries_of(info)},
                   {"memory_bytes", info.memory_bytes},
                   {"usable", info.usable},
                   {"reason", info.reason}});
  std::printf("%s\n", json_text(out).c_str());
}

void print_table() {
  for (const DeviceInfo& info : list_devices()) {
    // A device that cannot be used is still told of: what it is says what would help.
    if (!info.name.empty())
      std::printf("%-6s %s\n       %s, %.1f GiB of memory\n", info.device.c_str(), info.name.c_str(),
                  info.detail.c_str(), static_cast<double>(info.memory_bytes) / (1 << 30));
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
