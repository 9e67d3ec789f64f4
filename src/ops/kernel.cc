// SPDX-License-Identifier: Apache-2.0
// Kernels of users: checked against what their code says of them, then launched.
#include "beeswax/kernel.h"

#include <algorithm>
#include <cctype>

#include "backends/gpu/rtc/compiler.h"
#include "backends/gpu/rtc/modules.h"
#include "core/shown.h"
#include "ops/common.h"

namespace beeswax {

struct Kernel::Impl {
  std::string name;
  gpu::Gpu& gpu;
  const gpu::rtc::LoadedProgram& program;
  const gpu::rtc::KernelInfo& info;
  const gpu::Kernel& kernel;
};

namespace {

using gpu::rtc::Parameter;

// What CUDA and HIP allow: 2^31 - 1 blocks along x, 65535 along the others; along z CUDA has blocks of 64.
constexpr uint32_t kMostBlocksX = 0x7fffffff, kMostBlocks = 65535;
constexpr uint32_t kMostThreads = 1024, kMostThreadsZOfCuda = 64;

// Compilers take a define as a line of their own and leave out what follows its end.
void check_define(const std::string& define) {
  const char first = define.empty() ? '=' : define.front();
  const bool named = std::isalpha(static_cast<unsigned char>(first)) != 0 || first == '_';
  if (!named || define.find_first_of(std::string_view("\n\r\0", 3)) != std::string::npos)
    fail(ErrorKind::InvalidArgument, "compile", "'", shown(define),
         "' defines nothing; accepted: NAME, NAME=value or NAME(x)=value, in one line");
}

// A source's name as it may stand in a line of the source.
std::string quotable(std::string_view name) {
  std::string out(name);
  for (char& c : out)
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ') c = '_';
  return out;
}

std::string size_text(const LaunchSize& size) {
  return join_text("{", size.x, ", ", size.y, ", ", size.z, "}");
}

void check_sizes(std::string_view operation, const LaunchOptions& options, const gpu::rtc::KernelInfo& kernel,
                 const gpu::Properties& device) {
  const auto& [grid, block, shared] = options;
  const uint64_t threads = uint64_t{block.x} * block.y * block.z;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || threads == 0)
    fail(ErrorKind::InvalidArgument, operation, "the grid ", size_text(grid), " of blocks ", size_text(block),
         " is empty; launch nothing where there is nothing to do");
  if (grid.x > kMostBlocksX || grid.y > kMostBlocks || grid.z > kMostBlocks)
    fail(ErrorKind::InvalidArgument, operation, "the grid ", size_text(grid), " is too large: at most {",
         kMostBlocksX, ", ", kMostBlocks, ", ", kMostBlocks, "}");
  const bool amd = gpu::rtc::is_amd(device.arch);
  const auto too_many = [](uint32_t blocks, uint32_t threads_of_one) {
    return uint64_t{blocks} * threads_of_one > UINT32_MAX;
  };
  if (amd && (too_many(grid.x, block.x) || too_many(grid.y, block.y) || too_many(grid.z, block.z)))
    fail(ErrorKind::InvalidArgument, operation, "the grid ", size_text(grid), " of blocks ", size_text(block),
         " is too large: AMD's cards take at most 2^32 - 1 threads along an axis; let a thread do more");
  const uint32_t most_z = amd ? kMostThreads : kMostThreadsZOfCuda;
  if (block.x > kMostThreads || block.y > kMostThreads || block.z > most_z)
    fail(ErrorKind::InvalidArgument, operation, "the block ", size_text(block), " is too large: at most {",
         kMostThreads, ", ", kMostThreads, ", ", most_z, "}");
  if (threads > kernel.most_threads)
    fail(ErrorKind::InvalidArgument, operation, "the block ", size_text(block),
         " is too large: the kernel takes ", kernel.most_threads,
         " threads (__launch_bounds__ says how many it is compiled for)");
  const auto most_shared = static_cast<uint32_t>(device.shared_bytes);
  if (uint64_t{shared} + kernel.shared_bytes > most_shared)
    fail(ErrorKind::InvalidArgument, operation, "shared_bytes is ", shared,
         kernel.shared_bytes > 0 ? join_text(" beside the ", kernel.shared_bytes, " that the kernel declares")
                                 : "",
         ", and a block on ", device.name, " has at most ", most_shared);
}

void* address(std::string_view operation, const Tensor& tensor) {
  if (!tensor.is_contiguous())
    fail(ErrorKind::RequiresContiguous, operation, tensor.describe(),
         " is a view with gaps or of another order, and kernels take addresses; call contiguous() first");
  return const_cast<std::byte*>(ops::operand(tensor).data());
}

// Checks one argument and gives the bytes that the kernel gets; `pointer` holds them for a tensor.
const void* argument_bytes(std::string_view operation, size_t number, const Device& device,
                           const KernelArgument& argument, const Parameter& parameter, void** pointer) {
  const Tensor* tensor = argument.tensor();
  if (argument.bytes() != parameter.bytes)
    fail(ErrorKind::InvalidArgument, operation, "argument ", number, " is ",
         tensor != nullptr ? "a tensor's address, " : "a value of ", argument.bytes(),
         " bytes, and the kernel's parameter has ", parameter.bytes);
  if (tensor == nullptr) {
    if (parameter.kind == Parameter::Kind::Pointer)
      fail(ErrorKind::InvalidArgument, operation, "argument ", number,
           " is a value, and the kernel's parameter is a pointer; give a tensor");
    return argument.value();
  }
  if (parameter.kind == Parameter::Kind::Value)
    fail(ErrorKind::InvalidArgument, operation, "argument ", number,
         " is a tensor, and the kernel's parameter is no pointer");
  if (tensor->device() != device)
    fail(ErrorKind::DeviceMismatch, operation, "argument ", number, ", ", tensor->describe(), ", is not on ",
         device, ", for which the kernel was compiled; move it with to_device");
  *pointer = address(operation, *tensor);
  return static_cast<const void*>(pointer);
}

}  // namespace

const void* device_address(const Tensor& tensor) { return address("device_address", tensor); }
void* device_address(const KernelOutput& output) {
  void* out = address("device_address", *output.tensor);
  // What the thread launches with the address is not known; its stream is taken to write from here on.
  ops::write_in_place(*output.tensor, [] {});
  return out;
}

Kernel::Kernel(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

Kernel Kernel::compile(const Device& device, std::string_view source, std::string_view name,
                       const KernelOptions& options) {
  if (device.is_cpu())
    fail(ErrorKind::Unsupported, "compile", "kernels run on GPUs, and ", device,
         " is none; a CustomOp takes a function for the CPU beside the kernel");
  gpu::rtc::Program program;
  program.name = quotable(options.source_name.empty() ? name : options.source_name);
  program.text = source;
  std::ranges::for_each(options.defines, check_define);
  program.defines = options.defines;
  for (const KernelHeader& header : options.headers) program.headers.push_back({header.name, header.text});
  gpu::Gpu& gpu = gpu::Gpu::of(device);
  const gpu::rtc::LoadedProgram& loaded = gpu::rtc::program_on(gpu, program, options.compiler);
  const gpu::rtc::KernelInfo& info = gpu::rtc::find_kernel(loaded.kernels, name);
  const auto number = static_cast<size_t>(&info - loaded.kernels.data());
  return Kernel(std::make_shared<Impl>(Impl{std::string(name), gpu, loaded, info, loaded.functions[number]}));
}

const std::string& Kernel::name() const { return impl_->name; }
const Device& Kernel::device() const { return impl_->gpu.device(); }
const std::string& Kernel::compiler() const { return impl_->program.compiler; }
bool Kernel::from_disk() const { return impl_->program.kept; }
uint32_t Kernel::most_threads() const { return impl_->info.most_threads; }

std::vector<uint32_t> Kernel::parameter_bytes() const {
  std::vector<uint32_t> out;
  for (const Parameter& parameter : impl_->info.parameters) out.push_back(parameter.bytes);
  return out;
}

void Kernel::launch_list(const LaunchOptions& options, std::span<const KernelArgument> arguments) const {
  const std::string text = join_text("kernel ", impl_->name);
  const std::string_view operation = text;
  const std::vector<Parameter>& parameters = impl_->info.parameters;
  check_sizes(operation, options, impl_->info, impl_->gpu.properties());
  if (arguments.size() != parameters.size())
    fail(ErrorKind::InvalidArgument, operation, "it takes ", parameters.size(), " arguments, and got ",
         arguments.size());
  std::vector<void*> tensors(arguments.size()), list(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i)
    list[i] = const_cast<void*>(
        argument_bytes(operation, i + 1, device(), arguments[i], parameters[i], &tensors[i]));
  gpu::Gpu& gpu = impl_->gpu;
  const auto& [grid, block, shared] = options;
  std::vector<std::byte> values;  // where addresses are looked for
  for (size_t i = 0; i < list.size(); ++i) {
    const auto* bytes = static_cast<const std::byte*>(list[i]);
    values.insert(values.end(), bytes, bytes + parameters[i].bytes);
    values.resize((values.size() + sizeof(void*) - 1) / sizeof(void*) * sizeof(void*));
  }
  const auto each_written = [&](const auto& visit) {
    for (const KernelArgument& argument : arguments)
      if (argument.written()) visit(argument.tensor()->storage());
  };
  Backend& backend = backend_for(device());
  each_written([&](Storage& storage) { backend.begin_write(storage); });
  gpu.launch_list(impl_->kernel, {{grid.x, grid.y, grid.z}, block.x, shared, block.y, block.z}, list, values);
  each_written([&](Storage& storage) {
    backend.end_write(storage);
    storage.bump_version();
  });
}

}  // namespace beeswax
