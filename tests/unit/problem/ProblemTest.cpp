// Validation of problems: every way to be wrong, and how it is said.
#include "passes/problem/Problem.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace syncline::problem {

namespace {

Problem good() {
  Problem problem;
  MergeClass mergeClass{
      .options = {
          {.scheme = Scheme::ring, .cost = std::make_shared<AffineCost>(1, 1), .traffic = 4}}};
  problem.mergeClasses = {mergeClass, mergeClass};
  problem.mergeClasses[1].options[0].scheme = Scheme::parameterServer;
  problem.layers = {
      {.bytes = 10,
       .ready = 0.0,
       .mergeClasses = 3,
       .factorOptions = {{.seconds = 1, .reconstruct = 1, .traffic = 1}},
       .carrier = {}},
      {.bytes = 20, .ready = 1.0, .mergeClasses = 3, .factorOptions = {}, .carrier = 0}};
  problem.computeFree = 1;
  return problem;
}

void expectInvalid(const std::function<void(Problem &)> &spoil, const std::string &message) {
  Problem problem = good();
  spoil(problem);
  Status status = validate(problem);
  ASSERT_FALSE(status.isOk()) << "accepted: " << message;
  EXPECT_EQ(status.kind(), ErrorKind::badInput);
  EXPECT_EQ(status.message(), message);
}

TEST(Validate, AcceptsAGoodProblem) {
  EXPECT_TRUE(validate(good()).isOk());
  Problem empty = good();
  empty.layers.clear();
  EXPECT_TRUE(validate(empty).isOk());
}

TEST(Shifted, MovesAllTimesOfComputation) {
  Problem problem = good();
  problem.memoryBound = {{0.25, 0.5}};
  problem = shifted(problem, 2);
  EXPECT_EQ(problem.computeFree, 3);
  EXPECT_EQ(problem.layers[0].ready, 2);
  EXPECT_EQ(problem.layers[1].ready, 3);
  EXPECT_EQ(problem.memoryBound->at(0).begin, 2.25);
  EXPECT_EQ(problem.memoryBound->at(0).end, 2.5);
}

TEST(Validate, ChecksMergeClasses) {
  expectInvalid([](Problem &p) { p.mergeClasses.clear(); },
                "problem: expected 1 to 3 merge classes, got 0");
  expectInvalid([](Problem &p) { p.mergeClasses[0].options.clear(); },
                "problem: expected 1 to 254 schemes in a merge class, got 0");
  expectInvalid([](Problem &p) { p.mergeClasses[0].options[0].cost.reset(); },
                "problem: scheme 'ring' has no cost");
  expectInvalid([](Problem &p) { p.mergeClasses[0].capacity = p.mergeClasses[1].capacity = 100; },
                "problem: expected one merge class with a capacity, got 2");
  expectInvalid([](Problem &p) { p.mergeClasses[0].largestMessage = -1; },
                "problem: expected limits >= 0");
}

TEST(Validate, ChecksLayers) {
  expectInvalid([](Problem &p) { p.layers[1].bytes = -1; },
                "layer 2 in backward order: expected bytes >= 0, got -1");
  expectInvalid([](Problem &p) { p.layers[1].bytes = std::int64_t{1} << 53; },
                "layer 2 in backward order: expected less than 2^53 bytes in all");
  expectInvalid(
      [](Problem &p) { p.layers[0].ready = 2; },
      "layer 2 in backward order: expected a finite ready time >= 2.000000, got 1.000000");
  expectInvalid([](Problem &p) { p.layers[0].ready = NAN; },
                "layer 1 in backward order: expected a finite ready time >= 0.000000, got nan");
  expectInvalid([](Problem &p) { p.layers[0].bytes = p.layers[1].bytes = std::int64_t{1} << 52; },
                "layer 2 in backward order: expected less than 2^53 bytes in all");
  expectInvalid([](Problem &p) { p.computeFree = 0.5; },
                "problem: expected the backward pass to end at 1.000000 s or later, got "
                "0.500000 s");
  expectInvalid([](Problem &p) { p.layers[0].mergeClasses = 4; },
                "layer 1 in backward order: expected merge classes below 2");
  expectInvalid([](Problem &p) { p.layers[0].factorOptions[0].reconstruct = NAN; },
                "layer 1 in backward order: expected finite times >= 0 for 'factors'");
}

TEST(Validate, ChecksCarriers) {
  for (std::size_t carrier : {std::size_t{1}, std::size_t{2}})
    expectInvalid([&](Problem &p) { p.layers[1].carrier = carrier; },
                  "layer 2 in backward order: expected its carrier to be another layer that can "
                  "travel alone");
  expectInvalid([](Problem &p) { p.layers[0].factorOptions.clear(); },
                "layer 2 in backward order: expected its carrier to be another layer that can "
                "travel alone");
}

TEST(Validate, WantsAWayForEveryLayer) {
  expectInvalid([](Problem &p) { p.layers[1].mergeClasses = 0; },
                "layer 2 in backward order: no scheme can carry its 20 B");
  expectInvalid(
      [](Problem &p) { p.mergeClasses[0].largestMessage = p.mergeClasses[1].largestMessage = 15; },
      "layer 2 in backward order: no scheme can carry its 20 B");
  expectInvalid(
      [](Problem &p) {
        p.layers[1].mergeClasses = 2;
        p.mergeClasses[1].capacity = 15;
      },
      "problem: expected at most 15 B of gradients that only 'parameter-server' can carry, "
      "got 20 B");
}

// A piggyback needs no merge class where its carrier cannot but travel alone.
TEST(Validate, LetsAPiggybackHaveNoMergeClass) {
  Problem problem = good();
  problem.layers[1].mergeClasses = 0;
  EXPECT_FALSE(validate(problem).isOk());
  problem.layers[0].mergeClasses = 0;
  EXPECT_TRUE(validate(problem).isOk()) << validate(problem).message();
}

TEST(PairBits, AreReusedOncePairsAreDecided) {
  Problem problem = good();
  for (std::size_t block = 1; block < 100; ++block) {
    problem.layers.push_back(problem.layers[0]);
    problem.layers.push_back(problem.layers[1]);
    problem.layers.back().carrier = 2 * block;
  }
  PairBits bits(problem);
  EXPECT_EQ(bits.most, 1u);
  EXPECT_TRUE(bits.ofLayer[0][0].opens);
  EXPECT_TRUE(bits.ofLayer[0][0].carries);
  EXPECT_FALSE(bits.ofLayer[1][0].opens);
  EXPECT_EQ(bits.ofLayer[0][0].bit, bits.ofLayer[1][0].bit);
}

} // namespace
} // namespace syncline::problem
