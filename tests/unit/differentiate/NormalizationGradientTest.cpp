// Derivatives of normalisations, softmax and dropout.
#include "tests/unit/differentiate/GradientHarness.h"

#include <gtest/gtest.h>

using namespace syncline::nn;
using namespace syncline::test;

namespace {

std::string batchNorm(DimsRef shape) {
  std::string x = type(shape), c = type({shape[1]});
  return parameter("x", shape) + parameter("positive_scale", {shape[1]}) +
         parameter("shift", {shape[1]}) + "%m = nn.state \"m\" at 0 : " + c +
         "\n%v = nn.state \"v\" at 0 : " + c +
         "\n%n, %bm, %bv = nn.batch_norm %x, %positive_scale, %shift, %m, %v {epsilon = 1.0e-3 : "
         "f64, momentum = 0.1 : f64} : (" +
         x + ", " + c + ", " + c + ", " + c + ", " + c + ") -> (" + x + ", " + c + ", " + c + ")\n";
}

} // namespace

TEST(BatchNormGradient, OfImages) {
  expectRightGradients(batchNorm({2, 3, 2, 3}) + "%y = nn.unary tanh %n : tensor<2x3x2x3xf64>\n",
                       {2, 3, 2, 3});
}

TEST(BatchNormGradient, OfVectors) {
  expectRightGradients(batchNorm({5, 3}) + "%y = nn.unary relu %n : tensor<5x3xf64>\n", {5, 3});
}

TEST(LayerNormGradient, OfOneAndTwoDimensionsWithAndWithoutShift) {
  const Dims whole = {3, 2, 4};
  for (int count : {1, 2})
    for (bool isShifted : {true, false}) {
      const DimsRef last = DimsRef(whole).take_back(count);
      expectRightGradients(parameter("x", whole) + parameter("positive_scale", last) +
                               (isShifted ? parameter("shift", last) : "") +
                               "%n = nn.layer_norm %x, %positive_scale" +
                               (isShifted ? " shift %shift" : "") +
                               " {epsilon = 1.0e-3 : f64} : (" + type(whole) + ", " + type(last) +
                               (isShifted ? ", " + type(last) : "") + ") -> " + type(whole) +
                               "\n%y = nn.unary tanh %n : " + type(whole) + "\n",
                           whole);
    }
}

TEST(LrnGradient, OfOddAndEvenSizes) {
  for (const char *size : {"1", "3", "4"})
    expectRightGradients(parameter("x", {2, 5, 2}) + "%y = nn.lrn %x {size = " + size +
                             " : i64, alpha = 0.3 : f64, beta = 0.75 : f64, bias = 1.5 : f64} : "
                             "tensor<2x5x2xf64>\n",
                         {2, 5, 2});
}

TEST(SoftmaxGradient, OfEveryAxisAndItsLogarithm) {
  for (const char *axis : {"0", "1", "2"})
    for (const char *logarithm : {"", ", logarithm"})
      expectRightGradients(parameter("x", {2, 3, 2}) + "%y = nn.softmax %x {axis = " + axis +
                               " : i64" + logarithm + "} : tensor<2x3x2xf64>\n",
                           {2, 3, 2});
}

TEST(DropoutGradient, PassesWhatWasKept) {
  expectRightGradients(parameter("x", {4, 5}) +
                           "%y, %mask = nn.dropout %x {ratio = 0.4 : f64, nn.layer = \"drop\"} : "
                           "(tensor<4x5xf64>) -> (tensor<4x5xf64>, tensor<4x5xui8>)\n",
                       {4, 5});
}
