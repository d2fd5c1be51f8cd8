// What a run tells: progress on the terminal, or JSON lines for machines.
#pragma once

#include "runtime/core/Executable.h"
#include "runtime/run/Evaluation.h"
#include "runtime/run/Plan.h"
#include "runtime/run/Trainer.h"

#include <optional>
#include <string>
#include <vector>

namespace syncline {

/// Collects the steps of rank 0. Losses arrive a step late: see Trainer.
///
/// JSON, one object a line on stdout: for each step {"step", "loss", "seconds",
/// "samples_per_second", "exposed_seconds", "bytes_sent", "bytes_received"}, over all ranks, times
/// in seconds, bytes of messages that rank 0 moves, without them where nobody counts; at the end
/// {"summary": true, "steps", "ranks", "servers", "median_step_seconds", "samples_per_second",
/// "median_exposed_seconds", "predicted_step_seconds", "median_bytes_sent",
/// "median_bytes_received", "predicted_traffic_bytes" (both directions), "peak_memory_bytes" (these
/// but the prediction are the largest of any rank), "loss"?, "test_loss"?, "test_accuracy"?}.
class Report {
public:
  /// `shape` is who runs, which is fewer than the plan's where a rank runs alone. A quiet report
  /// collects without telling: all ranks but 0.
  Report(const Plan &plan, const RunShape &shape, bool json, bool quiet, std::int64_t steps);

  void note(const std::string &text);
  void addStep(const StepTimes &times) { steps.push_back(times); }
  void addLoss(const Trainer::EarlierLoss &loss);
  /// Medians of this rank's steps; none where nobody counts.
  std::optional<Traffic> medianTraffic() const;
  /// Takes the largest values of any rank.
  void finish(std::int64_t peakBytes, const std::optional<Traffic> &traffic,
              const std::optional<Score> &score);

private:
  double samplesPerSecond(double seconds) const;

  const Plan &plan;
  const RunShape shape;
  const bool json, quiet, terminal;
  const std::int64_t total;
  std::vector<StepTimes> steps;
  std::optional<double> lastLoss;
  Clock::time_point lastShown{};
};

/// Largest memory this process has held.
std::int64_t peakMemoryBytes();

/// Median milliseconds of every operation, slowest first, and of every bucket.
void printTimings(const Plan &plan, const Executable &executable, const Trainer &trainer);

} // namespace syncline
