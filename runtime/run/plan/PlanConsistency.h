// Who waits for whom, as plan.json says it.
#pragma once

#include "syncline/Consistency.h"
#include "syncline/Scheme.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace syncline::run {

/// A fragment of the weights and when it travels (P31 of ir/plan/SPEC.md).
struct PlanExchange {
  int id = 0;
  Scheme scheme = Scheme::ring;
  std::int64_t offset = 0, extent = 0; ///< bytes in the space of parameters
  /// Steps of the period after which it starts, and has arrived; without bound, mostSteps.
  std::int64_t start = 1, wait = 1;

  static constexpr std::int64_t mostSteps = std::int64_t{1} << 46;
};

/// The part of the weights that a server has.
struct PlanShard {
  int server = 0;                      ///< of the dedicated ones, else the rank in whose process
  std::int64_t offset = 0, extent = 0; ///< bytes in the space of parameters
};

/// Who waits for whom, and what ranks exchange in place of gradients. ir/sync/SPEC.md ("Forms") has
/// the meaning of the forms and their numbers.
struct PlanConsistency {
  using Form = ConsistencyForm;
  using Variant = EasgdVariant;

  Form form = Form::bsp;
  Variant variant = Variant::original;
  std::string text = "bsp";          ///< as `compile --consistency` takes it
  std::int64_t period = 1;           ///< steps from one exchange of the same weights to the next
  std::int64_t lower = 0, upper = 0; ///< ssp and dssp: steps; equal for ssp
  double mix = 0, rate = 1, momentum = 0; ///< diloco
  double rho = 0;                         ///< easgd
  std::vector<PlanExchange> exchanges;
  std::vector<PlanShard> shards; ///< one behind the other; empty unless served

  /// Whether gradients stay on their rank.
  bool isLocal() const { return form != Form::bsp; }
  /// Steps from the arrival of one exchange to that of the next one.
  std::int64_t window() const {
    return period / std::max<std::int64_t>(1, static_cast<std::int64_t>(exchanges.size()));
  }
  /// Whether weights travel by servers.
  bool isServed() const { return !shards.empty(); }
  /// A warning where EASGD's centre is not stable at this learning rate; empty for none.
  std::string whyUnstable(int ranks, double learningRate) const;
  /// Whether no worker waits for another one in particular.
  bool isAsynchronous() const {
    return form == Form::asp ||
           (form == Form::easgd && variant > Variant::original && variant < Variant::sync1);
  }
};

/// Reads the form of a plan's consistency, and its variant, without the numbers. PlanJson.h says
/// what it throws.
PlanConsistency readForm(const nlohmann::json &plan);

/// Reads the consistency of a plan with `weights` bytes of parameters. Throws as PlanJson.h says.
PlanConsistency readConsistency(const nlohmann::json &plan, std::int64_t weights, int ranks,
                                int servers);

} // namespace syncline::run
