// Disturbance: how long steps take in which ranks are late, for plans to be compared by.
#pragma once

#include "passes/simulate/Scenario.h"

#include <optional>
#include <span>
#include <vector>

namespace syncline::simulate {

/// The steps that are drawn.
inline constexpr int disturbedSteps = 32;

/// How long the drawn steps take, in seconds.
struct StepSpread {
  double mean = 0;
  double low = 0;  ///< which 10 % of the steps do not exceed
  double high = 0; ///< which 90 % of the steps do not exceed
};

/// The factors of every rank in each of the drawn steps: as many ranks as were recorded side by
/// side meet one recorded step together, each as often as any other, but for one. The draw depends
/// on the number of the ranks' group and of the step alone, so that all plans meet the same
/// steps. Precondition: something was recorded.
Scatter drawSteps(const Scatter &recorded, int ranks);

/// How many times as long as usual each of so many messages takes in each of the drawn steps. A
/// message meets each of the recorded numbers as often as any other, but for one. The draw depends
/// on the numbers of the message and of the step alone.
std::vector<std::vector<double>> drawMessages(std::span<const double> recorded,
                                              std::size_t messages);

/// Simulates the drawn steps, one after the other; where steps wait for messages of the step
/// before, behind carriedWarmUp steps that do not count. Where that takes more than a million
/// tasks and operations, messages take their cost; where it still does, or nothing was recorded,
/// there is no result. Messages scatter by drawMessages() of `messageFactors`, where there are any.
/// Returns badInput as runScenario does.
Result<std::optional<StepSpread>> simulateDisturbed(Scenario scenario,
                                                    std::span<const double> messageFactors = {});

} // namespace syncline::simulate
