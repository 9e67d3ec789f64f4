// SPDX-License-Identifier: Apache-2.0
#include "emu/hip/runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <system_error>

#include "emu/hip/device.h"
#include "emu/hip/report.h"
#include "emu/hip/tables.h"

namespace emu::hip {
namespace {

std::atomic<Runtime*> runtime{nullptr};
std::atomic<Error> refused{hipSuccess};
std::mutex making;

// How long the end of the process waits for host functions that are running.
constexpr std::chrono::seconds kHostFunctionsAtExit{2};

thread_local int current_device = 0;
thread_local Error last_error = hipSuccess;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// A wrong setting must not pass unseen, and there is no caller to tell.
[[noreturn]] void bad_setting(const char* name, const std::string& value, const std::string& accepted) {
  std::fprintf(stderr, "beeswax_emu: %s=%s is not understood; %s\n", name, value.c_str(), accepted.c_str());
  std::exit(2);
}

uint64_t number_setting(const char* name, uint64_t otherwise) {
  const std::string text = variable(name);
  if (text.empty()) return otherwise;
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    bad_setting(name, text, "it takes a whole number");
  return value;
}

std::vector<std::string> list_of(const std::string& text) {
  std::vector<std::string> items;
  std::stringstream stream(text);
  for (std::string item; std::getline(stream, item, ',');)
    if (!item.empty()) items.push_back(item);
  return items;
}

std::vector<const Chip*> chips_from(const std::string& text) {
  std::vector<const Chip*> chips;
  std::string names;
  for (const Chip& chip : all_chips()) names += (names.empty() ? "" : ",") + std::string(chip.name);
  if (text.empty()) {
    for (const Chip& chip : all_chips()) chips.push_back(&chip);
    return chips;
  }
  for (const std::string& name : list_of(text)) {
    const Chip* chip = find_chip(name);
    if (chip == nullptr) bad_setting("BEESWAX_EMU_DEVICES", text, "it takes a list of " + names);
    chips.push_back(chip);
  }
  return chips;
}

// HIP_VISIBLE_DEVICES picks and orders devices by number; the list ends at the first that does not exist.
void choose_visible(std::vector<const Chip*>& chips) {
  const char* text = std::getenv("HIP_VISIBLE_DEVICES");
  if (text == nullptr) return;
  std::vector<const Chip*> chosen;
  for (const std::string& item : list_of(text)) {
    size_t index = chips.size();
    std::from_chars(item.data(), item.data() + item.size(), index);
    if (index >= chips.size()) break;
    chosen.push_back(chips[index]);
  }
  chips = chosen;
}

// Whose conventions to follow: by BEESWAX_EMU_ROCM, or by the name under which the library was loaded.
int rocm_version() {
  const uint64_t set = number_setting("BEESWAX_EMU_ROCM", 0);
  if (set >= 5 && set <= 7) return static_cast<int>(set);
  if (set != 0) bad_setting("BEESWAX_EMU_ROCM", std::to_string(set), "it takes 5, 6 or 7");
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&rocm_version), &info) != 0 && info.dli_fname != nullptr) {
    const std::string name = info.dli_fname;
    const size_t at = name.rfind("libamdhip64.so.");
    if (at != name.npos && std::strchr("567", name[at + 15]) != nullptr) return name[at + 15] - '0';
  }
  return 6;
}

uint64_t machine_memory() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGE_SIZE));
}

// At exit; what LLVM makes at its first use should still be there, so it is registered again after that.
void at_exit() {
  Error open = hipSuccess;
  if (!refused.compare_exchange_strong(open, hipErrorDeinitialized)) return;
  Runtime* mine = runtime.load();
  if (mine == nullptr) return;
  const bool stopped = mine->stop();
  write_counters(mine->settings().counters);
  write_launched(mine->settings().launched);
  // Threads inside host functions (this one too, when they call exit()) and inside calls still look at it.
  if (!stopped || UnderWay::count.load() > 0) return;
  runtime.store(nullptr);
  delete mine;
}

}  // namespace

void clear_tables() {
  clear_graphs();
  clear_events();
  clear_modules();
  clear_fat_binaries();
  clear_pools();
}

Error refusal() noexcept { return refused.load(); }

void forbid_in_host_function() {
  require(stream_of_worker() == nullptr, hipErrorNotSupported,
          "a host function of a stream must not call HIP");
}

void register_exit() { std::atexit(at_exit); }

Settings Settings::from_environment() {
  Settings settings;
  settings.chips = chips_from(variable("BEESWAX_EMU_DEVICES"));
  choose_visible(settings.chips);
  const std::string check = variable("BEESWAX_EMU_CHECK");
  if (check == "none") {
    settings.options.check = Check::None;
  } else if (check == "race") {
    settings.options.check = Check::Race;
  } else if (check == "strict") {
    settings.options.check = Check::Strict;
  } else if (!check.empty() && check != "bounds") {
    bad_setting("BEESWAX_EMU_CHECK", check, "it takes none, bounds, race or strict");
  }
  settings.options.seed = number_setting("BEESWAX_EMU_SEED", 0);
  settings.options.threads = static_cast<unsigned>(number_setting("BEESWAX_EMU_THREADS", 0));
  settings.delay_us = number_setting("BEESWAX_EMU_DELAY", settings.options.check == Check::Strict ? 2000 : 0);
  settings.memory_bytes = number_setting("BEESWAX_EMU_MEMORY", 0);
  settings.log = number_setting("BEESWAX_EMU_LOG", 0) != 0;
  settings.silent = number_setting("BEESWAX_EMU_SILENT", 0) != 0;
  settings.counters = variable("BEESWAX_EMU_COUNTERS");
  settings.launched = variable("BEESWAX_EMU_LAUNCHED");
  settings.rocm = rocm_version();
  return settings;
}

Runtime& Runtime::get() {
  if (Runtime* there = runtime.load(std::memory_order_acquire)) return *there;
  const std::lock_guard lock(making);
  if (runtime.load() == nullptr) {
    require(alive(), hipErrorDeinitialized);
    pthread_atfork(nullptr, nullptr, [] { refused.store(hipErrorNotInitialized); });
    runtime.store(new Runtime);
    register_exit();
  }
  return *runtime.load();
}

Runtime::Runtime() : settings_(Settings::from_environment()) {
  const uint64_t machine = machine_memory();
  host_ = std::make_unique<HostSpace>(machine);
  for (const Chip* chip : settings_.chips) {
    const uint64_t bytes =
        settings_.memory_bytes != 0 ? settings_.memory_bytes : std::min(chip->memory_bytes, machine);
    devices_.push_back(std::make_unique<Device>(device_count(), *chip, bytes, *host_));
  }
}

Runtime::~Runtime() { clear_tables(); }

bool Runtime::stop() {
  for (const auto& device : devices_) device->end_streams();
  const auto until = std::chrono::steady_clock::now() + kHostFunctionsAtExit;
  bool all = true;
  for (const auto& device : devices_) all = device->join_streams(until) && all;
  return all;
}

Device& Runtime::device(int index) {
  require(index >= 0 && index < device_count(), hipErrorInvalidDevice, "no such device");
  return *devices_[static_cast<size_t>(index)];
}

Device& Runtime::current() {
  require(device_count() > 0, hipErrorNoDevice, "no device is visible");
  return device(current_device);
}

int Runtime::current_index() const { return current_device; }

void Runtime::set_current(int index) {
  device(index);
  current_device = index;
}

Device* Runtime::owner(uint64_t address) const {
  for (const auto& device : devices_)
    if (device->contains(address)) return device.get();
  return nullptr;
}

Error remember(Error code) noexcept {
  // "Not ready" is an answer.
  if (code != hipSuccess && code != hipErrorNotReady) last_error = code;
  return code;
}

Error last_error_of_thread(bool clear) noexcept {
  const Error code = last_error;
  if (clear) last_error = hipSuccess;
  return code;
}

Error caught(const char* function) noexcept {
  Error code = hipErrorUnknown;
  std::string why;
  try {
    throw;
  } catch (const ApiError& error) {
    code = error.code;
    why = error.what();
  } catch (const LoadError& error) {
    switch (error.kind) {
      case LoadError::Kind::Invalid:
        code = hipErrorInvalidImage;
        break;
      case LoadError::Kind::WrongTarget:
        code = hipErrorNoBinaryForGpu;
        break;
      case LoadError::Kind::NoMemory:
        code = hipErrorOutOfMemory;
        break;
    }
    why = error.what();
  } catch (const std::bad_alloc&) {
    code = hipErrorOutOfMemory;
  } catch (const std::system_error& error) {
    code = hipErrorOutOfMemory;  // no thread for a stream; HIP's documents name no code for that
    why = error.what();
  } catch (const std::exception& error) {
    why = error.what();
  } catch (...) {
    why = "what was thrown is no std::exception";
  }
  if (code != hipErrorNotReady)
    log_line(std::string(function) + ": " + error_name(code) + (why.empty() ? "" : ": " + why));
  return remember(code);
}

void log_line(const std::string& text) {
  const Runtime* there = runtime.load();
  if (there == nullptr || !there->settings().log) return;
  std::fprintf(stderr, "beeswax_emu: %s\n", text.c_str());
}

const char* error_name(int code) {
  switch (code) {
#define EMU_ERROR(name, number, text) \
  case number:                        \
    return #name;
#include "emu/hip/errors.def"
    default:
      return nullptr;
  }
}

const char* error_text(int code) {
  switch (code) {
#define EMU_ERROR(name, number, text) \
  case number:                        \
    return text;
#include "emu/hip/errors.def"
    default:
      return nullptr;
  }
}

}  // namespace emu::hip
