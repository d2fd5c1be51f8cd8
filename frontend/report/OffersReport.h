// What training costs on clusters that could be rented, as a table.
#pragma once

#include "frontend/report/Throughput.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace syncline::report {

/// How far a step may be off its prediction.
struct StepDoubt {
  double share = 0; ///< 0.3: a step may take 30 % less or more
  /// Runs that were published of the kind of device, of which nine of ten were off by no more; 0
  /// where the user states the doubt.
  int runs = 0;
};

/// One offer's plan.
struct PlannedOffer {
  std::string name, device; ///< the kind of device; empty where it has none
  std::string precision;    ///< in which products and convolutions are computed
  double price = 0;         ///< an hour, of all of it
  Throughput rate = {};
  std::int64_t memory = 0;               ///< bytes that a rank needs
  std::optional<std::int64_t> size = {}; ///< the device's
  bool hasActivations = true;            ///< `memory` has them
  std::optional<double> ddpStep = {};    ///< with the buckets of PyTorch's DistributedDataParallel
  std::optional<StepDoubt> doubt = {};   ///< absent where nothing is known

  bool hasDdp() const { return ddpStep.has_value(); }
  double hours(std::int64_t samples) const;
  double money(std::int64_t samples) const { return price * hours(samples); }
};

struct LeftOutOffer {
  std::string name, reason;
};

/// A line an offer, cheapest first, then what was left out, which is cheapest and fastest and
/// whether the ranges of others overlap, and what the doubts rest on. Precondition: there is an
/// offer, and all rates are known.
std::string offersTable(std::vector<PlannedOffer> offers, const std::vector<LeftOutOffer> &leftOut,
                        std::int64_t samples);

} // namespace syncline::report
