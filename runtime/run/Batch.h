// The samples of one step in the host's memory, and their place in the step.
#pragma once

#include "runtime/core/Executable.h"
#include "runtime/run/Diagnosis.h"
#include "runtime/run/Plan.h"

#include <vector>

namespace syncline::run {

/// Where a rank's samples come from. What it points to outlives the batch.
struct SampleSource {
  const data::Dataset *data = nullptr; ///< null for synthetic samples
  data::Sampler *sampler = nullptr;    ///< null where `data` is
  std::int64_t steps = 0;              ///< of the run
  std::string file;                    ///< of the inputs
  std::uint64_t seed = 0;              ///< of synthetic samples
  int rank = 0;
  bool isMeasured = false; ///< every step takes as long as if a file in memory had its samples
};

class Batch {
public:
  Batch() = default;
  /// Room for a batch of the plan; `executable` is its step and outlives this object.
  Batch(const Plan &plan, core::Executable &executable, const SampleSource &source);

  /// Reads the batch of step `number` into the host's memory. A step after the last one has none.
  void read(std::int64_t number);
  /// Whether write() has to be called for step `number`; else its batch is there.
  bool changes(std::int64_t number) const {
    return source.data || number == 0 || source.isMeasured;
  }
  /// Copies the samples to the step's input and target.
  Status write();
  /// Reads and writes the batch of step `number`, and describes it. The result is valid until the
  /// next call.
  Result<StepSamples> describe(std::int64_t number);

private:
  SampleSource source;
  data::SampleFormat format;
  Shape shape;                 ///< of the inputs
  std::vector<std::byte> x, y; ///< inputs and targets
  std::vector<std::byte> copiedX, copiedY;
  core::Executable *executable = nullptr;
  int input = -1, target = -1;
};

} // namespace syncline::run
