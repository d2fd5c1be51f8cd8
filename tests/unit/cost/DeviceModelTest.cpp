// The seconds of one kernel: what binds it, tiles over multiprocessors, and the host's pace.
#include "passes/cost/DeviceModel.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace syncline::cost {
namespace {

/// Ten multiprocessors; 1 TFLOP/s, ten times as much in bf16; 1 GB/ms.
DeviceNumbers device() {
  DeviceNumbers numbers;
  numbers.fp32 = 1e12;
  numbers.bf16 = 1e13;
  numbers.bandwidth = 1e12;
  numbers.multiprocessors = 10;
  return numbers;
}

Kernel product(double m, double n, double k) {
  return {.kind = KernelClass::product, .flops = 2 * m * n * k, .bytes = 1, .m = m, .n = n, .k = k};
}

// Ten tiles fill the device; an eleventh takes a wave of its own.
TEST(DeviceModel, TilesGoOverMultiprocessorsInWaves) {
  EXPECT_DOUBLE_EQ(tileShare(product(2560, 128, 64), 10), 1);
  EXPECT_LT(tileShare(product(2816, 128, 64), 10), 0.95);
  EXPECT_LT(tileShare(product(16, 16, 64), 10), 0.02);
}

// A product whose tiles are too few is cut along k.
TEST(DeviceModel, LongProductsAreCut) {
  EXPECT_DOUBLE_EQ(tileShare(product(64, 64, 5120), 10), 10 * tileShare(product(64, 64, 64), 10));
}

// The larger of computing and moving counts, with the shares that each reaches.
TEST(DeviceModel, ComputesOrMoves) {
  DeviceNumbers numbers = device();
  Kernel kernel = product(2560, 128, 1000);
  EXPECT_DOUBLE_EQ(kernelSeconds(kernel, Precision::bf16, numbers), kernel.flops / 1e13);
  numbers.product = 0.5;
  numbers.matrix = 0.8;
  EXPECT_DOUBLE_EQ(kernelSeconds(kernel, Precision::bf16, numbers), kernel.flops / 4e12);
  kernel.bytes = 1e12;
  numbers.pointwise = 0.8;
  numbers.memory = 0.5;
  EXPECT_DOUBLE_EQ(kernelSeconds(kernel, Precision::bf16, numbers), 2.5);
}

// Only matrix units need channels last; plain arithmetic has Winograd's algorithm.
TEST(DeviceModel, ConvolutionsByLayoutAndWindow) {
  DeviceNumbers numbers = device();
  numbers.conversion = 2;
  numbers.winograd = 1.5;
  Kernel kernel = product(2560, 128, 1000);
  kernel.kind = KernelClass::convolution;
  kernel.layoutBytes = 1e12;
  kernel.hasWindow = true;
  EXPECT_DOUBLE_EQ(kernelSeconds(kernel, Precision::fp32, numbers), kernel.flops / 1.5e12);
  EXPECT_DOUBLE_EQ(kernelSeconds(kernel, Precision::bf16, numbers), kernel.flops / 1e13 + 2);
}

// Matrix units are slower with rows that are no whole 16 bytes; other units do not mind.
TEST(DeviceModel, UnalignedProducts) {
  DeviceNumbers numbers = device();
  numbers.unaligned = 0.5;
  Kernel kernel = product(2560, 128, 1000);
  kernel.isUnaligned = true;
  EXPECT_DOUBLE_EQ(kernelSeconds(kernel, Precision::bf16, numbers), kernel.flops / 5e12);
  EXPECT_DOUBLE_EQ(kernelSeconds(kernel, Precision::fp32, numbers), kernel.flops / 1e12);
}

// Parts that wait for each other begin one after the other; a slow node takes longer in all.
TEST(DeviceModel, BeginsEachStep) {
  DeviceNumbers numbers = device();
  numbers.launch = 1;
  Kernel kernel{.kind = KernelClass::pointwise, .bytes = 1e12};
  EXPECT_DOUBLE_EQ(kernelSeconds(kernel, Precision::fp32, numbers), 2);
  kernel.steps = 5;
  EXPECT_DOUBLE_EQ(kernelSeconds(kernel, Precision::fp32, numbers), 6);
  kernel.launches = 0; // it is part of another kernel
  EXPECT_DOUBLE_EQ(kernelSeconds(kernel, Precision::fp32, numbers), 1);
  kernel.launches = 1;
  numbers.slowdown = 2;
  EXPECT_DOUBLE_EQ(kernelSeconds(kernel, Precision::fp32, numbers), 12);
}

// A step takes no less than the host needs to issue its kernels.
TEST(DeviceModel, HostSetsThePace) {
  DeviceNumbers numbers = device();
  numbers.issue = 0.5;
  EXPECT_EQ(issueFactor(10, 4, numbers), 1);
  EXPECT_EQ(issueFactor(10, 40, numbers), 2);
  EXPECT_EQ(issueFactor(0, 40, numbers), 1);
}

// A device has a peak in the precisions that it states.
TEST(DeviceModel, Precisions) {
  EXPECT_EQ(device().peak(*parsePrecision("bf16")), 1e13);
  EXPECT_EQ(device().peak(*parsePrecision("tf32")), 0);
  EXPECT_EQ(device().peak(*parsePrecision("fp16")), 0);
  EXPECT_FALSE(parsePrecision("fp8"));
}

// Every class is the name of a number.
TEST(DeviceModel, ClassesAreNumbers) {
  for (int kind = 0; kind <= static_cast<int>(KernelClass::optimizer); ++kind) {
    const std::string_view name = className(static_cast<KernelClass>(kind));
    EXPECT_EQ(std::ranges::count(deviceNumbers, name, &NamedNumber::first), 1) << name;
  }
}

} // namespace
} // namespace syncline::cost
