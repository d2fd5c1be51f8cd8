// The table of devices that is part of the program: complete, and with numbers that mean something.
#include "frontend/files/DeviceTable.h"
#include "passes/cost/DeviceModel.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace syncline::files {
namespace {

double numberOf(std::string_view kind, std::string_view like, const std::string &name) {
  return kernelNumbers(*findDeviceKind(kind), like).at(name);
}

// Every number has a meaning in the formula, and every share is one.
TEST(DeviceTable, NumbersOfKernels) {
  for (const DeviceKind &kind : allDeviceKinds())
    for (const char *like : {"pytorch", "pytorch-nchw", "compiled", "best"})
      for (const auto &[name, number] : kernelNumbers(kind, like)) {
        EXPECT_EQ(std::ranges::count(cost::deviceNumbers, name, &cost::NamedNumber::first), 1)
            << name;
        EXPECT_GT(number, 0) << kind.name << " " << name;
        if (number < 1e6 && name != "multiprocessors") {
          EXPECT_LE(number, 3) << kind.name << " " << name;
        }
      }
}

// GPUs have a generation, and more units in fewer bits.
TEST(DeviceTable, Peaks) {
  for (const DeviceKind &kind : allDeviceKinds()) {
    EXPECT_GT(kind.peaks.at("fp32"), 0) << kind.name;
    EXPECT_EQ(kind.isGpu(), !kind.name.starts_with("cpu")) << kind.name;
    EXPECT_EQ(kind.isGpu(), kind.memorySize > 0 && kind.multiprocessors > 1) << kind.name;
    for (const auto &[precision, peak] : kind.peaks)
      EXPECT_GE(peak, kind.peaks.at("fp32")) << kind.name << " " << precision;
  }
  EXPECT_EQ(findDeviceKind("a100")->peaks.at("bf16"), 312e12);
  EXPECT_FALSE(findDeviceKind("v100")->peaks.contains("bf16"));
  EXPECT_EQ(findDeviceKind("A100"), nullptr);
}

// The data sheet's numbers are the kind's own, shares those of its generation.
TEST(DeviceTable, SharesByGeneration) {
  EXPECT_EQ(numberOf("h100", "pytorch", "bandwidth"), 3350e9);
  EXPECT_EQ(numberOf("h100", "pytorch", "multiprocessors"), 132);
  EXPECT_EQ(numberOf("h100", "pytorch", "product"), numberOf("a100", "pytorch", "product"));
  EXPECT_NE(numberOf("h100", "pytorch", "matrix"), numberOf("v100", "pytorch", "matrix"));
  EXPECT_EQ(numberOf("h100", "pytorch", "matrix"), numberOf("h200", "pytorch", "matrix"));
}

// Where runs were published, the table says how far predictions of them are off.
TEST(DeviceTable, Doubts) {
  const auto doubt = doubtOf("v100", "pytorch");
  ASSERT_TRUE(doubt);
  EXPECT_GT(doubt->runs, 10);
  EXPECT_GT(doubt->ninth, doubt->median);
  EXPECT_TRUE(doubt->isRange());
  EXPECT_FALSE(doubtOf("cpu", "pytorch"));
  EXPECT_TRUE(doubtOf("v100", "pytorch-nchw"));
  EXPECT_FALSE(doubtOf("v100", "best")); // all published runs are PyTorch's
  const auto single = doubtOf("v100-pcie", "pytorch");
  ASSERT_TRUE(single);
  EXPECT_EQ(single->runs, 1);
  EXPECT_FALSE(single->isRange());
}

} // namespace
} // namespace syncline::files
