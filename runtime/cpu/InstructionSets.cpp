// Caps oneDNN once, before it chooses its first kernel.
#include "runtime/cpu/InstructionSets.h"

#include "syncline/CpuIsa.h"

#include <cstdlib>

namespace syncline::cpu {

namespace {

/// Whether the environment caps oneDNN by a name of its own, of which the second is older.
bool hasOwnCap() {
  for (const char *name : {"ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"})
    if (const char *value = std::getenv(name); value && *value)
      return true;
  return false;
}

Status cap() {
  const std::string variable = cpuIsaVariable;
  const std::optional<CpuIsa> most = cpuIsaCap();
  if (!most)
    return Status::badInput(variable + ": expected avx2, avx512 or amx, got '" +
                            std::getenv(cpuIsaVariable) + "'");
  if (*most == CpuIsa::amx || hasOwnCap())
    return Status::ok();
  const dnnl::cpu_isa isa =
      *most == CpuIsa::avx2 ? dnnl::cpu_isa::avx2 : dnnl::cpu_isa::avx512_core_bf16;
  if (dnnl::set_max_cpu_isa(isa) != dnnl::status::success)
    return Status::badInput(variable + ": this oneDNN cannot be capped, or was used before");
  return Status::ok();
}

} // namespace

Status instructionSets() {
  static const Status status = cap();
  return status;
}

dnnl::cpu_isa oneDnnIsa() {
  (void)instructionSets(); // the executable refuses what is wrong with it
  return dnnl::get_effective_cpu_isa();
}

} // namespace syncline::cpu
