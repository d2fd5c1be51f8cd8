// Samples of several lengths: which batches they form, and how they are padded.
#pragma once

#include "runtime/data/SampleStore.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace syncline::data {

/// The formats of a plan's steps for several lengths, which ascend.
class Lengths {
public:
  Lengths() = default;
  /// `sizes` are the lengths of `formats` along `dimension`, ascending. Errors: badInput where
  /// formats differ by more than dimensions of these sizes, where no input has such a dimension,
  /// and where targets that are no classes have one.
  static Result<Lengths> create(const std::string &dimension, std::vector<std::int64_t> sizes,
                                std::vector<SampleFormat> formats);

  bool isEmpty() const { return formats.empty(); }
  std::size_t count() const { return formats.size(); }
  std::int64_t size(std::size_t length) const { return sizes[length]; }
  const std::string &name() const { return dimension; }
  const SampleFormat &format(std::size_t length) const { return formats[length]; }
  /// The number of the smallest length that holds so many places. Precondition: the last one does.
  std::size_t holding(std::int64_t places) const;

  /// The dimensions of input `number`, and of the targets, that have the length.
  const std::vector<std::size_t> &ofInput(std::size_t number) const { return inputs[number]; }
  const std::vector<std::size_t> &ofTarget() const { return target; }

private:
  std::string dimension;
  std::vector<std::int64_t> sizes;
  std::vector<SampleFormat> formats;
  std::vector<std::vector<std::size_t>> inputs;
  std::vector<std::size_t> target;
};

/// Copies the elements whose places both shapes have from one dense tensor to another. Elements
/// have `bytes` bytes. Precondition: equally many dimensions.
void copyCorner(const std::byte *from, const Shape &fromShape, std::byte *to, const Shape &toShape,
                std::int64_t bytes);

/// The global batches of an epoch, each of one length.
struct BatchesByLength {
  std::vector<std::int64_t> samples; ///< batch after batch; those that fill none are left out
  std::vector<std::size_t> lengths;  ///< of each batch
};

/// Deals the samples out in their order: one of length number `lengths[sample]` waits until `batch`
/// samples of its length do, which are the next batch. What waits at the end goes with the samples
/// of the next greater length, so that as many batches are filled as if all had one length.
BatchesByLength dealOut(const std::vector<std::int64_t> &order,
                        std::span<const std::uint8_t> lengths, std::int64_t batch);

} // namespace syncline::data
