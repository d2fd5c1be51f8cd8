// Opening data sets and reading batches of them.
#include "runtime/data/Dataset.h"

#include "runtime/core/StepTypes.h"
#include "runtime/data/Convert.h"
#include "runtime/data/ImageFolder.h"
#include "runtime/data/RandomStream.h"
#include "runtime/data/Shards.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

namespace syncline::data {
namespace {

std::int64_t sampleBytes(const Shape &shape, ElementType type) {
  return core::elementCount({shape.begin() + 1, shape.end()}) * core::elementBytes(type);
}

/// Whether `where` is a folder with folders and without .npy files.
Result<bool> isImageFolder(const std::string &where) {
  std::error_code error;
  if (!std::filesystem::is_directory(where, error))
    return false;
  for (std::filesystem::directory_iterator entry(where, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
    if (entry->path().extension() == ".npy")
      return false;
  const Result<std::vector<std::string>> folders = findFolders(where);
  return folders ? Result<bool>(!folders->empty()) : folders.status();
}

Result<std::vector<SampleFiles>> findFiles(const std::string &where, const SampleFormat &format) {
  if (std::error_code error; std::filesystem::is_directory(where, error))
    return findShards(where, format);
  SYNCLINE_TRY_GET(files, parseFiles(where, format));
  return std::vector<SampleFiles>{std::move(*files)};
}

template <typename Draw>
void append(const Shape &shape, ElementType type, std::vector<std::byte> &to, Draw &&draw) {
  std::vector<double> values(static_cast<std::size_t>(core::elementCount(shape)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = draw(i);
  const std::size_t begin = to.size();
  to.resize(begin + values.size() * static_cast<std::size_t>(core::elementBytes(type)));
  convert(reinterpret_cast<const std::byte *>(values.data()), ElementType::f64,
          static_cast<std::int64_t>(values.size()), to.data() + begin, type);
}

/// The rows of the smallest table that the values of the model's input number, in whichever form.
std::int64_t rowsOf(const SampleFormat &format, const std::string &name) {
  std::int64_t rows = 0;
  for (const InputFormat &input : format.inputs)
    if (input.name == name && input.rowCount > 0)
      rows = rows > 0 ? std::min(rows, input.rowCount) : input.rowCount;
  return rows;
}

} // namespace

Result<Dataset> Dataset::open(const std::string &where, const SampleFormat &format,
                              const ImageOptions &images, const Lengths &lengths) {
  SYNCLINE_TRY_GET(hasFolders, isImageFolder(where));
  if (!lengths.isEmpty() && (*hasFolders || images.isAny()))
    return Status::badInput("'" + where + "': images do not have several lengths");
  std::shared_ptr<const Preparation> preparation;
  if (*hasFolders || images.isAny()) {
    auto made = Preparation::create(images, format);
    if (!made)
      return Status::error(made.status().kind(), "'" + where + "': " + made.status().message());
    preparation = std::move(*made);
  }
  Dataset set;
  set.hasClassWeights = !format.classWeights.empty();
  for (const InputFormat &input : format.inputs)
    set.inputBytes.push_back(sampleBytes(input.shape, input.type));
  set.targetBytes = format.hasTargets ? sampleBytes(format.targetShape, format.targetType) : 0;
  if (*hasFolders) {
    SYNCLINE_TRY_GET(opened, ImageFolder::open(where, format, std::move(preparation)));
    set.classNames = (*opened)->classes();
    set.ignored = (*opened)->ignored();
    set.nested = (*opened)->ignoredFolders();
    set.store = std::move(*opened);
    return set;
  }
  SYNCLINE_TRY_GET(files, findFiles(where, format));
  SYNCLINE_TRY_GET(opened, Shards::open(*files, format, std::move(preparation), lengths));
  set.ofSamples = lengths;
  set.store = std::move(*opened);
  return set;
}

std::span<const std::byte> HostBatch::input(const SampleFormat &format, std::size_t number) const {
  std::size_t begin = 0, size = 0;
  for (std::size_t i = 0; i <= number; ++i) {
    begin += size;
    const InputFormat &input = format.inputs[i];
    size =
        static_cast<std::size_t>(core::elementCount(input.shape) * core::elementBytes(input.type));
  }
  return std::span(inputs).subspan(begin, size);
}

std::vector<std::uint8_t> Dataset::lengths() const {
  std::vector<std::uint8_t> all(static_cast<std::size_t>(ofSamples.isEmpty() ? 0 : size()));
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<std::uint8_t>(store->lengthOf(static_cast<std::int64_t>(i)));
  return all;
}

Status Dataset::read(const Samples &samples, HostBatch &batch) const {
  batch.length = samples.length;
  return samples.length == longest() ? readLongest(samples, batch) : readCut(samples, batch);
}

/// Reads samples as the longest, and leaves out padding behind their batch's length.
Status Dataset::readCut(const Samples &samples, HostBatch &batch) const {
  static thread_local HostBatch whole; // kept from call to call
  SYNCLINE_TRY(readLongest(samples, whole));
  const SampleFormat &longest = ofSamples.format(ofSamples.count() - 1);
  const SampleFormat &wanted = ofSamples.format(samples.length);
  const auto cut = [&](std::span<const std::byte> from, const Shape &fromShape, const Shape &shape,
                       ElementType type, std::vector<std::byte> &to) {
    Shape all = fromShape, part = shape;
    all.front() = part.front() = std::ssize(samples.indices);
    const std::int64_t bytes = core::elementBytes(type);
    const std::size_t begin = to.size();
    to.resize(begin + static_cast<std::size_t>(core::elementCount(part) * bytes));
    copyCorner(from.data(), all, to.data() + begin, part, bytes);
  };
  batch.inputs.clear();
  batch.targets.clear();
  for (std::size_t i = 0; i < longest.inputs.size(); ++i)
    cut(whole.input(longest, i), longest.inputs[i].shape, wanted.inputs[i].shape,
        longest.inputs[i].type, batch.inputs);
  if (targetBytes > 0)
    cut(whole.targets, longest.targetShape, wanted.targetShape, longest.targetType, batch.targets);
  return Status::ok();
}

Status Dataset::readLongest(const Samples &samples, HostBatch &batch) const {
  const std::size_t count = samples.indices.size();
  const std::int64_t bytes = std::accumulate(inputBytes.begin(), inputBytes.end(), std::int64_t{0});
  batch.inputs.resize(count * static_cast<std::size_t>(bytes));
  batch.targets.resize(count * static_cast<std::size_t>(targetBytes));
  std::byte *to = batch.inputs.data();
  for (std::size_t number = 0; number < inputBytes.size(); ++number)
    for (const std::int64_t sample : samples.indices) {
      SYNCLINE_TRY(store->readInput(sample, number, samples.epoch, to));
      to += inputBytes[number];
    }
  if (targetBytes == 0) // the format has none
    return Status::ok();
  to = batch.targets.data();
  for (const std::int64_t sample : samples.indices) {
    SYNCLINE_TRY(store->readTarget(sample, to));
    to += targetBytes;
  }
  return Status::ok();
}

double Dataset::weightOfLabels(std::span<const std::int64_t> samples) const {
  double weight = 0;
  for (const std::int64_t sample : samples)
    weight += store->weightOfLabels(sample);
  return weight;
}

void fillSynthetic(const SampleFormat &format, std::uint64_t seed, int rank, HostBatch &batch) {
  batch = {};
  const std::string end = " " + std::to_string(rank);
  for (const InputFormat &input : format.inputs) {
    const bool isFirst = input.name == format.inputs.front().name;
    const RandomStream x(seed, (isFirst ? "inputs" : "inputs " + input.name) + end);
    const std::int64_t rows = rowsOf(format, input.name);
    append(input.shape, input.type, batch.inputs, [&](auto i) -> double {
      if (rows > 0)
        return static_cast<double>(x.below(i, rows));
      const bool isBegin = static_cast<std::int64_t>(i) % input.shape.back() == 0;
      const bool isWhole = input.isWhole || input.type == ElementType::i64;
      return !isWhole ? x.normal(i) : isBegin ? 1 : static_cast<double>(x.below(i, 2));
    });
  }
  if (!format.hasTargets)
    return;
  const RandomStream y(seed, "targets" + end);
  const std::int64_t classes = std::max<std::int64_t>(format.classCount, 1);
  append(format.targetShape, format.targetType, batch.targets, [&](auto i) {
    return format.classes ? static_cast<double>(y.below(i, classes)) : y.normal(i);
  });
}

} // namespace syncline::data
