// The judge of certificates: every numbered reason to reject, on a good one spoilt in one place. A
// judge that looks at every pair of layers gives the same verdicts.
#include "passes/proof/MergeChecker.h"

#include "passes/solver/FinishTimes.h"
#include "tests/reference/solver/MergeReference.h"
#include "tests/unit/solver/RandomMergeProblem.h"

#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <functional>
#include <limits>

namespace syncline::proof {

using namespace problem;
using namespace solver;
using namespace reference;
namespace {

MergeProblem smallProblem() {
  return {{{10, 1.0}, {20, 2.0}, {30, 2.5}, {40, 50.0}},
          {{Scheme::ring, std::make_shared<AffineCost>(1, 0.5)}}};
}

void expectCertificateRejected(MergeRejectionKind kind,
                               const std::function<void(std::vector<double> &)> &spoil,
                               const std::string &message) {
  MergeCertificate certificate{earliestFinishTimes(smallProblem())};
  spoil(certificate.earliestFinish);
  auto rejection = checkMergeBound(smallProblem(), certificate);
  ASSERT_TRUE(rejection) << "accepted: " << message;
  EXPECT_EQ(rejection->kind, kind) << rejection->message;
  EXPECT_EQ(rejection->message, message);
}

/// f = 0, 7, 18, 33, 71 for the small problem.
TEST(CheckBound, RejectsEachWrongCertificate) {
  EXPECT_EQ(earliestFinishTimes(smallProblem()), (std::vector<double>{0, 7, 18, 33, 71}));
  expectCertificateRejected(
      MergeRejectionKind::certificateLength, [](auto &f) { f.pop_back(); },
      "M20: expected 5 entries, got 4");
  expectCertificateRejected(
      MergeRejectionKind::certificateOrigin, [](auto &f) { f[0] = 1; },
      "M21: expected entry 0 to be 0 s, got 1 s");
  expectCertificateRejected(
      MergeRejectionKind::certificateNumber, [](auto &f) { f[2] = std::nan(""); },
      "M22: entry 2: expected a finite time >= 0, got nan");
  expectCertificateRejected(
      MergeRejectionKind::certificateTooLate, [](auto &f) { f[2] = 18.5; },
      "M23: entry 2: expected at most 18 s (a message of layers 1 to 2), got 18.5 s");
}

/// A certificate is tight: raising any one entry by a millionth breaks it, whatever the cost.
TEST(CheckBound, NoticesEveryRaisedEntry) {
  std::uint64_t seed = 0;
  for (CostKind cost : allCostKinds)
    for (LayerKind layers : allLayerKinds) {
      Random random(++seed);
      MergeProblem problem = randomProblem(random, cost, layers, 60);
      MergeCertificate good{earliestFinishTimes(problem)};
      ASSERT_FALSE(checkMergeBound(problem, good)) << "seed " << seed;
      for (std::size_t j = 1; j < good.earliestFinish.size(); ++j) {
        if (good.earliestFinish[j] == 0)
          continue;
        MergeCertificate wrong = good;
        wrong.earliestFinish[j] *= 1 + 1e-6;
        auto rejection = checkMergeBound(problem, wrong);
        ASSERT_TRUE(rejection) << "seed " << seed << ", entry " << j;
        ASSERT_EQ(rejection->kind, MergeRejectionKind::certificateTooLate);
      }
    }
}

/// Where a byte takes a second and 10^15 bytes come first, slope times bytes has an error of 0.1 s.
/// The judge must find messages that end only 0.5 ms before others.
TEST(CheckBound, NoticesARaisedEntryWhereThePieceIsSteep) {
  std::vector<CostPoint> points{{0, 0.001}, {256, 256.001}, {257, 1000}, {258, 1000}};
  MergeProblem problem{{{1'000'000'000'000'000, 0}},
                       {{Scheme::ring, std::make_shared<TableCost>(*TableCost::create(points))}}};
  std::vector<double> finish{0, 0}; // a weak bound, under which the latest starts are best
  for (int k = 0; k < 60; ++k) {
    problem.layers.push_back({1 + k % 4, 0});
    finish.push_back(finish.back() + 1 + k % 4 - 0.0005);
  }
  ASSERT_FALSE(checkMergeBound(problem, {finish}));
  for (std::size_t j = 2; j < finish.size(); ++j) {
    std::vector<double> wrong = finish;
    wrong[j] += 0.0015 + 1e-6; // T of layer j alone, and a little more
    EXPECT_TRUE(checkMergeBound(problem, {wrong})) << "entry " << j;
  }
}

/// A cost that jumps between two neighbouring sizes, which interpolated tables do not.
class JumpingCost final : public PiecewiseCost {
public:
  JumpingCost(double below, double from) : PiecewiseCost({{0, below, 0}, {10, from, 0}}) {}
};

/// The first size of a piece costs what that piece says.
TEST(CheckBound, TakesAMessageAtAJumpByTheLaterPiece) {
  for (auto [below, from] : {std::pair(1.0, 5.0), std::pair(5.0, 1.0)}) {
    MergeProblem problem{{{10, 0}}, {{Scheme::ring, std::make_shared<JumpingCost>(below, from)}}};
    EXPECT_FALSE(checkMergeBound(problem, {{0, from}}));
    EXPECT_TRUE(checkMergeBound(problem, {{0, from + 0.1}}));
  }
}

/// Entries may lie below the true times: the bound is weaker then, but still one.
TEST(CheckBound, AcceptsAWeakerBound) {
  MergeProblem problem = smallProblem();
  MergeCertificate zero{std::vector<double>(5, 0.0)};
  EXPECT_FALSE(checkMergeBound(problem, zero));
}

/// Half of the problems have one or two costs of another kind and a tree beside the first cost.
MergeProblem anyProblem(Random &random, CostKind cost, LayerKind layers) {
  auto count = static_cast<std::size_t>(1 + random.below(60));
  MergeProblem problem = randomProblem(random, cost, layers, count);
  if (random.below(2) == 0) {
    auto other = allCostKinds[random.below(std::ssize(allCostKinds))];
    for (SchemeOption &option : randomOptions(random, other))
      problem.options.push_back(std::move(option));
    int ranks = 2 + static_cast<int>(random.below(30));
    LinkRates rates{random.between(0, 1e-4), random.between(1e-10, 1e-8), 1e-10};
    problem.options.push_back({Scheme::tree, formulaCost(Scheme::tree, ranks, rates)});
  }
  return problem;
}

/// Changes one entry by as little as a rounding or as much as a number allows.
void spoil(Random &random, std::vector<double> &finish) {
  constexpr double parts[] = {4e-16, 5e-13, 1.1e-12, 1e-11, 1e-9, 1e-6, 1e-2, 0.5, 1e3};
  constexpr double others[] = {0,
                               1e-3,
                               1e300,
                               -1,
                               std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN()};
  auto j = static_cast<std::size_t>(random.below(std::ssize(finish)));
  switch (random.below(8)) {
  case 0:
    finish[j] = others[random.below(std::ssize(others))];
    break;
  case 1: // a tie with another entry
    finish[j] = finish[static_cast<std::size_t>(random.below(std::ssize(finish)))];
    break;
  case 2:
  case 3:
  case 4:
    finish[j] *= 1 - std::min(1.0, parts[random.below(std::ssize(parts))]);
    break;
  default:
    finish[j] *= 1 + parts[random.below(std::ssize(parts))];
  }
}

std::string messageOf(const std::optional<MergeRejection> &rejection) {
  return rejection ? rejection->message : "accepted";
}

/// Roundings may add 1e-14 to what M23 allows (passes/proof/README.md).
void expectVerdictOfEveryPair(const MergeProblem &problem, const std::vector<double> &finish) {
  std::string fast = messageOf(checkMergeBound(problem, {finish}));
  if (std::string slow = messageOf(checkEveryPair(problem, finish)); fast != slow) {
    ASSERT_EQ(fast, messageOf(checkEveryPair(problem, finish, replayRounding + 1e-14))) << slow;
  }
}

/// 2,240 problems with 20 certificates each: the best one, and others that were spoilt in one entry
/// after the other. Number, entry, layers and seconds of the rejection agree.
TEST(CheckBound, JudgesAsEveryPairDoes) {
  std::uint64_t seed = 0;
  for (int round = 0; round < 40; ++round)
    for (CostKind cost : allCostKinds)
      for (LayerKind layers : allLayerKinds) {
        Random random(++seed);
        SCOPED_TRACE("seed " + std::to_string(seed));
        MergeProblem problem = anyProblem(random, cost, layers);
        const std::vector<double> best = earliestFinishTimes(problem);
        std::vector<double> finish = best;
        for (int spoils = 0; spoils < 20; ++spoils) {
          ASSERT_NO_FATAL_FAILURE(expectVerdictOfEveryPair(problem, finish));
          if (spoils % 3 == 0)
            finish = best;
          spoil(random, finish);
        }
      }
}

/// Comparing each of 300,000 layers with all before it would take 20 s.
TEST(CheckBound, JudgesManyLayersWithoutLookingAtPairs) {
  MergeProblem problem{std::vector<MergeLayer>(300'000, {4096, 0.0}),
                       {{Scheme::ring, std::make_shared<AffineCost>(1e-5, 1e-9)}}};
  MergeCertificate certificate{earliestFinishTimes(problem)};
  const std::clock_t start = std::clock(); // a loaded machine may take long
  EXPECT_FALSE(checkMergeBound(problem, certificate));
  certificate.earliestFinish.back() *= 1 + 1e-6;
  EXPECT_TRUE(checkMergeBound(problem, certificate));
  EXPECT_LT(std::clock() - start, 5 * CLOCKS_PER_SEC);
}

} // namespace
} // namespace syncline::proof
