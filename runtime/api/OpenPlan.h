// An open plan, as the C interface describes it.
#pragma once

#include "runtime/api/Failure.h"
#include "runtime/api/SchemeChoice.h"
#include "runtime/run/plan/PlanMessages.h"

#include <memory>
#include <string>
#include <vector>

namespace syncline::api {

/// Immutable.
struct OpenPlan {
  /// Errors: badInput, naming the file.
  static Result<std::shared_ptr<const OpenPlan>> open(const std::string &folder);

  run::PlanMessages plan;
  SchemeChoice others; ///< of messages that are not in the plan
  std::vector<syncline_message_info> messages;
  std::vector<std::vector<syncline_member_info>> members; ///< by message

  syncline_plan_info about() const;
  int count() const { return static_cast<int>(messages.size()); }
  /// Badusage unless the plan has the message.
  Failure checkMessage(int message) const;
};

/// The type of elements of a syncline_type; nothing for another number.
std::optional<ElementType> elementTypeOf(int type);

} // namespace syncline::api

/// What programs hold.
struct syncline_plan {
  std::shared_ptr<const syncline::api::OpenPlan> open;
};
