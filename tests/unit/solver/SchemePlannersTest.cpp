// Other systems' choices on the problem, among them Poseidon's published traffic.
#include "passes/solver/SchemePlanners.h"

#include "passes/proof/SolutionChecker.h"
#include "passes/solver/Planner.h"
#include "passes/solver/Replay.h"
#include "tests/support/ProblemBuilder.h"
#include "tests/unit/solver/RandomProblem.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace syncline::solver {

using namespace problem;
using namespace proof;
namespace {

constexpr LinkRates fortyGigabit{2e-5, 2e-10, 0};

ClusterSchemes poseidonCluster(int ranks) {
  ClusterSchemes catalog;
  catalog.ranks = ranks;
  catalog.collectives = formulaCollectives(ranks, fortyGigabit);
  ServerLayout servers;
  servers.workers = servers.servers = ranks;
  servers.worker = fortyGigabit;
  catalog.servers = serverOption(servers);
  catalog.factorGather = std::make_shared<AffineCost>(allGatherCost(ranks, fortyGigabit));
  return catalog;
}

/// VGG19's weights, as Poseidon's table counts them: fully connected ones first, then the
/// convolutions as one.
std::vector<Gradient> vgg19(std::int64_t classes) {
  std::vector<Gradient> gradients;
  double ready = 0.1;
  for (FactorShape shape : {FactorShape{4096, classes, 32}, FactorShape{4096, 4096, 32},
                            FactorShape{25088, 4096, 32}}) {
    gradients.push_back({shape.bytes(), ready, factorsOf(shape, 6e12), {}});
    ready += 0.01;
  }
  gradients.push_back({20'018'880 * 4, 0.9, {}, {}});
  return gradients;
}

Result<PlanResult> planSchemes(std::string_view planner, const Problem &problem) {
  auto parsed = parsePlanner(planner);
  return parsed ? (*parsed)->plan(problem) : parsed.status();
}

std::string gigabytes(const char *planner, std::int64_t classes, int ranks) {
  Problem problem = buildProblem(vgg19(classes), poseidonCluster(ranks), 0.9);
  Result<PlanResult> result = planSchemes(planner, problem);
  char text[16];
  std::snprintf(text, sizeof text, "%.2f", result->plan.traffic(problem) / 1e9);
  return text;
}

TEST(Poseidon, MovesThePublishedBytes) {
  EXPECT_EQ(gigabytes("ps", 1000, 8), "2.01");
  EXPECT_EQ(gigabytes("ps", 1000, 16), "2.15");
  EXPECT_EQ(gigabytes("ps", 1000, 32), "2.23");
  EXPECT_EQ(gigabytes("poseidon", 1000, 8), "0.36");
  EXPECT_EQ(gigabytes("poseidon", 1000, 16), "0.46");
  EXPECT_EQ(gigabytes("poseidon", 1000, 32), "0.65");
  EXPECT_EQ(gigabytes("ps", 21841, 8), "3.21");
  EXPECT_EQ(gigabytes("ps", 21841, 16), "3.44");
  EXPECT_EQ(gigabytes("ps", 21841, 32), "3.55");
  EXPECT_EQ(gigabytes("poseidon", 21841, 8), "0.39");
  EXPECT_EQ(gigabytes("poseidon", 21841, 16), "0.54");
  EXPECT_EQ(gigabytes("poseidon", 21841, 32), "0.81");
}

TEST(Poseidon, StopsUsingFactorsForGoogLeNetAtEightNodes) {
  FactorShape shape{1024, 1000, 128};
  std::vector<Gradient> gradients{{shape.bytes(), 0.1, factorsOf(shape, 6e12), {}},
                                  {4000, 0.1, {}, 0}};
  for (int ranks : {2, 7, 8, 16}) {
    Problem problem = buildProblem(gradients, poseidonCluster(ranks), 0.1);
    Result<std::vector<Choice>> choices = poseidonChoices(problem);
    ASSERT_TRUE(choices.isOk());
    bool byFactors = ranks <= 7;
    EXPECT_EQ((*choices)[0].kind, byFactors ? Choice::Kind::factors : Choice::Kind::bucket);
    EXPECT_EQ((*choices)[1].kind, byFactors ? Choice::Kind::piggyback : Choice::Kind::bucket);
  }
}

TEST(SchemePlanners, UseWhatTheyAreNamedFor) {
  Problem problem = buildProblem(vgg19(1000), poseidonCluster(8), 0.9);
  for (const char *planner : {"ps", "sfb", "poseidon"}) {
    Result<PlanResult> result = planSchemes(planner, problem);
    ASSERT_TRUE(result.isOk()) << result.status().message();
    EXPECT_EQ(result->plan.messages.size(), 4u);
    for (const Message &message : result->plan.messages) {
      bool mayFactor = std::string(planner) != "ps" && message.layers.front() < 3;
      EXPECT_EQ(result->plan.scheme(problem, message),
                mayFactor ? Scheme::factors : Scheme::parameterServer)
          << planner;
    }
  }
}

/// 300 random problems: no planner ends before the optimum, and every plan is a valid one.
TEST(SchemePlanners, NeverBeatTheOptimum) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Problem problem = randomSmallProblem(seed, 12, std::int64_t{1} << 40);
    SolverResult best = solve(problem);
    for (const char *planner : {"poseidon", "ps", "sfb"}) {
      Result<PlanResult> other = planSchemes(planner, problem);
      if (!other)
        continue; // the problem lacks what the planner needs
      if (auto rejection = checkSolution(problem, other->plan))
        FAIL() << planner << ", seed " << seed << ": " << rejection->message;
      EXPECT_GE(other->plan.finish, best.bound() * (1 - 1e-11)) << planner << ", seed " << seed;
    }
  }
}

/// 300 random problems, limits among them: the plain choices are always sound.
TEST(LayerwiseChoices, AreSound) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Problem problem = randomSmallProblem(seed, 30, std::int64_t{1} << 62);
    for (std::size_t mergeClass = 0; mergeClass < problem.mergeClasses.size(); ++mergeClass)
      for (bool alone : {false, true})
        EXPECT_TRUE(choicesAreSound(
            problem, layerwiseChoices(problem, mergeClass,
                                      [&](std::size_t k) {
                                        return alone && !problem.layers[k].factorOptions.empty();
                                      })))
            << "seed " << seed;
  }
}

void expectError(const char *planner, const Problem &problem, ErrorKind kind,
                 const std::string &message) {
  Result<PlanResult> result = planSchemes(planner, problem);
  ASSERT_FALSE(result.isOk());
  EXPECT_EQ(result.status().kind(), kind);
  EXPECT_EQ(result.status().message(), message);
}

TEST(SchemePlanners, SayWhatIsMissing) {
  ClusterSchemes catalog = poseidonCluster(8);
  catalog.serverMemory = 1'000'000;
  expectError(
      "ps", buildProblem(vgg19(1000), catalog, 0.9), ErrorKind::badInput,
      "planner 'ps': expected 'parameter-server' to hold 574610176 B, got room for 1000000 B");
  catalog.servers.reset();
  expectError("poseidon", buildProblem(vgg19(1000), catalog, 0.9), ErrorKind::badInput,
              "planner 'poseidon': needs parameter servers, which this cluster does not offer");
  catalog.factorGather.reset();
  expectError("sfb", buildProblem(vgg19(1000), catalog, 0.9), ErrorKind::badInput,
              "planner 'sfb': no layer can travel by 'factors'");
}

/// Where servers are of the network's speed and dedicated, the optimum uses them by itself.
TEST(Solve, PicksDedicatedServersWhereTheyAreFaster) {
  ClusterSchemes catalog = poseidonCluster(4);
  catalog.servers = serverOption({4, 2, true, fortyGigabit, {0, 5e-11, 0}, Duplex::full});
  Problem problem = buildProblem(vgg19(1000), catalog, 0.9);
  for (Layer &layer : problem.layers)
    layer.factorOptions.clear();
  SolverResult result = solve(problem);
  EXPECT_TRUE(result.optimal());
  for (const Message &message : result.plan.messages)
    EXPECT_EQ(result.plan.scheme(problem, message), Scheme::parameterServer);
}

} // namespace
} // namespace syncline::solver
