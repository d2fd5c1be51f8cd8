// Planning bench: the solver's and the checker's time for large backward passes, and how far other
// planners' finish is from the optimum on ResNet-50-like passes. Prints tables; exit code 1 when a
// limit of time or gap is missed, a certificate is refused or a planner beats the optimum.
#include "passes/proof/SolutionChecker.h"
#include "passes/solver/Planner.h"
#include "tests/bench/planning/SolverBench.h"
#include "tests/support/ProblemBuilder.h"

#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>
#include <random>
#include <string>
#include <vector>

using namespace syncline;
using namespace syncline::problem;
using namespace syncline::proof;
using namespace syncline::solver;

namespace {

/// Seconds of a processor, which other work on the machine changes less than the time on the wall.
double secondsOf(const std::function<void()> &work) {
  const std::clock_t begin = std::clock();
  work();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

SchemeOption affine(double latency, double secondsPerByte) {
  return {Scheme::ring, std::make_shared<AffineCost>(latency, secondsPerByte)};
}

/// A measured-looking table around a line: a point per half octave from 64 B to 1 GiB, noise of
/// +-10 %, which makes some pieces fall, and the jumps near 10 KB and 500 KB that networks show.
SchemeOption table(double latency, double secondsPerByte) {
  std::vector<CostPoint> points;
  std::mt19937_64 engine(3);
  for (int step = 0; step <= 48; ++step) {
    double bytes = 64 * std::pow(2, step / 2.0);
    double jump = (bytes > 1e4 ? latency / 2 : 0) + (bytes > 5e5 ? latency : 0);
    double noise = 0.9 + 0.2 * static_cast<double>(engine() >> 11) * 0x1p-53;
    points.push_back({std::llround(bytes), (latency + jump + secondsPerByte * bytes) * noise});
  }
  return {Scheme::ring, std::make_shared<TableCost>(*TableCost::create(points))};
}

/// `count` gradients with ResNet's mix (a weight, then two small vectors per normalisation), ready
/// evenly within `backward` seconds; `megabytes` in all.
std::vector<MergeLayer> residualPass(std::size_t count, double megabytes, double backward) {
  std::vector<MergeLayer> layers;
  double total = 0;
  for (std::size_t k = 0; k < count; ++k) {
    double depth = static_cast<double>(k) / static_cast<double>(count); // 0 is the last layer
    double channels = 2048 * std::pow(2, -std::floor(depth * 4));
    double elements = k % 3 == 0 ? channels * channels * (k % 9 == 0 ? 2.25 : 1) : channels;
    layers.push_back({static_cast<std::int64_t>(4 * elements),
                      backward * static_cast<double>(k + 1) / static_cast<double>(count)});
    total += 4 * elements;
  }
  for (MergeLayer &layer : layers)
    layer.bytes =
        4 + static_cast<std::int64_t>(static_cast<double>(layer.bytes) * megabytes * 1e6 / total);
  return layers;
}

/// Seconds that checking a plan and its certificate may take, whatever its size.
constexpr double checkLimit = 1;

/// Prints one row; false when a limit is missed or the plan is refused.
bool timePlanning(const char *network, std::size_t count, double limit, const char *costName,
                  const Problem &problem) {
  PlanResult result;
  double solving = secondsOf([&] { result = *(*parsePlanner("optimal"))->plan(problem); });
  std::optional<std::string> rejection;
  double checking = secondsOf([&] {
    if (auto wrong = checkSolution(problem, result.plan))
      rejection = wrong->message;
    else
      rejection = checkProof(problem, result.proof, result.plan.finish, true);
  });
  bool good = !rejection && solving <= limit && checking <= checkLimit;
  std::printf("| %-12s | %7zu | %-22s | %8zu | %10.2f | %10.0f | %10.2f | %-4s |\n", network, count,
              costName, result.plan.messages.size(), solving * 1e3, limit * 1e3, checking * 1e3,
              good ? "yes" : "NO");
  if (rejection)
    std::printf("refused: %s\n", rejection->c_str());
  return good;
}

bool timeSizes() {
  struct {
    const char *network;
    std::size_t count;
    double megabytes, backward, limit;
  } sizes[] = {{"ResNet-152", 467, 241, 0.6, 0.050},
               {"synthetic", 10000, 4000, 10, 1},
               {"synthetic", 100000, 20000, 60, 10}};
  std::printf("\nPlanning time\n\n");
  std::printf(
      "| network      |  layers | cost                   | messages | solve (ms) | limit (ms) "
      "| check (ms) | good |\n");
  std::printf("|---|---|---|---|---|---|---|---|\n");
  bool good = true;
  for (const auto &size : sizes) {
    std::vector<MergeLayer> layers = residualPass(size.count, size.megabytes, size.backward);
    std::vector<MergeLayer> atOnce = layers;
    for (MergeLayer &layer : atOnce)
      layer.ready = 0;
    struct {
      const char *name;
      MergeProblem problem;
    } cases[] = {{"affine", {layers, {affine(9.08e-4, 7.4e-10)}}},
                 {"affine, congested", {layers, {affine(9.08e-4, 7.4e-9)}}},
                 {"table", {layers, {table(9.08e-4, 7.4e-10)}}},
                 {"table, congested", {layers, {table(9.08e-4, 7.4e-9)}}},
                 {"table, all ready at 0", {atOnce, {table(9.08e-4, 7.4e-10)}}}};
    for (const auto &one : cases)
      good &= timePlanning(size.network, size.count, size.limit, one.name, problemOf(one.problem));
  }
  return good;
}

bool comparePlanners() {
  struct {
    const char *name;
    SchemeOption option;
  } networks[] = {{"10GbE, 16 ranks", affine(9.0809810e-4, 7.3956512e-10)},
                  {"10GbE, table", table(9.0809810e-4, 7.3956512e-10)},
                  {"56Gb IB, 16 ranks", affine(2.3583678e-4, 4.0594788e-10)},
                  {"1GbE ring, 8 ranks",
                   {Scheme::ring, std::make_shared<AffineCost>(
                                      formulaLine(Scheme::ring, 8, {5e-5, 8e-9, 1e-10}))}}};
  const char *planners[] = {"optimal",  "wfbp",      "single",        "mg-wfbp",
                            "ddp:1MiB", "ddp:25MiB", "horovod:64MiB", "horovod:128MiB"};
  std::printf("\nFinish of the last message over the optimum (161 gradients, 102 MB, backward "
              "0.15 s); in brackets the messages\n\n| network |");
  for (const char *planner : planners)
    std::printf(" %s |", planner);
  std::printf("\n|---|---|---|---|---|---|---|---|---|\n");
  bool good = true;
  for (const auto &network : networks) {
    MergeProblem problem{residualPass(161, 102, 0.15), {network.option}};
    std::printf("| %s |", network.name);
    for (const char *planner : planners) {
      PlanResult result = *(*parsePlanner(planner))->plan(problemOf(problem));
      good &= result.gap() > -1e-12;
      std::printf(" %.3f (%zu) |", 1 + result.gap(), result.plan.messages.size());
    }
    std::printf("\n");
  }
  return good;
}

/// The published rule on random passes: how often and how far it misses.
void surveyMgWfbp() {
  auto rule = *parsePlanner("mg-wfbp");
  std::mt19937_64 engine(11);
  auto unit = [&] { return static_cast<double>(engine() >> 11) * 0x1p-53; };
  int missed = 0, instances = 2000;
  double worst = 0;
  for (int round = 0; round < instances; ++round) {
    std::vector<MergeLayer> layers;
    double ready = 0, pace = std::pow(10, -4 + 2 * unit());
    for (int k = 0; k < 100; ++k)
      layers.push_back(
          {static_cast<std::int64_t>(std::pow(10, 2 + 5 * unit())), ready += pace * unit()});
    double gap = rule->plan(problemOf({layers, {affine(9.08e-4, 7.4e-10)}}))->gap();
    missed += gap > 1e-9;
    worst = std::max(worst, gap);
  }
  std::printf(
      "\nMG-WFBP's published rule on %d random passes of 100 layers: slower than optimal on "
      "%d, at worst %.3f times\n",
      instances, missed, 1 + worst);
}

} // namespace

int main() {
  bool inTime = timeSizes();
  inTime &= benchSolver();
  inTime &= benchSlowed();
  bool neverBeaten = comparePlanners();
  surveyMgWfbp();
  return inTime && neverBeaten ? 0 : 1;
}
