// The cap of instruction sets, as loops and kernels of our own obey it.
#include "runtime/cpu/BlockedConvolution.h"
#include "syncline/CpuIsa.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>

namespace syncline::cpu {
namespace {

/// Sets the variable, and puts back what was there.
class InstructionSets : public testing::Test {
protected:
  void TearDown() override { set(was ? was->c_str() : nullptr); }

  static void set(const char *value) {
    if (value)
      setenv(cpuIsaVariable, value, /*overwrite=*/1);
    else
      unsetenv(cpuIsaVariable);
  }

private:
  static std::optional<std::string> found() {
    const char *value = std::getenv(cpuIsaVariable);
    return value ? std::optional<std::string>(value) : std::nullopt;
  }

  const std::optional<std::string> was = found();
};

TEST_F(InstructionSets, NamesOfTheCap) {
  for (const auto &[name, cap] :
       {std::pair("avx2", CpuIsa::avx2), {"avx512", CpuIsa::avx512}, {"amx", CpuIsa::amx}}) {
    set(name);
    EXPECT_EQ(cpuIsaCap(), cap) << name;
  }
  for (const char *none : {static_cast<const char *>(nullptr), ""}) {
    set(none);
    EXPECT_EQ(cpuIsaCap(), CpuIsa::amx);
  }
  for (const char *unknown : {"AVX2", "avx", "avx5122", " "}) {
    set(unknown);
    EXPECT_EQ(cpuIsaCap(), std::nullopt) << unknown;
  }
}

TEST_F(InstructionSets, LoopsAndConvolutionsTakeNoneAboveTheCap) {
  set("amx");
  const CpuIsa most = loopIsa();
  EXPECT_EQ(hasVectors(Vectors::avx512), most == CpuIsa::avx512);
  EXPECT_EQ(hasVectors(Vectors::avx2), most != CpuIsa::baseline);
  set("avx512");
  EXPECT_EQ(loopIsa(), most);
  set("avx2");
  EXPECT_EQ(loopIsa(), std::min(most, CpuIsa::avx2));
  EXPECT_FALSE(hasVectors(Vectors::avx512));
  EXPECT_EQ(hasVectors(Vectors::avx2), most != CpuIsa::baseline);
}

} // namespace
} // namespace syncline::cpu
