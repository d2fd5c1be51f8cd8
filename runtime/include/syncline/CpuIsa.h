// The instruction sets of processors, and the variable that caps those that Syncline uses. Header
// only, because generated steps read the variable too.
#pragma once

#include <cstdlib>
#include <optional>
#include <string_view>

namespace syncline {

/// Each has all that the one before has.
enum class CpuIsa {
  baseline, ///< what every processor of this architecture has
  avx2,     ///< x86-64-v3
  avx512,   ///< x86-64-v4, with bf16 where the processor has it
  amx,      ///< tiles
};

inline constexpr const char *cpuIsaVariable = "SYNCLINE_MAX_CPU_ISA";

/// The highest instruction set that the variable allows: amx where it is unset or empty. Nothing
/// for an unknown name, which backends refuse.
inline std::optional<CpuIsa> cpuIsaCap() {
  const char *value = std::getenv(cpuIsaVariable);
  const std::string_view name = value ? value : "";
  if (name.empty() || name == "amx")
    return CpuIsa::amx;
  if (name == "avx512")
    return CpuIsa::avx512;
  if (name == "avx2")
    return CpuIsa::avx2;
  return std::nullopt;
}

/// The instruction set for loops of our own, at most avx512: no loop of ours uses tiles.
inline CpuIsa loopIsa() {
#if defined(__x86_64__) && defined(__gnu_linux__)
  __builtin_cpu_init(); // loaders call this before libgcc's own constructors
  if (cpuIsaCap() != CpuIsa::avx2 && __builtin_cpu_supports("x86-64-v4"))
    return CpuIsa::avx512;
  if (__builtin_cpu_supports("x86-64-v3"))
    return CpuIsa::avx2;
#endif
  return CpuIsa::baseline;
}

} // namespace syncline
