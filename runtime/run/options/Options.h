// The command line of syncline-run.
#pragma once

#include "runtime/core/Executable.h"
#include "runtime/launch/DeviceFlags.h"
#include "runtime/launch/Identity.h"
#include "runtime/run/KernelChoices.h"
#include "runtime/run/Schedule.h"
#include "runtime/run/options/CheckpointOptions.h"
#include "runtime/run/options/ImageFlags.h"
#include "runtime/run/options/OptimizerFlags.h"
#include "runtime/run/plan/Plan.h"

#include <optional>
#include <set>
#include <string>

namespace syncline::run {

struct Options : launch::DeviceFlags, ImageFlags {
  std::string plan;
  launch::IdentityFlags identity;

  std::string data, eval; ///< as Dataset::open(); an empty `data` means synthetic samples
  bool shuffle = false;
  std::optional<std::int64_t> steps, epochs;
  int microBatches = 1; ///< forward and backward passes of a step, each with a batch of the plan
  std::optional<int> wantedMicroBatches; ///< by the command line; else they are the plan's
  std::uint64_t seed = 0;

  OptimizerFlags optimizerFlags;
  core::OptimizerOptions optimizer; ///< what the flags choose for the plan
  Schedule schedule;                ///< of optimizer.rate; its file is not read yet

  std::int64_t evalEvery = 0; ///< steps between evaluations; 0: only at the end
  bool evalOnly = false;
  CheckpointOptions checkpoint;
  std::string load, save, dump;
  std::set<std::int64_t> dumpSteps{0};
  bool json = false;
  std::string trace;
  std::int64_t traceSteps = 3;

  bool allowsNonFinite = false;
  bool alone = false;  ///< run one of the plan's ranks without the others
  std::string opTimes; ///< file for operation times; the run ends when the median step is steady
  std::optional<double> opTimesFor; ///< minimum of seconds; without it Steadiness::shortest

  int threads = 1;
  bool capturesSteps = false;
  KernelFlags kernels;
  std::optional<double> timeout; ///< seconds; the default follows from the plan's prediction
  double startTimeout = 60;

  /// Whether updates wait for the norm of all gradients.
  bool clipsNorm() const { return optimizerFlags.clipNorm.has_value(); }
  /// Takes the plan's backend, precision and wire, and its norm of clipping and micro-batches where
  /// the command line names none. Returns what to tell people of each that changes its times.
  std::vector<std::string> follow(const Plan &plan);
  /// Ok when the plan can run as requested; otherwise badInput, or badUsage for options of GPUs.
  Status checkPlan(const Plan &plan) const;
  /// Sets `optimizer` by the flags. Errors: badUsage for flags of other optimizers than the plan's.
  Status chooseOptimizer(const Plan &plan);
  /// Ok when the files that the options name can be written; otherwise badInput.
  Status checkFiles() const;
  /// Ok when a run of `steps` steps can do what the options request; otherwise badUsage.
  Status checkSteps(std::int64_t steps) const;
  Status checkClipping(const Plan &plan) const;
  Status checkLossScale(const Plan &plan) const;
  /// Whether a step of several micro-batches can run as requested.
  Status checkMicroBatches(const Plan &plan) const;
  /// The options that must be equal on all ranks, as text.
  std::string sharedOptions() const;
};

/// Parses the command line. On --help or an error, prints and returns the exit code.
std::optional<int> parseOptions(int argc, char **argv, Options &options);

} // namespace syncline::run
