// Initial values: what the rules say, the same on every rank.
#include "Ranks.h"
#include "TinyPlan.h"

#include "runtime/run/weights/EqualWeights.h"
#include "runtime/run/weights/Values.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <set>

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

/// Tensors of f32 in host memory: two parameters, and statistics of this rank alone.
class FewTensors : public core::TensorStore {
public:
  FewTensors() {
    const std::int64_t sizes[] = {3, 37, 5};
    for (const std::int64_t size : sizes) {
      core::StepTensor tensor;
      tensor.space = all.size() < 2 ? Space::parameters : Space::state;
      tensor.type = ElementType::f32;
      tensor.shape = {size};
      all.push_back(tensor);
      values.emplace_back(static_cast<std::size_t>(size), 0.5f);
    }
  }
  std::span<const core::StepTensor> tensors() const override { return all; }
  int find(Space, std::string_view) const override { return -1; }
  core::Interval space(Space) override { return {}; }
  Status read(int tensor, std::span<std::byte> dense) override {
    std::memcpy(dense.data(), values[static_cast<std::size_t>(tensor)].data(), dense.size());
    return Status::ok();
  }
  Status write(int, std::span<const std::byte>) override { return Status::ok(); }
  std::string layout(int) const override { return ""; }
  std::string layoutFingerprint() const override { return ""; }

  std::vector<core::StepTensor> all;
  std::vector<std::vector<float>> values;
};

// Any bit of a parameter changes the digest; a rank's own statistics do not.
TEST(EqualWeights, DigestSeesEveryBit) {
  FewTensors store;
  std::set<std::string> digests{*weightsDigest(store)};
  std::size_t changes = 0;
  for (std::size_t tensor = 0; tensor < 2; ++tensor)
    for (float &value : store.values[tensor])
      for (int bit = 0; bit < 32; ++bit, ++changes) {
        auto &word = reinterpret_cast<std::uint32_t &>(value);
        word ^= 1u << bit;
        digests.insert(*weightsDigest(store));
        word ^= 1u << bit;
      }
  EXPECT_EQ(digests.size(), changes + 1);
  std::swap(store.values[1][0], store.values[1][8]); // equal values
  store.values[2].front() = 7;
  EXPECT_TRUE(digests.contains(*weightsDigest(store)));
  store.values[1][0] = 1;
  const std::string before = *weightsDigest(store);
  std::swap(store.values[1][0], store.values[1][8]);
  EXPECT_NE(*weightsDigest(store), before);
}

// Ranks whose weights differ are named, on every rank.
TEST(EqualWeights, NamesWhoDiffers) {
  testing::runRanks(
      3,
      [](int rank, transport::Group &group) {
        FewTensors store;
        Status s = expectEqualWeights(store, group, 4);
        EXPECT_TRUE(s) << s.message();
        if (rank == 1)
          store.values[0][2] = 0.50000006f;
        s = expectEqualWeights(store, group, 8);
        ASSERT_FALSE(s);
        EXPECT_EQ(s.exitCode(), 1);
        EXPECT_TRUE(s.message().starts_with("the ranks differ in their weights after 8 steps: "))
            << s.message();
        EXPECT_NE(s.message().find("ranks 0, 2 '"), std::string::npos) << s.message();
        EXPECT_NE(s.message().find("rank 1 '"), std::string::npos) << s.message();
      },
      /*connect=*/false);
}

// A rank that is lost meanwhile is named with the comparison.
TEST(EqualWeights, NamesWhoIsLost) {
  testing::runRanks(
      2,
      [](int rank, transport::Group &group) {
        FewTensors store;
        ASSERT_TRUE(expectEqualWeights(store, group, 2)); // both are there
        if (rank == 1)
          return group.abandon(Status::badInput("disk"));
        EXPECT_EQ(expectEqualWeights(store, group, 4).message(),
                  "lost rank 1 (it failed: disk) in the comparison of weights after 4 steps; last "
                  "completed step 3");
      },
      /*connect=*/false, /*leave=*/false);
}

} // namespace
} // namespace syncline
