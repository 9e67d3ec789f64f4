// SPDX-License-Identifier: Apache-2.0
// Branches, calls, barriers, waits and the rest of the program's flow.
#include "emu/exec/barrier.h"
#include "emu/exec/ops/group.h"
#include "emu/exec/ops/scalars.h"
#include "emu/exec/service.h"

namespace emu::exec {
namespace EMU_ISA {
namespace {

/// Waves of one group share a thread: one that loops gives way to the others now and then.
EMU_FN const Op* jump(Wave& w, const Op* op) {
  if (op->target <= op && --w.budget <= 0) [[unlikely]] {
    w.pc = op->target;
    w.state = State::Ready;
    return nullptr;
  }
  return op->target;
}
EMU_FN uint64_t active(const Wave& w, unsigned index) {
  return uint64_t(w.s[index]) | (w.lanes > 32 ? uint64_t(w.s[index + 1]) << 32 : 0);
}
enum When { Always, Scc0, Scc1, Vccz, Vccnz, Execz, Execnz };
template <When W>
const Op* branch(Wave& w, const Op* op) {
  const bool taken = W == Always  ? true
                     : W == Scc0  ? w.s[kScc] == 0
                     : W == Scc1  ? w.s[kScc] != 0
                     : W == Vccz  ? active(w, kVcc) == 0
                     : W == Vccnz ? active(w, kVcc) != 0
                     : W == Execz ? active(w, kExec) == 0
                                  : active(w, kExec) != 0;
  return taken ? jump(w, op) : op + 1;
}
EMU_FN uint64_t next_address(const Wave& w, const Op* op) {
  return w.code + uint64_t(int64_t(int32_t(op->offset))) + 4;
}

const Op* nothing(Wave&, const Op* op) { return op + 1; }
const Op* end_program(Wave& w, const Op* op) {
  w.state = State::Ended;
  w.pc = op;
  return nullptr;
}
const Op* barrier(Wave& w, const Op* op) {
  w.state = State::Barrier;
  w.pc = op + 1;
  return nullptr;
}
/// gfx12: the barrier's number; M0 holds one in its lower bits. -1 is the work-group's, 0 is none. Named ones
/// come with gfx12.5.
int32_t barrier_number(const Wave& w, const Op* op) {
  const Source& s = op->src[0];
  const uint32_t value = uint32_t(scalar_bits(w, s, false));
  const int32_t number = int32_t(s.place == Place::Scalar && s.reg == kM0 ? value & 31 : value);
  if (number != -1 && number != 0) raise(w, op, Fault::Kind::Unsupported, -1, 0, "a named barrier");
  return number;
}
template <bool First>
const Op* barrier_signal(Wave& w, const Op* op) {
  const bool first = barrier_number(w, op) != 0 && signal_barrier(w);
  if (First) w.s[kScc] = first;
  return op + 1;
}
const Op* barrier_wait(Wave& w, const Op* op) {
  if (int16_t(op->imm) != -1) raise(w, op, Fault::Kind::Unsupported, -1, 0, "a named barrier");
  wait_at_barrier(w, op);
  return nullptr;
}
const Op* get_barrier_state(Wave& w, const Op* op) {
  write_scalar(w, op->dst, barrier_number(w, op) != 0 ? barrier_state(w) : 0u);
  return op + 1;
}
/// The resource by M0 and the offset; the value is the first enabled lane's.
template <bool Waits>
const Op* grid_barrier(Wave& w, const Op* op) {
  const uint32_t resource = (w.s[kM0] >> 16 & 63) + (op->raw[0] & 0xff);
  const uint64_t lanes = exec_of(w) & w.existing;
  const uint32_t value = w.v[op->src[0].offset + (lanes != 0 ? uint32_t(__builtin_ctzll(lanes)) : 0)];
  if (Waits) {
    wait_at_grid_barrier(w, op, resource, value);
    return nullptr;
  }
  set_grid_barrier(w, op, resource, value);
  return op + 1;
}
const Op* give_way(Wave& w, const Op* op) {
  w.pc = op + 1;
  w.state = State::Ready;
  return nullptr;
}
/// gfx9: from here on vector instructions are skipped, or no longer.
const Op* set_skip(Wave& w, const Op* op) {
  const uint64_t bit = scalar_bits(w, op->src[0], false) >> (scalar_bits(w, op->src[1], false) & 31) & 1;
  w.mode = bit != 0 ? w.mode | kModeSkip : w.mode & ~kModeSkip;
  return give_way(w, op);
}
const Op* get_pc(Wave& w, const Op* op) {
  write_scalar(w, op->dst, next_address(w, op));
  return op + 1;
}
const Op* go_to(Wave& w, const Op* op, uint64_t address) {
  const Op* target = find_code(w, op, address);
  if (target <= op && --w.budget <= 0) {
    w.pc = target;
    w.state = State::Ready;
    return nullptr;
  }
  return target;
}
const Op* set_pc(Wave& w, const Op* op) { return go_to(w, op, scalar_bits(w, op->src[0], true)); }
const Op* swap_pc(Wave& w, const Op* op) {
  const uint64_t to = scalar_bits(w, op->src[0], true);
  write_scalar(w, op->dst, next_address(w, op));
  return go_to(w, op, to);
}
// gfx9's forks: the lanes of a mask go to the target, the others on; the fewer go first. The others' EXEC and
// address wait in four scalar registers, counted by MODE.CSP, until a join with less in it sends the wave
// there.
constexpr unsigned kForkShift = 29;
EMU_FN const Op* fork(Wave& w, const Op* op, uint64_t mask, uint64_t target) {
  const uint64_t exec = exec_of(w), pass = mask & exec, fail = ~mask & exec;
  if (pass == exec) return go_to(w, op, target);
  if (fail == exec) return op + 1;
  const bool goes_on = __builtin_popcountll(fail) < __builtin_popcountll(pass);
  const unsigned saved = 4 * (w.mode >> kForkShift);
  write_scalar(w, saved, goes_on ? pass : fail);
  write_scalar(w, saved + 2, goes_on ? target : next_address(w, op));
  for (unsigned i = 0; i < 4 && w.checker != nullptr; ++i) w.scalar_initialized[saved + i] = ~uint32_t(0);
  w.mode += 1u << kForkShift;
  exec_of(w) = goes_on ? fail : pass;
  return goes_on ? op + 1 : go_to(w, op, target);
}
const Op* fork_to_register(Wave& w, const Op* op) {
  return fork(w, op, scalar_bits(w, op->src[0], true), scalar_bits(w, op->src[1], true));
}
const Op* fork_to_label(Wave& w, const Op* op) {
  const uint64_t mask = uint64_t(w.s[op->dst]) | uint64_t(w.s[op->dst + 1]) << 32;
  return fork(w, op, mask, next_address(w, op) + uint64_t(op->imm) - 4);
}
const Op* join(Wave& w, const Op* op) {
  if (w.mode >> kForkShift == uint32_t(scalar_bits(w, op->src[0], false))) return op + 1;
  w.mode -= 1u << kForkShift;
  const unsigned saved = 4 * (w.mode >> kForkShift);
  exec_of(w) = uint64_t(w.s[saved]) | uint64_t(w.s[saved + 1]) << 32;
  return go_to(w, op, uint64_t(w.s[saved + 2]) | uint64_t(w.s[saved + 3]) << 32);
}
const Op* call(Wave& w, const Op* op) {
  write_scalar(w, op->dst, next_address(w, op));
  return op->target;
}
// Without a debugger the trap handler goes on behind __builtin_debugtrap().
constexpr int64_t kDebugTrap = 3;
const Op* trap(Wave& w, const Op* op) {
  if ((op->imm & 0xff) == kDebugTrap) return op + 1;
  const uint64_t lanes = exec_of(w) & w.existing;
  raise(w, op, Fault::Kind::Trap, lanes != 0 ? __builtin_ctzll(lanes) : -1, 0,
        "the kernel stopped itself (assert, abort or a trap of its own)");
}
const Op* send(Wave& w, const Op* op) {
  send_message(w, op);
  return op + 1;
}
const Op* read_clock(Wave& w, const Op* op) {
  write_scalar(w, op->dst, clock_ticks());
  return op + 1;
}
const Op* message_return(Wave& w, const Op* op) {
  if (op->dst_words == 2)
    write_scalar(w, op->dst, clock_ticks());
  else
    write_scalar(w, op->dst, uint32_t(0));
  return op + 1;
}
// simm16: register in bits 0-5, first bit in 6-10, count less one in 11-15.
const Op* get_register(Wave& w, const Op* op) {
  const uint32_t spec = uint32_t(op->imm), first = spec >> 6 & 31, count = (spec >> 11 & 31) + 1;
  const uint32_t value = read_hardware_register(w, op, spec & 63) >> first;
  write_scalar(w, op->dst, count == 32 ? value : value & ((1u << count) - 1));
  return op + 1;
}
template <bool Literal>
const Op* set_register(Wave& w, const Op* op) {
  const uint32_t spec = uint32_t(op->imm), first = spec >> 6 & 31, count = (spec >> 11 & 31) + 1;
  const uint32_t mask = (count == 32 ? ~0u : (1u << count) - 1) << first;
  const uint32_t value = Literal ? op->raw[1] : uint32_t(scalar_bits(w, op->src[0], false));
  write_hardware_register(w, op, spec & 63, mask, value << first & mask);
  if (w.generation == 9 && (w.mode & kModeSkip) != 0) [[unlikely]]
    return give_way(w, op);
  return op + 1;
}
const Op* round_mode(Wave& w, const Op* op) {
  w.mode = (w.mode & ~0xfu) | (uint32_t(op->imm) & 15);
  return op + 1;
}
const Op* denorm_mode(Wave& w, const Op* op) {
  w.mode = (w.mode & ~0xf0u) | (uint32_t(op->imm) & 15) << 4;
  return op + 1;
}

constexpr Row row(const char* name, Handler run, Form form, Class cls, unsigned flags = 0) {
  Row r{};
  r.name = name;
  r.run = run;
  r.form = form;
  r.cls = cls;
  r.flags = uint16_t(flags);
  return r;
}
constexpr Row to_scalar(const char* name, Handler run, Type dst, Type src = Type::None,
                        Class cls = Class::Branch) {
  Row r = row(name, run, Form::Scalar, cls);
  r.dst = dst;
  r.src[0] = src;
  return r;
}
constexpr Row two_sources(const char* name, Handler run) {
  Row r = to_scalar(name, run, Type::None, Type::U64);
  r.src[1] = Type::U64;
  r.flags = kWritesExec;
  return r;
}
constexpr Row skip_row(const char* name, Handler run) {
  Row r = to_scalar(name, run, Type::None, Type::U32);
  r.src[1] = Type::U32;
  return r;
}
constexpr Row grid_row(const char* name, Handler run) {
  Row r = row(name, run, Form::Custom, Class::Barrier);
  r.src[0] = Type::U32;
  r.src_words[0] = 1;
  return r;
}
constexpr Row wait(const char* name) { return row(name, nothing, Form::Immediate, Class::Wait); }
constexpr Row ignored(const char* name) { return row(name, nothing, Form::Immediate, Class::Other); }

constexpr Row kRows[] = {
    row("s_branch", branch<Always>, Form::Branch, Class::Branch),
    row("s_cbranch_scc0", branch<Scc0>, Form::Branch, Class::Branch),
    row("s_cbranch_scc1", branch<Scc1>, Form::Branch, Class::Branch),
    row("s_cbranch_vccz", branch<Vccz>, Form::Branch, Class::Branch),
    row("s_cbranch_vccnz", branch<Vccnz>, Form::Branch, Class::Branch),
    row("s_cbranch_execz", branch<Execz>, Form::Branch, Class::Branch),
    row("s_cbranch_execnz", branch<Execnz>, Form::Branch, Class::Branch),
    to_scalar("s_getpc_b64", get_pc, Type::U64),
    to_scalar("s_setpc_b64", set_pc, Type::None, Type::U64),
    to_scalar("s_swappc_b64", swap_pc, Type::U64, Type::U64),
    row("s_call_b64", call, Form::Branch, Class::Branch),
    two_sources("s_cbranch_g_fork", fork_to_register),
    row("s_cbranch_i_fork", fork_to_label, Form::Branch, Class::Branch, kWritesExec),
    to_scalar("s_cbranch_join", join, Type::None, Type::U32),
    row("s_endpgm", end_program, Form::Immediate, Class::Other),
    row("s_endpgm_saved", end_program, Form::Immediate, Class::Other),
    row("s_barrier", barrier, Form::Immediate, Class::Barrier),
    row("s_barrier_wait", barrier_wait, Form::Immediate, Class::Barrier),
    to_scalar("s_barrier_signal", barrier_signal<false>, Type::None, Type::U32, Class::Barrier),
    to_scalar("s_barrier_signal_isfirst", barrier_signal<true>, Type::None, Type::U32, Class::Barrier),
    to_scalar("s_get_barrier_state", get_barrier_state, Type::U32, Type::U32, Class::Barrier),
    skip_row("s_setvskip", set_skip),
    grid_row("ds_gws_init", grid_barrier<false>),
    grid_row("ds_gws_barrier", grid_barrier<true>),
    to_scalar("s_sleep_var", give_way, Type::None, Type::U32, Class::Other),
    row("s_trap", trap, Form::Immediate, Class::Other),
    row("s_sleep", give_way, Form::Immediate, Class::Wait),
    to_scalar("s_memtime", read_clock, Type::U64, Type::None, Class::ScalarMemory),
    to_scalar("s_memrealtime", read_clock, Type::U64, Type::None, Class::ScalarMemory),
    to_scalar("s_sendmsg_rtn_b32", message_return, Type::U32, Type::None, Class::Other),
    to_scalar("s_sendmsg_rtn_b64", message_return, Type::U64, Type::None, Class::Other),
    to_scalar("s_getreg_b32", get_register, Type::U32, Type::None, Class::Scalar),
    row("s_setreg_b32", set_register<false>, Form::Immediate, Class::Scalar, kStore),
    row("s_setreg_imm32_b32", set_register<true>, Form::Immediate, Class::Scalar),
    row("s_round_mode", round_mode, Form::Immediate, Class::Scalar),
    row("s_denorm_mode", denorm_mode, Form::Immediate, Class::Scalar),
    row("s_sendmsg", send, Form::Immediate, Class::Other),
    wait("s_waitcnt"),
    wait("s_waitcnt_vscnt"),
    wait("s_waitcnt_vmcnt"),
    wait("s_waitcnt_expcnt"),
    wait("s_waitcnt_lgkmcnt"),
    wait("s_waitcnt_depctr"),
    wait("s_wait_idle"),
    wait("s_wait_event"),
    wait("s_wait_loadcnt"),
    wait("s_wait_storecnt"),
    wait("s_wait_samplecnt"),
    wait("s_wait_bvhcnt"),
    wait("s_wait_expcnt"),
    wait("s_wait_dscnt"),
    wait("s_wait_kmcnt"),
    wait("s_wait_loadcnt_dscnt"),
    wait("s_wait_storecnt_dscnt"),
    wait("s_wait_alu"),
    ignored("s_nop"),
    ignored("s_singleuse_vdst"),
    ignored("v_clrexcp"),
    ignored("s_delay_alu"),
    ignored("s_clause"),
    ignored("s_setprio"),
    ignored("s_sethalt"),
    ignored("s_icache_inv"),
    ignored("s_inst_prefetch"),
    ignored("s_set_inst_prefetch_distance"),
    ignored("s_dcache_inv"),
    ignored("s_dcache_wb"),
    ignored("s_dcache_inv_vol"),
    ignored("s_dcache_wb_vol"),
    ignored("s_gl1_inv"),
    ignored("s_ttracedata"),
    ignored("s_ttracedata_imm"),
    ignored("s_incperflevel"),
    ignored("s_decperflevel"),
    ignored("s_wakeup"),
    ignored("s_version"),
    ignored("s_prefetch_inst"),
    ignored("s_prefetch_inst_pc_rel"),
    ignored("s_prefetch_data"),
    ignored("s_prefetch_data_pc_rel"),
    ignored("buffer_gl0_inv"),
    ignored("buffer_gl1_inv"),
    ignored("buffer_wbinvl1"),
    ignored("buffer_wbinvl1_vol"),
    ignored("buffer_wbl2"),
    ignored("buffer_invl2"),
    ignored("buffer_inv"),
    ignored("global_inv"),
    ignored("global_wb"),
    ignored("global_wbinv"),
    ignored("v_nop"),
    ignored("ds_nop"),
    ignored("v_pipeflush"),
};

}  // namespace
EMU_GROUP(control, kRows)
}  // namespace EMU_ISA
}  // namespace emu::exec
