// Draws disturbed steps, and simulates them.
#include "passes/simulate/Disturbance.h"

#include "passes/simulate/MessageExpansion.h"
#include "passes/simulate/Noise.h"
#include "passes/simulate/Simulation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace syncline::simulate {
namespace {

/// Ranks and messages draw apart.
constexpr std::uint64_t seedOfRanks = 0x5ca77e4, seedOfMessages = 0x3e55a6e;

/// The tasks and operations of all steps; each takes about 0.2 us.
constexpr double mostWork = 1e6;

/// The operations of one step on all ranks, and the tasks of its messages.
double workOf(const Scenario &scenario) {
  double work = static_cast<double>(scenario.operations.size() + scenario.messages.size()) *
                scenario.machines.ranks;
  for (const Message &message : scenario.messages)
    if (!message.isStated && scenario.machines.ranks > 1)
      work += tasksOf(message, scenario.machines);
  return work;
}

/// The value which `share` of the ascending ones do not exceed.
double quantile(const std::vector<double> &ascending, double share) {
  const double place = std::ceil(share * static_cast<double>(ascending.size()));
  return ascending[static_cast<std::size_t>(std::max(place, 1.0)) - 1];
}

StepSpread spreadOf(const Simulation &simulation) {
  std::vector<double> steps;
  for (int step = simulation.warmUp; step < simulation.steps; ++step)
    steps.push_back(simulation.stepEnd(step) - simulation.stepEnd(step - 1));
  std::ranges::sort(steps);
  return {simulation.stepSeconds(), quantile(steps, 0.1), quantile(steps, 0.9)};
}

/// The recorded values that number `of` meets: all of them in random order, and again.
std::vector<std::size_t> drawnOf(std::uint64_t seed, std::size_t of, std::size_t recorded) {
  std::vector<std::size_t> steps, round(recorded);
  while (steps.size() < disturbedSteps) {
    std::iota(round.begin(), round.end(), std::size_t{0});
    for (std::size_t i = 0; i < round.size() && steps.size() < disturbedSteps; ++i) {
      const auto place = static_cast<std::uint64_t>(of) << 32 | steps.size();
      std::swap(round[i], round[i + randomBits(seed, place) % (round.size() - i)]);
      steps.push_back(round[i]);
    }
  }
  return steps;
}

} // namespace

Scatter drawSteps(const Scatter &recorded, int ranks) {
  const auto together = static_cast<int>(recorded.factors.size());
  Scatter drawn;
  for (int rank = 0; rank < ranks; ++rank) {
    std::vector<double> &factors = drawn.factors.emplace_back();
    for (const std::size_t step : drawnOf(seedOfRanks, static_cast<std::size_t>(rank / together),
                                          static_cast<std::size_t>(recorded.steps())))
      factors.push_back(recorded.factors[static_cast<std::size_t>(rank % together)][step]);
  }
  return drawn;
}

std::vector<std::vector<double>> drawMessages(std::span<const double> recorded,
                                              std::size_t messages) {
  std::vector<std::vector<double>> drawn(messages);
  for (std::size_t message = 0; message < messages; ++message)
    for (const std::size_t value : drawnOf(seedOfMessages, message, recorded.size()))
      drawn[message].push_back(recorded[value]);
  return drawn;
}

Result<std::optional<StepSpread>> simulateDisturbed(Scenario scenario,
                                                    std::span<const double> messageFactors) {
  using None = std::optional<StepSpread>;
  if (scenario.scatter.isEmpty())
    return None();
  scenario.warmUp = std::ranges::count(carriedMessages(scenario), true) > 0 ? carriedWarmUp : 0;
  scenario.steps = scenario.warmUp + disturbedSteps;
  if (workOf(scenario) * scenario.steps > mostWork)
    for (Message &message : scenario.messages)
      message.isStated = true;
  if (workOf(scenario) * scenario.steps > mostWork)
    return None();
  scenario.jitter = 0;
  scenario.scatter = drawSteps(scenario.scatter, scenario.machines.ranks);
  scenario.replaysScatter = true;
  if (!messageFactors.empty())
    scenario.messageScatter = drawMessages(messageFactors, scenario.messages.size());
  SYNCLINE_TRY(validate(scenario));
  SYNCLINE_TRY_GET(simulation, runScenario(scenario));
  return std::optional(spreadOf(*simulation));
}

} // namespace syncline::simulate
