// Where a plan's times come from, in two lines.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace syncline::report {

/// "compute: .." and "links: ..", each with its line's end: whether operations' times are a
/// profile's or estimated from the device's rates, and whether the cluster's messages are
/// calibrated or go by nominal rates. `provenance` and `cluster` are plan.json's. Empty where the
/// first is null. Throws as guarded() expects where they do not follow their schema.
std::string provenanceText(const nlohmann::json &provenance, const nlohmann::json &cluster);

/// "node 3 computes 1.5 times as long (cluster file): every step waits for it", a line an override;
/// empty where no node is slower. Throws likewise.
std::string slowNodesText(const nlohmann::json &cluster);

} // namespace syncline::report
