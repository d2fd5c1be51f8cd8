// Comparing the formats of several lengths, padding, and sorting samples into batches.
#include "runtime/data/Lengths.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace syncline::data {
namespace {

/// The dimensions in which the shapes have their lengths; nothing where they differ in others.
std::optional<std::vector<std::size_t>> varied(const std::vector<const Shape *> &shapes,
                                               const std::vector<std::int64_t> &sizes) {
  std::vector<std::size_t> dimensions;
  for (std::size_t d = 0; d < shapes.front()->size(); ++d) {
    bool isEqual = true, isLength = true;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      if (shapes[i]->size() != shapes.front()->size())
        return std::nullopt;
      isEqual = isEqual && (*shapes[i])[d] == shapes.front()->at(d);
      isLength = isLength && (*shapes[i])[d] == sizes[i];
    }
    if (isLength && !isEqual)
      dimensions.push_back(d);
    else if (!isEqual)
      return std::nullopt;
  }
  return dimensions;
}

} // namespace

Result<Lengths> Lengths::create(const std::string &dimension, std::vector<std::int64_t> sizes,
                                std::vector<SampleFormat> formats) {
  Lengths all;
  const auto place = [&](const std::string &what, const auto &shapeOf) {
    std::vector<const Shape *> shapes;
    for (const SampleFormat &format : formats)
      shapes.push_back(&shapeOf(format));
    const auto dimensions = varied(shapes, sizes);
    return dimensions ? Result<std::vector<std::size_t>>(*dimensions)
                      : Status::badInput("the plans of '" + dimension + "' differ in " + what +
                                         " by more than sizes of that dimension");
  };
  bool hasLength = false;
  if (!std::ranges::all_of(formats, &SampleFormat::hasTargets))
    return Status::badInput("the model computes its loss, which would count what pads samples");
  for (const SampleFormat &format : formats)
    if (format.inputs.size() != formats.front().inputs.size())
      return Status::badInput("the plans of '" + dimension + "' have different inputs");
  for (std::size_t i = 0; i < formats.front().inputs.size(); ++i) {
    const std::string what = "input '" + formats.front().inputs[i].name + "'";
    SYNCLINE_TRY_GET(dimensions, place(what, [i](const SampleFormat &f) -> const Shape & {
                       return f.inputs[i].shape;
                     }));
    if (!dimensions->empty() && !formats.back().inputs[i].elementRows.empty())
      return Status::badInput(what + ": its elements number rows of different tables, which texts "
                                     "of several lengths cannot");
    hasLength = hasLength || !dimensions->empty();
    all.inputs.push_back(std::move(*dimensions));
  }
  SYNCLINE_TRY_GET(ofTarget, place("the targets", [](const SampleFormat &f) -> const Shape & {
                     return f.targetShape;
                   }));
  all.target = std::move(*ofTarget);
  if (!hasLength)
    return Status::badInput("no input has the dimension '" + dimension + "'");
  if (!all.target.empty() && !formats.back().classes)
    return Status::badInput("the targets have the dimension '" + dimension +
                            "' and are no classes: nothing could pad them");
  all.dimension = dimension;
  all.sizes = std::move(sizes);
  all.formats = std::move(formats);
  return all;
}

std::size_t Lengths::holding(std::int64_t places) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(sizes, places) - sizes.begin());
}

void copyCorner(const std::byte *from, const Shape &fromShape, std::byte *to, const Shape &toShape,
                std::int64_t bytes) {
  if (fromShape.empty()) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
    return;
  }
  const Shape restFrom(fromShape.begin() + 1, fromShape.end());
  const Shape restTo(toShape.begin() + 1, toShape.end());
  const std::int64_t count = std::min(fromShape.front(), toShape.front());
  std::int64_t stepFrom = bytes, stepTo = bytes;
  for (const std::int64_t extent : restFrom)
    stepFrom *= extent;
  for (const std::int64_t extent : restTo)
    stepTo *= extent;
  if (restFrom == restTo) {
    std::memcpy(to, from, static_cast<std::size_t>(count * stepFrom));
    return;
  }
  for (std::int64_t i = 0; i < count; ++i)
    copyCorner(from + i * stepFrom, restFrom, to + i * stepTo, restTo, bytes);
}

BatchesByLength dealOut(const std::vector<std::int64_t> &order,
                        std::span<const std::uint8_t> lengths, std::int64_t batch) {
  BatchesByLength dealt;
  const auto each = static_cast<std::size_t>(batch);
  const auto deal = [&](std::vector<std::int64_t> &waiting, std::size_t length) {
    while (waiting.size() >= each) {
      dealt.samples.insert(dealt.samples.end(), waiting.begin(), waiting.begin() + batch);
      dealt.lengths.push_back(length);
      waiting.erase(waiting.begin(), waiting.begin() + batch);
    }
  };
  std::vector<std::vector<std::int64_t>> waiting;
  for (const std::int64_t sample : order) {
    const std::size_t length = lengths[static_cast<std::size_t>(sample)];
    if (waiting.size() <= length)
      waiting.resize(length + 1);
    waiting[length].push_back(sample);
    deal(waiting[length], length);
  }
  std::vector<std::int64_t> rest;
  for (std::size_t length = 0; length < waiting.size(); ++length) {
    rest.insert(rest.end(), waiting[length].begin(), waiting[length].end());
    deal(rest, length);
  }
  return dealt;
}

} // namespace syncline::data
