// SPDX-License-Identifier: Apache-2.0
#include "emu/exec/service.h"

#include <chrono>

#include "emu/exec/worker.h"

namespace emu::exec {
namespace {

const char* kind_name(Fault::Kind kind) {
  switch (kind) {
    case Fault::Kind::OutOfBounds:
      return "access outside an allocation";
    case Fault::Kind::UseAfterFree:
      return "use after free";
    case Fault::Kind::Uninitialized:
      return "uninitialized value";
    case Fault::Kind::BadFree:
      return "free of no block";
    case Fault::Kind::LdsOutOfRange:
      return "LDS access out of range";
    case Fault::Kind::DataRace:
      return "data race";
    case Fault::Kind::DivergentBarrier:
      return "divergent barrier";
    case Fault::Kind::MissingWait:
      return "missing wait";
    case Fault::Kind::Misaligned:
      return "misaligned access";
    case Fault::Kind::UnknownInstruction:
      return "unknown instruction";
    case Fault::Kind::Unsupported:
      return "unsupported";
    case Fault::Kind::Trap:
      return "trap";
  }
  return "fault";
}

// Hardware registers that s_getreg and s_setreg name; 20 has two meanings.
enum : uint32_t {
  kMode = 1,
  kStatus = 2,
  kHwId = 4,
  kMemBases = 15,
  kFlatScratchLow = 20,  // gfx9 has none
  kFlatScratchHigh = 21,
  kXccId = 20,  // gfx942
  kHwId1 = 23,
  kHwId2 = 24,
  kShaderCycles = 29,     // gfx12: the low half of the counter
  kShaderCyclesHigh = 30  // gfx12
};

}  // namespace

void raise(const Wave& w, const Op* op, Fault::Kind kind, int lane, uint64_t address, const char* detail) {
  Fault fault(kind, std::string(kind_name(kind)) + ": " + detail);
  const Dispatch& d = *w.worker->dispatch;
  fault.kernel = d.launch->kernel->name;
  for (int i = 0; i < 3; ++i) fault.group[i] = w.group->id[i];
  fault.wave = int(w.id);
  fault.lane = lane;
  fault.instruction = d.program->owner(op).text(op);
  fault.code_offset = uint64_t(int64_t(int32_t(op->offset)));
  fault.address = address;
  if (const Image* image = d.launch->kernel->image)
    fault.where = image->where(reinterpret_cast<uint64_t>(d.launch->kernel->code) + fault.code_offset);
  throw fault;
}

const Op* find_code(Wave& w, const Op* op, uint64_t address) {
  const Op* found = w.worker->dispatch->program->find(address);
  if (found == nullptr)
    raise(w, op, Fault::Kind::OutOfBounds, -1, address, "the jump leads to no instruction");
  if (w.worker->dispatch->program->owner(found).vector_registers() > w.vector_registers)
    raise(w, op, Fault::Kind::Unsupported, -1, address,
          "the called function uses more vector registers than the kernel has");
  return found;
}

uint64_t clock_ticks() { return uint64_t(std::chrono::steady_clock::now().time_since_epoch().count()); }

namespace {
[[noreturn]] void refuse_register(const Wave& w, const Op* op, uint32_t id) {
  raise(w, op, Fault::Kind::Unsupported, -1, 0, ("hardware register " + std::to_string(id)).c_str());
}
}  // namespace

uint32_t read_hardware_register(const Wave& w, const Op* op, uint32_t id) {
  if (w.generation == 9 && (id == kFlatScratchLow || id == kFlatScratchHigh)) {
    // All compute units are those of XCC 0.
    if (id == kXccId && w.worker->dispatch->launch->kernel->chip->family == Family::Cdna3) return 0;
    refuse_register(w, op, id);
  }
  switch (id) {
    case kMode:
      return w.mode;
    case kStatus:
      return w.s[kScc] & 1;
    case kHwId:
    case kHwId1:
    case kHwId2:
      return w.id;
    case kMemBases:
      return (kSharedAperture >> 16 & 0xffff) << 16 | (kPrivateAperture >> 16 & 0xffff);
    case kFlatScratchLow:
      return w.s[kFlatScratch];
    case kFlatScratchHigh:
      return w.s[kFlatScratch + 1];
    case kShaderCycles:
      return uint32_t(clock_ticks()) & (w.generation >= 12 ? ~0u : 0xfffff);
    case kShaderCyclesHigh:
      if (w.generation < 12) refuse_register(w, op, id);
      return uint32_t(clock_ticks() >> 32);
    default:
      refuse_register(w, op, id);
  }
}
void write_hardware_register(Wave& w, const Op* op, uint32_t id, uint32_t mask, uint32_t value) {
  switch (id) {
    case kMode:
      w.mode = (w.mode & ~mask) | value;
      return;
    case kFlatScratchLow:
    case kFlatScratchHigh:
      if (w.generation == 9) refuse_register(w, op, id);
      return;
    case 25:
    case 26:
      return;  // gfx12: scheduling
    default:
      refuse_register(w, op, id);
  }
}

}  // namespace emu::exec
