// Reading a plan's messages, and laying out its computation in time.
#include "frontend/report/PlanTimeline.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/report/MicroBatchText.h"
#include "frontend/report/PlanText.h"

#include <algorithm>

namespace syncline::report {

constexpr const char *forwardColour = "#c5d1e3", *backwardColour = "#94abd0",
                     *reconstructionColour = "#a3d4b4", *updateColour = "#e0c080";

double secondsOf(const nlohmann::json &object, const char *key) {
  const double seconds = object.at(key);
  if (!(seconds >= 0))
    throw SchemaError{"expected '" + std::string(key) + "' of 0 s or more, got " +
                      files::formatSeconds(seconds)};
  return seconds;
}

PlottedBucket bucketOf(const nlohmann::json &json) {
  if (const std::int64_t bytes = json.at("bytes"); bytes < 0)
    throw SchemaError{"expected 'bytes' of 0 or more, got " + std::to_string(bytes)};
  const bool isHalved = json.contains("all_gather");
  return {.id = json.at("id"),
          .bytes = json.at("bytes"),
          .channel = json.value("channel", std::int64_t{0}),
          .members = memberSummary(json.at("members")),
          .scheme = printable(json.at("scheme")),
          .ready = secondsOf(json, "ready"),
          .start = secondsOf(json, "start"),
          .end = secondsOf(json, "end"),
          .reconstructed = secondsOf(json, "reconstructed"),
          .exposed = secondsOf(json, "exposed"),
          .gatherStart = isHalved ? secondsOf(json.at("all_gather"), "start") : 0,
          .gatherEnd = isHalved ? secondsOf(json.at("all_gather"), "end") : 0};
}

std::vector<Phase> phasesOf(const nlohmann::json &plan, const std::vector<PlottedBucket> &buckets) {
  const nlohmann::json &predicted = plan.at("predicted");
  const double forwardEnd = secondsOf(predicted, "forward_end"),
               backwardEnd = secondsOf(predicted, "backward_end"),
               step = lastMicroBatchSeconds(plan), updates = secondsOf(predicted, "updates");
  std::vector<Phase> phases{{"forward", forwardColour, 0, forwardEnd, ""},
                            {"backward", backwardColour, forwardEnd, backwardEnd, ""}};
  if (plan.value("overlap", "backward") == "step")
    return phases; // the forward pass contains waits, reconstruction and updates
  const bool clips = !plan.value("clip_norm", nlohmann::json()).is_null();
  double bytes = 0;
  for (const PlottedBucket &bucket : buckets)
    bytes += bucket.isUpdated() ? static_cast<double>(bucket.bytes) : 0;
  double now = backwardEnd;
  for (const PlottedBucket &bucket : buckets) {
    const std::string whose = " of bucket " + std::to_string(bucket.id);
    now = std::max(now, bucket.end);
    if (bucket.isReconstructed() && bucket.reconstructed > now) {
      phases.push_back({"reconstruction", reconstructionColour, now, bucket.reconstructed,
                        "reconstruction" + whose});
      now = bucket.reconstructed;
    }
    if (clips || !bucket.isUpdated() || bytes <= 0)
      continue;
    const double end =
        std::min(now + updates * static_cast<double>(bucket.bytes) / bytes, std::max(now, step));
    phases.push_back({"updates", updateColour, now, end, "updates" + whose});
    now = end;
  }
  if (const double end = step - predicted.value("overhead", 0.0); clips && end > now)
    phases.push_back({"updates", updateColour, std::max(now, end - updates), end, "updates"});
  return phases;
}

} // namespace syncline::report
