// SPDX-License-Identifier: Apache-2.0
// The vendors' compilers, opened at run time: NVRTC and hiprtc have the same functions under two names.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>

#include "backends/gpu/api_load.h"
#include "backends/gpu/rtc/compiler.h"
#include "core/fail.h"
#include "core/os/folders.h"

namespace beeswax::gpu::rtc {
namespace {

struct Api {
#define BW_RTC(name, nvrtc, hiprtc, parameters) int(*name) parameters = nullptr;
#include "backends/gpu/rtc/rtc_api.def"
  const char* (*error_text)(int) = nullptr;
};

std::vector<const char*> pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> out;
  for (const std::string& text : texts) out.push_back(text.c_str());
  return out;
}

// The dialect and the shared math include it before all else: what clang has built in and others lack goes
// there.
constexpr std::string_view kFirstHeader = "beeswax/portable.h";

// The one result by which both libraries say that the source is wrong.
constexpr int kWrongSource = 6;

// What both libraries share; they differ in names, flags and targets.
class Library : public Compiler {
 public:
  std::string title() const override { return title_; }
  std::string identity() const override { return identity_; }

  std::vector<std::byte> compile(const Program& program, std::string_view target) const override {
    std::vector<std::string> names, texts;
    for (const NamedText& header : Sources::embedded().headers) {
      // NVRTC refuses a name that is there twice; the program's own is meant.
      if (std::ranges::find(program.headers, header.name, &NamedText::name) != program.headers.end())
        continue;
      names.push_back(header.name);
      texts.push_back(preamble(header.name) + header.text);
    }
    for (const NamedText& header : program.headers) {
      names.push_back(header.name);
      texts.push_back(header.text);
    }
    const std::string text = join_text("#line 1 \"", program.name, "\"\n", program.text);
    const std::vector<const char*> name_list = pointers(names), text_list = pointers(texts);
    const std::unique_lock lock = lock_library();
    void* handle = nullptr;
    check(api_.create_program(&handle, text.c_str(), program.name.c_str(), static_cast<int>(names.size()),
                              text_list.data(), name_list.data()),
          "making a program");
    const auto destroy = [this](void** owned) { api_.destroy_program(owned); };
    const std::unique_ptr<void*, decltype(destroy)> owner(&handle, destroy);
    std::vector<std::string> options = flags(target);
    for (const std::string& define : program.defines) options.push_back("-D" + define);
    const std::vector<const char*> option_list = pointers(options);
    const int error = api_.compile_program(handle, static_cast<int>(option_list.size()), option_list.data());
    const std::string log = error == 0 ? "" : log_of(handle);
    if (error == kWrongSource)
      fail_to_compile(*this, program, target, log.empty() ? std::string(api_.error_text(error)) : log);
    check(error, join_text("compiling '", program.name, "'"), log);
    size_t bytes = 0;
    check(api_.code_size(handle, &bytes), "asking for the size of the code");
    std::vector<std::byte> code(bytes);
    check(api_.code(handle, reinterpret_cast<char*>(code.data())), "asking for the code");
    return code;
  }

 protected:
  // Finds the library's functions and version; where that fails `refusal_` says why, and false comes back.
  template <bool nvidia>
  bool open(const os::Library& library, std::string_view product, std::string_view advice) {
    if (!library.is_open()) {
      refusal_ = not_found(library, product, advice);
      return false;
    }
    Symbols symbols(library);
#define BW_RTC(name, nvrtc, hiprtc, parameters) \
  symbols.find(api_.name, nvidia ? #nvrtc : #hiprtc, Need::Required);
#include "backends/gpu/rtc/rtc_api.def"
    symbols.find(api_.error_text, nvidia ? "nvrtcGetErrorString" : "hiprtcGetErrorString", Need::Required);
    int major = 0, minor = 0;
    if (!symbols.missing().empty()) {
      refusal_ = join_text(library.name(), " lacks ", symbols.missing());
    } else if (api_.version(&major, &minor) != 0) {
      refusal_ = join_text(library.name(), " does not tell its version");
    }
    title_ = join_text(product, " ", major, ".", minor);
    identity_ = join_text(title_, " ", stamps_of(library));
    return refusal_.empty();
  }
  // Of a library, and of those beside it that do its work: builtins, and where it lies with others its code
  // generator. They come in packages of their own.
  static std::string stamps_of(const os::Library& library) {
    return os::file_stamp(library.path()) + "\n" +
           os::stamps_in(std::filesystem::path(library.path()).parent_path(),
                         {"libnvrtc-builtins", "libhiprtc-builtins", "libLLVM"});
  }
  virtual std::string preamble(std::string_view) const { return ""; }
  virtual std::unique_lock<std::mutex> lock_library() const { return {}; }

  std::string log_of(void* handle) const {
    size_t bytes = 0;
    if (api_.log_size(handle, &bytes) != 0 || bytes == 0) return "";
    std::string log(bytes, '\0');
    if (api_.log(handle, log.data()) != 0) return "";
    return log.substr(0, log.find('\0'));
  }
  void check(int error, std::string_view what, const std::string& log = {}) const {
    if (error != 0)
      fail(ErrorKind::Unsupported, "compile", title_, ": ", what, ": ", api_.error_text(error), " (", error,
           "), which is not the source's fault; install it whole, with its builtins of the same version, or "
           "clang++ 19 or newer",
           log.empty() ? "" : "\n" + log);
  }

  Api api_;
  std::string title_, identity_, refusal_;
};

int chip_of(std::string_view target) {
  int chip = 0;
  const std::string_view digits = target.substr(std::min<size_t>(3, target.size()));
  std::from_chars(digits.data(), digits.data() + digits.size(), chip);
  return chip;
}

class Nvrtc final : public Library {
 public:
  Nvrtc()
      : library_(
            library_names("BEESWAX_NVRTC_LIBRARY", {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
                                                    "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"})) {
    if (!open<true>(library_, "NVRTC", "install NVIDIA's CUDA runtime compiler (libnvrtc)")) return;
    // The chips it knows, in ascending order; early releases do not tell.
    const auto count = reinterpret_cast<int (*)(int*)>(library_.symbol("nvrtcGetNumSupportedArchs"));
    const auto list = reinterpret_cast<int (*)(int*)>(library_.symbol("nvrtcGetSupportedArchs"));
    int chips = 0;
    if (count == nullptr || list == nullptr || count(&chips) != 0 || chips <= 0) return;
    chips_.resize(static_cast<size_t>(chips));
    if (list(chips_.data()) != 0) chips_.clear();
  }

  std::string refusal(std::string_view target) const override {
    if (!refusal_.empty() || chips_.empty() || chip_of(target) >= chips_.front()) return refusal_;
    return join_text(title_, " knows chips from sm_", chips_.front(), " on");
  }

  std::vector<std::string> flags(std::string_view target) const override {
    // PTX of the newest chip that it knows runs on those after it.
    int chip = chip_of(target);
    for (const int known : chips_)
      if (known <= chip_of(target)) chip = known;
    return {join_text("--gpu-architecture=compute_", chip),
            "--std=c++20",
            "--device-as-default-execution-space",
            "--fmad=false",
            "--ftz=false",
            "--prec-div=true",
            "--prec-sqrt=true"};
  }

 private:
  std::string preamble(std::string_view header) const override {
    return header == kFirstHeader ? "#include \"kernels/rtc/nvrtc.inc\"\n#line 1\n" : "";
  }
  os::Library library_;
  std::vector<int> chips_;
};

class Hiprtc final : public Library {
 public:
  Hiprtc()
      : library_(library_names("BEESWAX_HIPRTC_LIBRARY", {"libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so",
                                                          "libamdhip64.so.5", "/opt/rocm/lib/libhiprtc.so"})),
        comgr_(std::vector<std::string>{"libamd_comgr.so.3", "libamd_comgr.so.2", "libamd_comgr.so",
                                        "/opt/rocm/lib/libamd_comgr.so"}) {
    if (!open<false>(
            library_, "hiprtc",
            "install AMD's (Debian's packages libamdhip64-5, libhiprtc-builtins5 and libamd-comgr2)"))
      return;
    identity_ += " " + stamps_of(comgr_);
    read_targets();
  }

  // AMD's variables add options behind ours.
  std::string identity() const override {
    std::string out = identity_;
    for (const char* name : {"HIPRTC_COMPILE_OPTIONS_APPEND", "HIPRTC_LINK_OPTIONS_APPEND"})
      if (const char* given = std::getenv(name); given != nullptr) out += join_text("\n", name, "=", given);
    return out;
  }

  std::string refusal(std::string_view target) const override {
    if (!refusal_.empty() || std::ranges::find(targets_, target) != targets_.end()) return refusal_;
    return join_text(title_, " does not know ", target);
  }

  std::vector<std::string> flags(std::string_view target) const override {
    return {join_text("--offload-arch=", target), "-O3", "-std=c++20", "-ffp-contract=off",
            "-Wno-bitwise-conditional-parentheses"};
  }

 private:
  std::string preamble(std::string_view header) const override {
    return header == kFirstHeader ? "#include \"kernels/rtc/hiprtc.inc\"\n#line 1\n" : "";
  }
  // Asked for a chip that it does not know, hiprtc may end the process: its compiler's own list decides.
  void read_targets() {
    const auto count = reinterpret_cast<int (*)(size_t*)>(comgr_.symbol("amd_comgr_get_isa_count"));
    const auto name =
        reinterpret_cast<int (*)(size_t, const char**)>(comgr_.symbol("amd_comgr_get_isa_name"));
    size_t chips = 0;
    if (count == nullptr || name == nullptr || count(&chips) != 0) return;
    for (size_t i = 0; i < chips; ++i) {
      const char* text = nullptr;
      if (name(i, &text) != 0 || text == nullptr) continue;
      const std::string_view full = text;  // "amdgcn-amd-amdhsa--gfx90a"
      targets_.emplace_back(full.substr(full.rfind('-') + 1));
    }
  }
  // Releases 5 keep state that threads share.
  std::unique_lock<std::mutex> lock_library() const override { return std::unique_lock(mutex_); }

  os::Library library_, comgr_;
  std::vector<std::string> targets_;
  mutable std::mutex mutex_;
};

}  // namespace

const Compiler& vendor_compiler(std::string_view target) {
  if (is_amd(target)) {
    static const Hiprtc hiprtc;
    return hiprtc;
  }
  static const Nvrtc nvrtc;
  return nvrtc;
}

void fail_to_compile(const Compiler& compiler, const Program& program, std::string_view target,
                     const std::string& log) {
  fail(ErrorKind::InvalidArgument, "compile", "'", program.name, "' does not compile for ", target, " (",
       compiler.title(), "):\n", log);
}

}  // namespace beeswax::gpu::rtc
