// The samples of one step in the host's memory, and their place in the step.
#pragma once

#include "runtime/core/Executable.h"
#include "runtime/data/ReadAhead.h"
#include "runtime/run/Diagnosis.h"
#include "runtime/run/plan/Plan.h"

#include <memory>
#include <optional>
#include <vector>

namespace syncline::run {

/// Where a rank's samples come from. What it points to outlives the batch.
///
/// With several micro-batches a step, micro-batch p of step s has number s·microBatches + p and
/// takes block p of the step's samples.
struct SampleSource {
  const data::Dataset *data = nullptr; ///< null for synthetic samples
  data::Sampler *sampler = nullptr;    ///< null where `data` is
  std::int64_t steps = 0;              ///< of the run
  std::uint64_t seed = 0;              ///< of synthetic samples
  int rank = 0;
  int microBatches = 1;    ///< of a step; `sampler` chooses the samples of all of them
  bool isMeasured = false; ///< every step takes as long as if a file in memory had its samples
  int threads = 1;         ///< that read ahead
};

/// The step's tensors of the plan's inputs, in the plan's order. The plan has passed checkStep().
std::vector<int> inputsOf(const Plan &plan, const core::Executable &executable);

class Batch {
public:
  Batch() = default;
  /// Room for a batch of the plan; `executable` is its step and outlives this object.
  Batch(const Plan &plan, core::Executable &executable, const SampleSource &source);

  /// Begins to read the samples of micro-batch `number` and of those behind it. Its samples depend
  /// on its number alone, so that a run may begin at any step. Called once before the first step.
  void seek(std::int64_t number);
  /// Waits for the samples of micro-batch `number` and copies them to the step's inputs and target.
  /// Returns the seconds that it waited; none for synthetic samples. Errors: those of reading the
  /// samples, and the backend's.
  Result<std::optional<double>> write(std::int64_t number);
  /// Takes as long as reading a batch from memory, where the source is measured.
  void imitateReading();
  /// Writes the batch of micro-batch `number` again, and describes it. The result is valid until
  /// the next call. Errors: as write().
  Result<StepSamples> describe(std::int64_t number);

private:
  Status copyToStep(bool isNext);
  static data::Samples chosen(const SampleSource &from, std::int64_t number);
  SampleSource source;
  data::SampleFormat format;
  data::HostBatch batch, copied;
  bool isInPlace = false;                 ///< the step's inputs and target hold a batch
  std::unique_ptr<data::ReadAhead> ahead; ///< null for synthetic samples
  core::Executable *executable = nullptr;
  std::vector<int> inputs; ///< of the step, in the format's order
  int target = -1;
};

} // namespace syncline::run
