// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/rtc/modules.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "core/fail.h"

namespace beeswax::gpu::rtc {
namespace {

struct Slot {
  std::mutex mutex;
  std::optional<LoadedProgram> program;
};

Slot& slot_of(const Gpu& gpu, const Program& program, KernelCompiler which) {
  // Never destroyed: kernels may be used while the process ends.
  static auto& slots = *new std::map<std::pair<int, Sha256Digest>, std::unique_ptr<Slot>>;
  static std::mutex mutex;
  // One compiler is as good as another here: the user's choice among them is part of the key.
  Sha256 hash;
  hash.add_text(std::to_string(static_cast<int>(which))).add_text(program.name).add_text(program.text);
  hash.add_text(std::to_string(program.defines.size()));
  for (const std::string& define : program.defines) hash.add_text(define);
  for (const NamedText& header : program.headers) hash.add_text(header.name).add_text(header.text);
  const std::scoped_lock lock(mutex);
  std::unique_ptr<Slot>& slot = slots[{gpu.number(), hash.finish()}];
  if (slot == nullptr) slot = std::make_unique<Slot>();
  return *slot;
}

LoadedProgram load(Gpu& gpu, const Program& program, KernelCompiler which) {
  gpu.refuse_recording("compiling a program; compile it before capturing");
  const std::string& target = gpu.properties().arch;
  const std::vector<const Compiler*> compilers = compilers_for(target, which);
  std::string failed;  // what the compilers before this one said
  for (size_t i = 0;; ++i) {
    const Compiler& compiler = *compilers[i];
    CompiledCode code;
    try {
      code = code_of(program, target, compiler, DiskCache::of_user());
    } catch (Error& error) {
      // What a compiler lacks, the next one may have; a wrong source stays wrong.
      if (error.kind() == ErrorKind::Unsupported && i + 1 < compilers.size()) {
        failed = error.what();
        continue;
      }
      if (!failed.empty())
        error.while_doing(join_text("compiling with ", compiler.title(), " after another failed: ", failed));
      throw;
    }
    LoadedProgram out(gpu.driver());
    gpu.use();
    const Result result =
        gpu.with_memory([&] { return gpu.driver().load_module(code.image.data(), out.module.out()); });
    // A library may be newer than the driver, which then refuses its code; the next compiler's may do.
    if (result.code == Code::BadImage && i + 1 < compilers.size()) continue;
    check(gpu.driver(), result, join_text("loading '", program.name, "', compiled by ", compiler.title()));
    out.kernels = kernels_of(code.image);
    for (KernelInfo& info : out.kernels) {
      Kernel& kernel = out.functions.emplace_back();
      kernel.name = info.name;
      kernel.operation = "a program compiled at run time";
      check(gpu.driver(), gpu.driver().find_function(out.module.get(), info.symbol.c_str(), &kernel.function),
            join_text("looking for the kernel ", info.name));
      // All that a block has, once: the limit is the function's, which many threads may launch at a time.
      check(gpu.driver(), gpu.driver().static_shared(kernel.function, &info.shared_bytes),
            join_text("asking what shared memory the kernel ", info.name, " has"));
      const auto most = static_cast<uint32_t>(gpu.properties().shared_bytes);
      check(gpu.driver(),
            gpu.driver().allow_shared(kernel.function, most - std::min(most, info.shared_bytes)),
            join_text("allowing shared memory to the kernel ", info.name));
    }
    out.compiler = compiler.title();
    out.kept = code.kept;
    return out;
  }
}

}  // namespace

const LoadedProgram& program_on(Gpu& gpu, const Program& program, KernelCompiler which) {
  Slot& slot = slot_of(gpu, program, which);
  const std::scoped_lock lock(slot.mutex);
  if (!slot.program.has_value()) slot.program = load(gpu, program, which);
  return *slot.program;
}

}  // namespace beeswax::gpu::rtc
