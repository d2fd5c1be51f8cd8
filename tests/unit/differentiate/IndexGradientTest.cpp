// Derivatives of operations that go by indices.
#include "tests/unit/differentiate/GradientHarness.h"

#include <gtest/gtest.h>

using namespace syncline::test;

/// Indices that repeat, from both ends of four entries.
static const std::string indices = "%i = nn.constant dense<[[0, 2, -1], [3, 3, -4]]> : "
                                   "tensor<2x3xi64>\n";

TEST(GatherRowsGradient, AddsUpWhatWasTaken) {
  expectRightGradients(parameter("x", {2, 3, 4, 2}) + indices +
                           "%y = nn.gather_rows %x, %i {axis = 2 : i64, shared = 1 : i64} : "
                           "(tensor<2x3x4x2xf64>, tensor<2x3xi64>) -> tensor<2x3x3x2xf64>\n",
                       {2, 3, 3, 2});
}

TEST(GatherRowsGradient, ByIndicesThatNothingShares) {
  expectRightGradients(parameter("x", {3, 4}) + indices +
                           "%y = nn.gather_rows %x, %i {axis = 1 : i64, shared = 0 : i64} : "
                           "(tensor<3x4xf64>, tensor<2x3xi64>) -> tensor<3x2x3xf64>\n",
                       {3, 2, 3});
}

/// A scatter of three updates in each of two rows, of which some meet.
static std::string scatter(int kind) {
  return parameter("distinctu", {2, 3}) + parameter("distinctx", {2, 4}) +
         "%i = nn.constant dense<[[0, 2, 2], [3, 0, 3]]> : tensor<2x3xi64>\n"
         "%c = nn.constant dense<0.0625> : tensor<f64>\n" // no element of one is one of the other
         "%x = nn.binary add %distinctx, %c : (tensor<2x4xf64>, tensor<f64>) -> tensor<2x4xf64>\n"
         "%y = nn.scatter_rows %distinctu, %i onto %x {axis = 1 : i64, kind = " +
         std::to_string(kind) +
         " : i64, shared = 1 : i64} : (tensor<2x3xf64>, tensor<2x3xi64>, tensor<2x4xf64>) -> "
         "tensor<2x4xf64>\n";
}

TEST(ScatterRowsGradient, OfSums) { expectRightGradients(scatter(0), {2, 4}); }

TEST(ScatterRowsGradient, OfProducts) { expectRightGradients(scatter(2), {2, 4}); }

TEST(ScatterRowsGradient, OfBounds) {
  expectRightGradients(scatter(3), {2, 4});
  expectRightGradients(scatter(4), {2, 4});
}

// What is replaced has no gradient.
TEST(ScatterRowsGradient, OfReplacements) {
  const std::string body = parameter("u", {2, 2}) + parameter("x", {2, 4}) +
                           "%i = nn.constant dense<[[0, -2], [3, 1]]> : tensor<2x2xi64>\n"
                           "%y = nn.scatter_rows %u, %i onto %x {axis = 1 : i64, kind = 1 : i64, "
                           "shared = 1 : i64} : (tensor<2x2xf64>, tensor<2x2xi64>, "
                           "tensor<2x4xf64>) -> tensor<2x4xf64>\n";
  expectRightGradients(body, {2, 4});
}

// The gradient goes where the values came from; their places have none.
TEST(TopKGradient, GoesToWhatWasTaken) {
  for (const std::string largest : {" {largest}", ""})
    expectRightGradients(parameter("distinctx", {3, 5}) + "%v, %i = nn.top_k %distinctx" + largest +
                             " : (tensor<3x5xf64>) -> (tensor<3x2xf64>, tensor<3x2xf64>)\n"
                             "%y = nn.binary mul %v, %i : (tensor<3x2xf64>, tensor<3x2xf64>) -> "
                             "tensor<3x2xf64>\n",
                         {3, 2});
}
