// Why a gradient travels when it does in a plan with an order, as text for people.
#pragma once

#include "frontend/report/WhyReport.h"
#include "passes/explain/OrderExplanation.h"

#include <optional>
#include <string>
#include <vector>

namespace syncline::report {

/// Facts for the report that an explanation does not know.
struct OrderWhyContext {
  std::vector<std::string> gradients = {}; ///< names, in backward order
  std::string reader; ///< the first operation that reads the parameter; empty in a trace
  std::string planner;
  bool isRequested = false; ///< some schemes were requested by name
  /// Seconds of computation that all messages take at most, in the planner's model.
  double lost = 0;
  /// What 'inspect' prints of the gradient's last message.
  std::optional<VirtualTimes> simulated = {};
};

/// Text: when the gradient is ready and must arrive; the messages that bring it and those that
/// overtook them or were overtaken; the step with a higher and a lower priority; whether the bound
/// rests on the gradient.
std::string orderWhy(const explain::OrderExplanation &explanation, const OrderWhyContext &context);

} // namespace syncline::report
