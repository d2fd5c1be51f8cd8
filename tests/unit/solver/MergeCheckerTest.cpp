// The judge: every numbered reason to reject, on a good plan spoilt in one place.
#include "passes/solver/MergeChecker.h"

#include "passes/solver/Merge.h"
#include "passes/solver/Replay.h"
#include "tests/unit/solver/RandomProblem.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace syncline::solver {
namespace {

MergeProblem smallProblem() {
  return {{{10, 1.0}, {20, 2.0}, {30, 2.5}, {40, 50.0}},
          {{Scheme::ring, std::make_shared<AffineCost>(1, 0.5)}}};
}

/// Groups {1, 2}, {3}, {4}.
Solution goodSolution() {
  std::vector<std::size_t> ends{2, 3, 4};
  return replay(smallProblem(), ends);
}

void expectSolutionRejected(RejectionKind kind, const std::function<void(Solution &)> &spoil,
                            const std::string &message) {
  Solution solution = goodSolution();
  spoil(solution);
  auto rejection = checkSolution(smallProblem(), solution);
  ASSERT_TRUE(rejection) << "accepted: " << message;
  EXPECT_EQ(rejection->kind, kind) << rejection->message;
  EXPECT_EQ(rejection->message, message);
}

TEST(CheckSolution, AcceptsAReplayAndALaterStart) {
  Solution solution = goodSolution();
  EXPECT_FALSE(checkSolution(smallProblem(), solution));
  solution.groups[2].start += 5;
  solution.groups[2].end += 5;
  solution.finish += 5;
  EXPECT_FALSE(checkSolution(smallProblem(), solution));
}

TEST(CheckSolution, RejectsGroupsThatAreNoPartition) {
  expectSolutionRejected(
      RejectionKind::emptyGroup, [](Solution &s) { s.groups[1].layerCount = 0; },
      "M1: group 2: has no layers");
  expectSolutionRejected(
      RejectionKind::layerMissing, [](Solution &s) { s.groups.erase(s.groups.begin() + 1); },
      "M2: group 2: starts at layer 4, but layer 3 is in no group yet");
  expectSolutionRejected(
      RejectionKind::layerMissing, [](Solution &s) { s.groups.pop_back(); },
      "M2: layer 4 is in no group");
  expectSolutionRejected(
      RejectionKind::layerTwice, [](Solution &s) { s.groups[1].firstLayer = 1; },
      "M3: group 2: layer 2 is in an earlier group already");
  expectSolutionRejected(
      RejectionKind::layerUnknown, [](Solution &s) { s.groups[2].layerCount = 2; },
      "M4: group 3: expected layers up to 4, got 2 from layer 4");
}

TEST(CheckSolution, RejectsWrongSchemesAndBytes) {
  expectSolutionRejected(
      RejectionKind::optionUnknown, [](Solution &s) { s.groups[0].option = 1; },
      "M5: group 1: expected a scheme below 1, got 1");
  expectSolutionRejected(
      RejectionKind::wrongBytes, [](Solution &s) { s.groups[0].bytes = 29; },
      "M6: group 1: expected 30 B, got 29 B");
}

TEST(CheckSolution, RejectsTimesThatCannotBe) {
  expectSolutionRejected(
      RejectionKind::notATime, [](Solution &s) { s.groups[1].start = std::nan(""); },
      "M7: group 2: expected a finite time >= 0, got nan");
  expectSolutionRejected(
      RejectionKind::notATime, [](Solution &s) { s.groups[1].end = -1; },
      "M7: group 2: expected a finite time >= 0, got -1");
  expectSolutionRejected(
      RejectionKind::wrongReady, [](Solution &s) { s.groups[0].ready = 1; },
      "M8: group 1: expected ready at 2 s, got 1 s");
  expectSolutionRejected(
      RejectionKind::startsBeforeReady, [](Solution &s) { s.groups[2].start = 49; },
      "M9: group 3: starts at 49 s, but is ready at 50 s");
  expectSolutionRejected(
      RejectionKind::channelBusy, [](Solution &s) { s.groups[1].start = 17; },
      "M10: group 2: starts at 17 s, but the channel is busy until 18 s");
  expectSolutionRejected(
      RejectionKind::wrongDuration, [](Solution &s) { s.groups[1].end = 33; },
      "M11: group 2: expected its end at 34 s, got 33 s");
  expectSolutionRejected(
      RejectionKind::wrongFinish, [](Solution &s) { s.finish = 70; },
      "M12: expected the finish at 71 s, got 70 s");
}

void expectCertificateRejected(RejectionKind kind,
                               const std::function<void(std::vector<double> &)> &spoil,
                               const std::string &message) {
  MergeResult result = solveMerge(smallProblem());
  spoil(result.certificate.earliestFinish);
  auto rejection = checkCertificate(smallProblem(), result.certificate, result.solution.finish);
  ASSERT_TRUE(rejection) << "accepted: " << message;
  EXPECT_EQ(rejection->kind, kind) << rejection->message;
  EXPECT_EQ(rejection->message, message);
}

/// f = 0, 7, 18, 33, 71 for the small problem.
TEST(CheckCertificate, RejectsEachWrongCertificate) {
  EXPECT_EQ(solveMerge(smallProblem()).certificate.earliestFinish,
            (std::vector<double>{0, 7, 18, 33, 71}));
  expectCertificateRejected(
      RejectionKind::certificateLength, [](auto &f) { f.pop_back(); },
      "M20: expected 5 entries, got 4");
  expectCertificateRejected(
      RejectionKind::certificateOrigin, [](auto &f) { f[0] = 1; },
      "M21: expected entry 0 to be 0 s, got 1 s");
  expectCertificateRejected(
      RejectionKind::certificateNumber, [](auto &f) { f[2] = std::nan(""); },
      "M22: entry 2: expected a finite time >= 0, got nan");
  expectCertificateRejected(
      RejectionKind::certificateTooLate, [](auto &f) { f[2] = 18.5; },
      "M23: entry 2: expected at most 18 s (a message of layers 1 to 2), got 18.5 s");
  expectCertificateRejected(
      RejectionKind::boundNotReached, [](auto &f) { f[4] = 70; },
      "M24: expected the plan to finish at 70 s, got 71 s");
}

TEST(CheckCertificate, RejectsAPlanThatMissesOrUndercutsIt) {
  Certificate certificate = solveMerge(smallProblem()).certificate;
  auto late = checkCertificate(smallProblem(), certificate, 71.001);
  ASSERT_TRUE(late);
  EXPECT_EQ(late->kind, RejectionKind::boundNotReached);
  auto early = checkCertificate(smallProblem(), certificate, 70.999);
  ASSERT_TRUE(early);
  EXPECT_EQ(early->kind, RejectionKind::boundUndercut);
  EXPECT_EQ(early->message, "M25: expected the plan to finish at 71 s, got 70.998999999999995 s");
}

/// A certificate is tight: raising any one entry by a millionth breaks it, whatever the cost.
TEST(CheckCertificate, NoticesEveryRaisedEntry) {
  std::uint64_t seed = 0;
  for (CostKind cost : allCostKinds)
    for (LayerKind layers : allLayerKinds) {
      Random random(++seed);
      MergeProblem problem = randomProblem(random, cost, layers, 60);
      Certificate good = solveMerge(problem).certificate;
      ASSERT_FALSE(checkBound(problem, good)) << "seed " << seed;
      for (std::size_t j = 1; j < good.earliestFinish.size(); ++j) {
        if (good.earliestFinish[j] == 0)
          continue;
        Certificate wrong = good;
        wrong.earliestFinish[j] *= 1 + 1e-6;
        auto rejection = checkBound(problem, wrong);
        ASSERT_TRUE(rejection) << "seed " << seed << ", entry " << j;
        ASSERT_EQ(rejection->kind, RejectionKind::certificateTooLate);
      }
    }
}

/// Entries may lie below the true times: the bound is weaker then, but still one.
TEST(CheckBound, AcceptsAWeakerBound) {
  MergeProblem problem = smallProblem();
  Certificate zero{std::vector<double>(5, 0.0)};
  EXPECT_FALSE(checkBound(problem, zero));
  EXPECT_TRUE(checkCertificate(problem, zero, 71));
}

} // namespace
} // namespace syncline::solver
