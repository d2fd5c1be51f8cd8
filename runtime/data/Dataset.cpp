// Opening data sets and reading batches of them.
#include "runtime/data/Dataset.h"

#include "runtime/core/StepTypes.h"
#include "runtime/data/Convert.h"
#include "runtime/data/ImageFolder.h"
#include "runtime/data/RandomStream.h"
#include "runtime/data/Shards.h"

#include <algorithm>
#include <filesystem>

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

Result<std::vector<FilePair>> findPairs(const std::string &where) {
  if (std::error_code error; std::filesystem::is_directory(where, error))
    return findShards(where);
  const std::size_t comma = where.find(',');
  if (comma == std::string::npos || where.find(',', comma + 1) != std::string::npos)
    return Status::error(ErrorKind::badUsage,
                         "expected two files 'X,Y' or a folder as data, got '" + where + "'");
  return std::vector<FilePair>{{where.substr(0, comma), where.substr(comma + 1)}};
}

template <typename Draw>
void fill(const Shape &shape, ElementType type, std::vector<std::byte> &to, Draw &&draw) {
  std::vector<double> values(static_cast<std::size_t>(core::elementCount(shape)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = draw(i);
  to.resize(values.size() * static_cast<std::size_t>(core::elementBytes(type)));
  convert(reinterpret_cast<const std::byte *>(values.data()), ElementType::f64,
          static_cast<std::int64_t>(values.size()), to.data(), type);
}

} // namespace

Result<Dataset> Dataset::open(const std::string &where, const SampleFormat &format,
                              const ImageOptions &images) {
  const Result<bool> hasFolders = isImageFolder(where);
  if (!hasFolders)
    return hasFolders.status();
  std::shared_ptr<const Preparation> preparation;
  if (*hasFolders || images.isAny()) {
    auto made = Preparation::create(images, format);
    if (!made)
      return Status::error(made.status().kind(), "'" + where + "': " + made.status().message());
    preparation = std::move(*made);
  }
  Dataset set;
  set.inputBytes = sampleBytes(format.inputShape, format.inputType);
  set.targetBytes = sampleBytes(format.targetShape, format.targetType);
  if (*hasFolders) {
    auto opened = ImageFolder::open(where, format, std::move(preparation));
    if (!opened)
      return opened.status();
    set.classNames = (*opened)->classes();
    set.ignored = (*opened)->ignored();
    set.store = std::move(*opened);
    return set;
  }
  const Result<std::vector<FilePair>> pairs = findPairs(where);
  if (!pairs)
    return pairs.status();
  auto opened = Shards::open(*pairs, format, std::move(preparation));
  if (!opened)
    return opened.status();
  set.store = std::move(*opened);
  return set;
}

Status Dataset::read(const Samples &samples, HostBatch &batch) const {
  batch.inputs.resize(samples.indices.size() * static_cast<std::size_t>(inputBytes));
  batch.targets.resize(samples.indices.size() * static_cast<std::size_t>(targetBytes));
  std::byte *input = batch.inputs.data(), *target = batch.targets.data();
  for (const std::int64_t sample : samples.indices) {
    if (Status s = store->readInput(sample, samples.epoch, input); !s)
      return s;
    if (Status s = store->readTarget(sample, target); !s)
      return s;
    input += inputBytes;
    target += targetBytes;
  }
  return Status::ok();
}

void fillSynthetic(const SampleFormat &format, std::uint64_t seed, int rank, HostBatch &batch) {
  const RandomStream x(seed, "inputs " + std::to_string(rank)),
      y(seed, "targets " + std::to_string(rank));
  fill(format.inputShape, format.inputType, batch.inputs, [&](auto i) {
    return format.rowCount > 0 ? static_cast<double>(x.below(i, format.rowCount)) : x.normal(i);
  });
  const std::int64_t classes = std::max<std::int64_t>(format.classCount, 1);
  fill(format.targetShape, format.targetType, batch.targets, [&](auto i) {
    return format.classes ? static_cast<double>(y.below(i, classes)) : y.normal(i);
  });
}

} // namespace syncline::data
