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

/// A plan's step, for samples of one length.
struct LengthStep {
  const Plan *plan = nullptr;
  core::Executable *executable = nullptr;
};

/// The step's tensors of the plan's inputs, in the plan's order. The plan has passed checkStep().
std::vector<int> inputsOf(const Plan &plan, const core::Executable &executable);

class Batch {
public:
  Batch() = default;
  /// Room for a batch of each step; the executables outlive this object. There is one step, or
  /// one for each length of the samples.
  Batch(const std::vector<LengthStep> &steps, const SampleSource &source);

  /// Begins to read the samples of micro-batch `number` and of those behind it. Its samples depend
  /// on its number alone, so that a run may begin at any step. Called once before the first step.
  void seek(std::int64_t number);
  /// The number of the length of the samples that were written last.
  std::size_t length() const { return written; }
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
  /// Where samples of one length are written to.
  struct Place {
    data::SampleFormat format;
    core::Executable *executable = nullptr;
    std::vector<int> inputs; ///< tensors, in the format's order
    int target = -1;         ///< -1: none
    bool isFilled = false;   ///< with synthetic samples, which stay
  };
  std::size_t syntheticLength(std::int64_t number) const;
  Status copyToStep(const Place &place, bool isNext);
  static data::Samples chosen(const SampleSource &from, std::int64_t number);
  SampleSource source;
  std::vector<Place> places; ///< by length
  std::size_t written = 0;   ///< see length()
  data::HostBatch batch, copied;
  std::unique_ptr<data::ReadAhead> ahead; ///< null for synthetic samples
};

} // namespace syncline::run
