// What a data set reads its samples from.
#pragma once

#include "runtime/data/Array.h"

#include <string>
#include <vector>

namespace syncline::data {

/// One of a step's inputs, from the plan.
struct InputFormat {
  std::string name; ///< of the model's input whose values it holds; two may hold those of one
  ElementType type = ElementType::f32;
  Shape shape; ///< the first dimension is the batch
  /// Rows of the table that the values number, from its end where they are negative; 0 where they
  /// number none.
  std::int64_t rowCount = 0;
  bool isWhole = false; ///< the values are integers, whatever `type` is
  /// As `rowCount`, of each element of a sample; empty where it is that of all.
  std::vector<std::int64_t> elementRows = {};
};

/// Types and shapes of a step's inputs and target, from the plan.
struct SampleFormat {
  std::vector<InputFormat> inputs; ///< at least one
  ElementType targetType = ElementType::i64;
  Shape targetShape;                      ///< the first dimension is the batch
  bool classes = true;                    ///< targets are class indices
  std::int64_t classCount = 0;            ///< 0 for unknown, then labels are not checked
  std::vector<std::string> unneeded = {}; ///< the model's inputs that the step does not read
  std::vector<double> classWeights = {};  ///< one a class; empty where all are 1
  bool hasTargets = true;                 ///< else the model computes its loss from the inputs

  /// The names of the model's inputs that the step reads, each once.
  std::vector<std::string> inputNames() const;
};

/// Samples by number, all checked against a SampleFormat, that of the longest where there are
/// several. Thread-safe.
class SampleStore {
public:
  virtual ~SampleStore() = default;
  virtual std::int64_t size() const = 0;
  /// "sample 12 of 'x.npy'".
  virtual std::string nameOf(std::int64_t sample) const = 0;
  /// Writes the values of a sample's input `number` in the format's type. They may be other ones
  /// in each epoch, see Preparation. Errors: badInput, naming the file.
  virtual Status readInput(std::int64_t sample, std::size_t number, std::int64_t epoch,
                           std::byte *to) const = 0;
  /// Precondition: the format has targets.
  virtual Status readTarget(std::int64_t sample, std::byte *to) const = 0;
  /// The number of the smallest length that holds the sample; 0 where all have one length.
  virtual std::size_t lengthOf(std::int64_t) const { return 0; }
  /// The places of the sample along the dimension of the length; 0 where all have one length.
  virtual std::int64_t placesOf(std::int64_t) const { return 0; }
  /// Whether labels are core::ignoredLabel or classes have weights, and what a sample's labels
  /// weigh: their classes' weights, else 1 each, ignored ones 0. The second is called where the
  /// first is true.
  virtual bool weighsLabels() const { return false; }
  virtual double weightOfLabels(std::int64_t) const { return 1; }
};

} // namespace syncline::data
