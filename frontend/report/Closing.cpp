// The lines that `compile` ends with.
#include "frontend/report/Closing.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/report/ExchangeText.h"
#include "frontend/report/MemoryText.h"
#include "frontend/report/MicroBatchText.h"
#include "frontend/report/PlanText.h"
#include "runtime/launch/CommandLineText.h"

#include <nlohmann/json.hpp>

namespace syncline::report {

using files::formatBytes;
using files::formatSeconds;

/// "12 messages, 97.5 MiB; predicted step 193 ms, exposed 62.1 ms (32.18 %), gap 0.00 % (optimal)".
static std::string planSummary(const nlohmann::json &plan) {
  const nlohmann::json &buckets = plan.at("buckets"), &predicted = plan.at("predicted");
  std::string gap = "gap " + percent(predicted.at("planner").at("gap")) +
                    (plan.at("optimal").get<bool>() ? " (optimal)" : "");
  if (const std::int64_t channels = channelsOf(plan); channels > 1)
    gap = "no bound for " + std::to_string(channels) + " channels";
  const double step = predicted.at("step"), exposed = predicted.at("exposed");
  if (isLocal(plan))
    return fragmentsText(plan) + ", consistency " + consistencyOf(plan) + "; predicted step " +
           formatSeconds(step) + ", exposed " + formatSeconds(exposed) + ", in the mean";
  return files::counted(buckets.size(), "message") + ", " + formatBytes(bytesOf(buckets)) +
         "; predicted step " + formatSeconds(step) +
         (microBatchesOf(plan) == 1
              ? ""
              : " of " + std::to_string(microBatchesOf(plan)) + " micro-batches") +
         ", exposed " + formatSeconds(exposed) + " (" + percent(step > 0 ? exposed / step : 0) +
         "), " + gap;
}

Result<std::string> compileClosing(const nlohmann::json &plan, const std::string &folder) {
  return guarded([&] {
    const std::string recomputed =
        plan.contains("recomputed")
            ? "syncline: note: " + recomputedText(plan.at("recomputed")) + "\n"
            : "";
    return recomputed +
           launch::closingLines(folder, planSummary(plan), {"syncline", "inspect", folder});
  });
}

} // namespace syncline::report
