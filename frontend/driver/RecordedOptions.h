// What plan.json records of the options that say how the model is read.
#pragma once

#include "frontend/onnx/ImportOnnx.h"

#include "syncline/Status.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace syncline::driver {

/// With the plan's module these give the plan again: `verify --model` lowers the model by them.
struct RecordedOptions {
  frontend::ImportOptions import;
  std::vector<std::string> recompute; ///< globs, or "auto"
  std::vector<std::string> schemes;   ///< "LAYER=SCHEME", requested of gradients or exchanges
  std::string precision = "fp32";     ///< in which a model that is planned alone would compute
  bool planOnly = false;
};

/// The object `options` of plan.json.
nlohmann::json recordOptions(const RecordedOptions &options);

/// Reads `options` of plan.json. badInput where it is missing or malformed; the message does not
/// name the plan.
Result<RecordedOptions> readRecordedOptions(const nlohmann::json &document);

} // namespace syncline::driver
