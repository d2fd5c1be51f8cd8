// Checking and converting samples, and choosing them for a step.
#include "runtime/data/Dataset.h"

#include "runtime/core/StepTypes.h"
#include "runtime/data/Csv.h"
#include "runtime/data/HalfFloat.h"
#include "runtime/data/Npy.h"
#include "runtime/data/RandomStream.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <numeric>

namespace syncline::data {
namespace {

template <typename T> void store(std::byte *to, std::int64_t i, T value) {
  std::memcpy(to + i * sizeof(T), &value, sizeof(T));
}

void put(ElementType type, std::byte *to, std::int64_t i, double value) {
  switch (type) {
  case ElementType::f32:
    return store(to, i, static_cast<float>(value));
  case ElementType::f64:
    return store(to, i, value);
  case ElementType::f16:
    return store(to, i, f16FromFloat(static_cast<float>(value)));
  case ElementType::bf16:
    return store(to, i, bf16FromFloat(static_cast<float>(value)));
  case ElementType::i64:
    return store(to, i, static_cast<std::int64_t>(value));
  case ElementType::i32:
    return store(to, i, static_cast<std::int32_t>(value));
  case ElementType::u8:
    return store(to, i, static_cast<std::uint8_t>(value));
  }
}

Result<Array> openAny(const std::string &path) {
  // Only regular files are read, because reading a pipe or a device could block forever.
  if (std::error_code error;
      std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error))
    return Status::badInput("'" + path + "': cannot open: it is not a regular file");
  if (path.ends_with(".npy"))
    return openNpy(path);
  if (path.ends_with(".csv"))
    return readCsv(path);
  return Status::badInput("'" + path + "': expected a .npy or a .csv file");
}

Shape sampleShape(const Shape &shape) { return {shape.begin() + 1, shape.end()}; }

/// Checks that the array's samples have the wanted shape. A CSV line has the values without a
/// shape, and a single label may be a column of one value.
Status checkShape(const Array &array, const Shape &wanted) {
  if (array.shape.empty())
    return Status::badInput("'" + array.path + "': expected samples along a first dimension");
  Shape have = sampleShape(array.shape), want = sampleShape(wanted);
  bool flat = array.path.ends_with(".csv") || (want.empty() && have.size() == 1);
  if (flat ? core::elementCount(have) == core::elementCount(want) : have == want)
    return Status::ok();
  return Status::badInput("'" + array.path + "': expected samples of shape " + describe(want) +
                          ", got " + describe(have));
}

Status checkClasses(const Array &y, std::int64_t classes) {
  for (std::int64_t i = 0; i < y.count(); ++i) {
    double label = y.at(i);
    if (label == std::floor(label) && label >= 0 &&
        (classes <= 0 || label < static_cast<double>(classes)))
      continue;
    std::string text = std::to_string(label);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.'))
      text.pop_back();
    return Status::badInput("'" + y.path + "': element " + std::to_string(i) +
                            ": expected a class from 0 to " +
                            (classes > 0 ? std::to_string(classes - 1) : "n") + ", got " + text);
  }
  return Status::ok();
}

void convert(const Array &from, std::int64_t sample, std::int64_t count, ElementType type,
             std::byte *to) {
  if (from.type == type) {
    std::int64_t bytes = count * core::elementBytes(type);
    std::memcpy(to, from.data + sample * bytes, bytes);
    return;
  }
  for (std::int64_t i = 0; i < count; ++i)
    put(type, to, i, from.at(sample * count + i));
}

} // namespace

Result<Dataset> Dataset::open(const std::string &pair, const SampleFormat &format) {
  std::size_t comma = pair.find(',');
  if (comma == std::string::npos || pair.find(',', comma + 1) != std::string::npos)
    return Status::error(ErrorKind::badUsage,
                         "expected two files 'X,Y' as data, got '" + pair + "'");
  Result<Array> x = openAny(pair.substr(0, comma)), y = openAny(pair.substr(comma + 1));
  for (const Result<Array> *array : {&x, &y})
    if (!*array)
      return array->status();
  for (auto [array, shape] : {std::pair(&*x, &format.inputShape), {&*y, &format.targetShape}})
    if (Status s = checkShape(*array, *shape); !s)
      return s;
  if (x->shape[0] != y->shape[0])
    return Status::badInput("'" + x->path + "' has " + std::to_string(x->shape[0]) + " samples, '" +
                            y->path + "' has " + std::to_string(y->shape[0]));
  if (format.classes)
    if (Status s = checkClasses(*y, format.classCount); !s)
      return s;
  Dataset set;
  set.samples = x->shape[0];
  set.x = std::move(*x);
  set.y = std::move(*y);
  set.format = format;
  return set;
}

void Dataset::read(std::span<const std::int64_t> indices, std::byte *inputs,
                   std::byte *targets) const {
  std::int64_t xCount = core::elementCount(sampleShape(format.inputShape));
  std::int64_t yCount = core::elementCount(sampleShape(format.targetShape));
  for (std::int64_t i : indices) {
    convert(x, i, xCount, format.inputType, inputs);
    convert(y, i, yCount, format.targetType, targets);
    inputs += xCount * core::elementBytes(format.inputType);
    targets += yCount * core::elementBytes(format.targetType);
  }
}

Sampler::Sampler(std::int64_t samples, int ranks, int rank, std::int64_t batch, bool shuffle,
                 std::uint64_t seed)
    : samples(samples), ranks(ranks), rank(rank), batch(batch), batches(samples / (ranks * batch)),
      shuffle(shuffle), seed(seed), order(samples) {
  std::iota(order.begin(), order.end(), 0);
}

void Sampler::beginEpoch(std::int64_t number) {
  epoch = number;
  if (!shuffle)
    return;
  std::iota(order.begin(), order.end(), 0);
  RandomStream random(seed, "shuffle " + std::to_string(number));
  for (std::int64_t i = samples - 1; i > 0; --i)
    std::swap(order[i], order[random.below(i, i + 1)]);
}

std::span<const std::int64_t> Sampler::indices(std::int64_t step) {
  if (step / batches != epoch)
    beginEpoch(step / batches);
  std::int64_t block = step % batches * ranks + rank;
  return std::span(order).subspan(block * batch, batch);
}

void fillSynthetic(const SampleFormat &format, std::uint64_t seed, int rank, std::byte *inputs,
                   std::byte *targets) {
  RandomStream x(seed, "inputs " + std::to_string(rank)),
      y(seed, "targets " + std::to_string(rank));
  for (std::int64_t i = 0; i < core::elementCount(format.inputShape); ++i)
    put(format.inputType, inputs, i, x.normal(i));
  std::int64_t classes = std::max<std::int64_t>(format.classCount, 1);
  for (std::int64_t i = 0; i < core::elementCount(format.targetShape); ++i)
    put(format.targetType, targets, i,
        format.classes ? static_cast<double>(y.below(i, classes)) : y.normal(i));
}

} // namespace syncline::data
