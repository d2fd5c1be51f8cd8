// Plans networks jointly on clusters that offer every scheme.
#include "tests/bench/planning/SolverBench.h"

#include "passes/problem/Interference.h"
#include "passes/proof/SolutionChecker.h"
#include "passes/solver/Planner.h"
#include "tests/bench/planning/Networks.h"

#include <cstdio>
#include <ctime>
#include <functional>

namespace syncline::solver {

using namespace problem;
using namespace proof;

namespace {

/// Seconds of a processor, which other work on the machine changes less than the time on the wall.
double secondsOf(const std::function<void()> &work) {
  const std::clock_t begin = std::clock();
  work();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

/// Whether servers share a merge class with the all-reduces, and whether their memory is limited.
enum class Servers { merged, ownMergeClass, limited };

const char *nameOf(Servers servers) {
  switch (servers) {
  case Servers::merged:
    return "one merge class";
  case Servers::ownMergeClass:
    return "servers in a merge class";
  case Servers::limited:
    return "servers hold 60 MB";
  }
  return "";
}

Problem problemOf(const Network &network, double gigabit, int ranks, Servers servers) {
  LinkRates link{2e-5, 8e-9 / gigabit, 5e-11};
  ClusterSchemes catalog;
  catalog.ranks = ranks;
  catalog.collectives = formulaCollectives(ranks, link);
  catalog.servers = serverOption({ranks, ranks / 2, true, link, link, Duplex::full});
  if (servers != Servers::merged)
    catalog.serverMemory = servers == Servers::limited ? 60'000'000 : std::int64_t{1} << 50;
  catalog.factorGather = std::make_shared<AffineCost>(allGatherCost(ranks, link));
  Problem problem = buildProblem(network.gradients, catalog, network.gradients.back().ready);
  if (servers == Servers::ownMergeClass)
    problem.mergeClasses.back().capacity = unlimited;
  return problem;
}

/// The worst of several networks.
struct Worst {
  double solve = 0, check = 0, gap = 0;
  std::size_t relaxations = 0;
  bool refused = false;

  void add(const Problem &problem) {
    PlanResult result;
    auto planner = *parsePlanner("optimal");
    double solving = secondsOf([&] { result = *planner->plan(problem); });
    double checking = secondsOf([&] {
      if (auto rejection = checkSolution(problem, result.plan))
        refuse(rejection->message);
      if (auto wrong = checkProof(problem, result.proof, result.plan.finish, result.optimal()))
        refuse(*wrong);
    });
    const auto &certificate = std::get<Certificate>(result.proof);
    solve = std::max(solve, solving);
    check = std::max(check, checking);
    gap = std::max(gap, result.gap());
    relaxations = std::max(relaxations, certificate.relaxations.size());
  }

private:
  void refuse(const std::string &why) {
    std::printf("refused: %s\n", why.c_str());
    refused = true;
  }
};

/// Lets every message slow computation; factors have a latency of 1/20 of their time.
void slow(Problem &problem, const Interference &interference) {
  for (MergeClass &mergeClass : problem.mergeClasses)
    for (SchemeOption &option : mergeClass.options)
      option.lost = lostCost(*option.cost, interference);
  for (Layer &layer : problem.layers)
    for (FactorOption &option : layer.factorOptions)
      option.lost = interference.lost(option.seconds / 20, option.seconds);
}

/// Merging alone, or all schemes in one class.
Problem slowedProblem(const Network &network, double gigabit, int ranks, bool hasAllSchemes) {
  Problem problem = problemOf(network, gigabit, ranks, Servers::merged);
  if (hasAllSchemes)
    return problem;
  problem.mergeClasses[0].options.resize(1); // the ring
  for (Layer &layer : problem.layers) {
    layer.factorOptions.clear();
    layer.carrier.reset();
  }
  return problem;
}

} // namespace

bool benchSlowed() {
  std::printf(
      "\nMessages that slow computation, the worst of 1, 10, 40 and 100 Gb/s, 4 and 16 ranks "
      "and four interferences\n\n| network | layers | schemes | solve (ms) | limit (ms) | "
      "check (ms) | gap | limit | good |\n|---|---|---|---|---|---|---|---|---|\n");
  constexpr double mostGap = 0.01;
  struct Case {
    Network network;
    bool hasAllSchemes;
    double limit; ///< seconds
  };
  const Case cases[] = {{resNet(152, 32), false, 0.05},
                        {resNet(152, 32), true, 0.2},
                        {transformer(96, 12288, 2048), false, 0.2},
                        {transformer(96, 12288, 2048), true, 0.3}};
  bool good = true;
  for (const Case &one : cases) {
    Worst worst;
    for (double gigabit : {1.0, 10.0, 40.0, 100.0})
      for (int ranks : {4, 16})
        for (const Interference &interference :
             {Interference{1.2, 1.2}, {1.6, 1.6}, {1.3, 1.9}, {1.6, 1.2}}) {
          Problem problem = slowedProblem(one.network, gigabit, ranks, one.hasAllSchemes);
          slow(problem, interference);
          worst.add(problem);
        }
    const bool isGood = !worst.refused && worst.solve <= one.limit && worst.gap <= mostGap;
    good &= isGood;
    std::printf("| %s | %zu | %s | %.1f | %.0f | %.1f | %.1e | %.0e | %s |\n",
                one.network.name.c_str(), one.network.gradients.size(),
                one.hasAllSchemes ? "all" : "ring", worst.solve * 1e3, one.limit * 1e3,
                worst.check * 1e3, worst.gap, mostGap, isGood ? "yes" : "NO");
  }
  return good;
}

bool benchSolver() {
  std::printf(
      "\nJoint planning, the worst of 1, 10, 40 and 100 Gb/s and 4 and 16 ranks\n\n"
      "| network | layers | servers | solve (ms) | limit (ms) | check (ms) | gap | relaxations |"
      " good |\n|---|---|---|---|---|---|---|---|---|\n");
  struct Case {
    Network network;
    double limit;       ///< seconds
    double withServers; ///< the limit with servers beside
  };
  const Case cases[] = {{vgg16(32), 0.2, 0.2},
                        {resNet(50, 32), 0.2, 0.2},
                        {resNet(152, 32), 0.2, 0.2},
                        {transformer(24, 1024, 16), 0.2, 0.2},
                        {transformer(24, 1024, 128), 0.2, 0.2},
                        {transformer(24, 1024, 2048), 0.2, 0.2},
                        {transformer(96, 12288, 2048), 0.1, 0.3},
                        {synthetic(10'000), 5.0, 5.0}};
  bool good = true;
  for (const Case &one : cases)
    for (Servers servers : {Servers::merged, Servers::ownMergeClass, Servers::limited}) {
      Worst worst;
      for (double gigabit : {1.0, 10.0, 40.0, 100.0})
        for (int ranks : {4, 16})
          worst.add(problemOf(one.network, gigabit, ranks, servers));
      const double limit = servers == Servers::merged ? one.limit : one.withServers;
      bool inTime = !worst.refused && worst.solve <= limit;
      good &= inTime;
      std::printf("| %s | %zu | %s | %.1f | %.0f | %.1f | %.1e | %zu | %s |\n",
                  one.network.name.c_str(), one.network.gradients.size(), nameOf(servers),
                  worst.solve * 1e3, limit * 1e3, worst.check * 1e3, worst.gap, worst.relaxations,
                  inTime ? "yes" : "NO");
    }
  return good;
}

} // namespace syncline::solver
