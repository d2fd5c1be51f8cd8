// A file whose first dimension counts samples.
#pragma once

#include "runtime/data/Npy.h"

#include <optional>
#include <vector>

namespace syncline::data {

/// A .npy file, of which samples are read when they are needed, or a CSV file, held in memory. A
/// CSV line has a sample's values in row-major order. Thread-safe.
class SampleFile {
public:
  /// Checks that the samples have the shape `wanted`, whose first dimension is not looked at. A
  /// single value may be a column of one value. Errors: badInput, naming the file and `what` its
  /// samples are; a message on their shape ends in `hint`. The dimensions `varied` of `wanted`
  /// may be smaller in a .npy file, all of them alike.
  static Result<SampleFile> open(const std::string &path, const Shape &wanted,
                                 const std::string &what, const std::string &hint = {},
                                 const std::vector<std::size_t> &varied = {});

  const std::string &path() const { return npy ? npy->path() : table.path; }
  /// The shape of its samples, with 1 in place of their number.
  const Shape &sampleShape() const { return ofSample; }
  std::int64_t size() const { return (npy ? npy->shape() : table.shape)[0]; }
  /// Writes the values of one sample in type `type`. Errors: those of NpyFile::read().
  Status read(std::int64_t sample, ElementType type, std::byte *to) const;
  /// Checks that all values are classes, from 0 to `classes` - 1 where `classes` is positive, or
  /// core::ignoredLabel, and adds up what they weigh: `weights`, one a class where there are any,
  /// else 1. Errors: badInput, naming file and element.
  Status checkClasses(std::int64_t classes, const std::vector<double> &weights = {});
  /// Whether checkClasses() has found a label that is ignored, or had weights.
  bool weighsLabels() const { return !ofLabels.empty(); }
  /// The weights of the sample's labels, added up; ignored ones have none. Precondition:
  /// checkClasses().
  double weightOfLabels(std::int64_t sample) const {
    return ofLabels.empty() ? static_cast<double>(perSample)
                            : ofLabels[static_cast<std::size_t>(sample)];
  }
  /// Checks that all values number one of a table's rows, from the end where they are negative.
  /// `rows` are those of each element's table, 0 where it numbers none; one number is that of all.
  /// Errors: badInput, naming the file, the element and the model's input.
  Status checkRows(const std::vector<std::int64_t> &rows, const std::string &input) const;
  /// Checks that f32 holds all values without rounding: that they are whole and below 2^24.
  /// Errors: as checkRows().
  Status checkWhole(const std::string &input) const;
  /// See InputFile::letGo().
  void letGo();

private:
  /// Checks that all values are whole numbers that `accepts`, called with value and place, is true
  /// for; `expected` says what is wanted at a place.
  template <typename Accepts, typename Expected>
  Status checkNumbers(const Accepts &accepts, const Expected &expected) const;
  Status readElements(std::int64_t first, std::int64_t count, ElementType type,
                      std::byte *to) const;
  std::optional<NpyFile> npy;
  Array table; ///< where there is no `npy`
  Shape ofSample;
  std::int64_t perSample = 1;
  std::vector<double> ofLabels; ///< weightOfLabels() of each sample; empty where all are alike
};

} // namespace syncline::data
