// Means over checkpoints, as text and JSON.
#include "runtime/run/checkpoint/CheckpointCosts.h"

#include "runtime/core/Formatted.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace syncline::run {

void CheckpointCosts::add(double seconds, double waiting) {
  ++count;
  held += seconds;
  waited += waiting;
  longest = std::max(longest, seconds);
}

std::string CheckpointCosts::text() const {
  const auto mean = [this](double sum) { return sum / static_cast<double>(count) * 1e3; };
  const std::string missing = failed > 0 ? " (" + std::to_string(failed) + " not written)" : "";
  return core::formatted(
      "%lld checkpoint%s%s: each held training for %.2f ms (longest %.2f ms; %.2f ms of the "
      "mean waited for the one before), and was written beside it in %.2f ms",
      static_cast<long long>(count), count == 1 ? "" : "s", missing.c_str(), mean(held),
      longest * 1e3, mean(waited), mean(writing));
}

void CheckpointCosts::addTo(nlohmann::ordered_json &line) const {
  if (count == 0)
    return;
  const auto number = static_cast<double>(count);
  line["checkpoints"] = count;
  if (failed > 0)
    line["checkpoints_not_written"] = failed;
  line["checkpoint_held_seconds"] = held / number;
  line["checkpoint_waiting_seconds"] = waited / number;
  line["checkpoint_writing_seconds"] = writing / number;
}

} // namespace syncline::run
