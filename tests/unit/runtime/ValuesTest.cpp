// Initial values: what the rules say, the same on every rank.
#include "TinyPlan.h"

#include "runtime/run/Values.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

namespace syncline {
namespace {

using namespace run;

std::vector<float> drawn(const std::string &name, TensorInit init, std::int64_t count,
                         std::uint64_t seed = 1) {
  Plan plan;
  PlanTensor tensor;
  tensor.name = name;
  tensor.shape = {count};
  tensor.init = std::move(init);
  auto bytes = initialValues(plan, tensor, seed);
  EXPECT_TRUE(bytes.isOk());
  std::vector<float> values(count);
  std::memcpy(values.data(), bytes->data(), bytes->size());
  return values;
}

// A normal tensor has its mean and deviation, and about as many values beyond two as it should.
TEST(Values, Normal) {
  auto v = drawn("w", {TensorInit::Kind::normal, 3, 0.5, {}}, 100000);
  double sum = 0, squares = 0;
  int beyond = 0;
  for (float x : v) {
    sum += x;
    squares += (x - 3) * (x - 3);
    beyond += std::abs(x - 3) > 1;
  }
  EXPECT_NEAR(sum / 1e5, 3, 0.01);
  EXPECT_NEAR(std::sqrt(squares / 1e5), 0.5, 0.01);
  EXPECT_NEAR(beyond / 1e5, 0.0455, 0.004);
}

TEST(Values, Uniform) {
  auto v = drawn("w", {TensorInit::Kind::uniform, -1, 3, {}}, 100000);
  double sum = 0;
  for (float x : v) {
    ASSERT_GE(x, -1);
    ASSERT_LE(x, 3);
    sum += x;
  }
  EXPECT_NEAR(sum / 1e5, 1, 0.02);
}

TEST(Values, Given) {
  EXPECT_EQ(drawn("c", {TensorInit::Kind::constant, 2.5, 0, {}}, 3),
            (std::vector<float>{2.5, 2.5, 2.5}));
  EXPECT_EQ(drawn("c", {TensorInit::Kind::values, 0, 0, {1, -2, 4}}, 3),
            (std::vector<float>{1, -2, 4}));
}

// Values depend on seed and name, and on nothing else.
TEST(Values, DependOnSeedAndName) {
  TensorInit init{TensorInit::Kind::normal, 0, 1, {}};
  EXPECT_EQ(drawn("a", init, 10), drawn("a", init, 10));
  EXPECT_NE(drawn("a", init, 10), drawn("b", init, 10));
  EXPECT_NE(drawn("a", init, 10), drawn("a", init, 10, 2));
}

} // namespace
} // namespace syncline
