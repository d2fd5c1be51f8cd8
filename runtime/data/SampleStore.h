// What a data set reads its samples from.
#pragma once

#include "runtime/data/Array.h"

#include <string>

namespace syncline::data {

/// Types and shapes of a step's input and target, from the plan.
struct SampleFormat {
  ElementType inputType = ElementType::f32, targetType = ElementType::i64;
  Shape inputShape, targetShape; ///< the first dimension is the batch
  bool classes = true;           ///< targets are class indices
  std::int64_t classCount = 0;   ///< 0 for unknown, then labels are not checked
  /// Rows of the table that the inputs' values number, from its end where they are negative; 0
  /// where they number none.
  std::int64_t rowCount = 0;
  std::string inputName = {}; ///< for messages
};

/// Samples by number, all checked against a SampleFormat. Thread-safe.
class SampleStore {
public:
  virtual ~SampleStore() = default;
  virtual std::int64_t size() const = 0;
  /// "sample 12 of 'x.npy'".
  virtual std::string nameOf(std::int64_t sample) const = 0;
  /// Writes the values of a sample in the format's types. An input may be another one in each
  /// epoch, see Preparation. Errors: badInput, naming the file.
  virtual Status readInput(std::int64_t sample, std::int64_t epoch, std::byte *to) const = 0;
  virtual Status readTarget(std::int64_t sample, std::byte *to) const = 0;
};

} // namespace syncline::data
