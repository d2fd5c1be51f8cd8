// The options of a group with their defaults.
#pragma once

#include "syncline.h"
#include "syncline/Status.h"

#include <cstdint>
#include <optional>
#include <string>

namespace syncline::api {

struct GroupSettings {
  /// Errors: badUsage for options that are out of range.
  static Result<GroupSettings> read(const syncline_group_options *options);

  int rank = 0, ranks = 1;
  int perNode = 0; ///< 0: the plan's
  int port = 29400;
  std::int64_t tracedSteps = 16;
  std::string name = "syncline", address = "127.0.0.1", interface, secret;
  std::optional<syncline_store> store;
  double startSeconds = 60, lostSeconds = 30;
  syncline_done done = nullptr;
  void *doneContext = nullptr;
};

} // namespace syncline::api
