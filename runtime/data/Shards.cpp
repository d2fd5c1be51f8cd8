// Opening files of inputs and targets, and reading samples from them.
#include "runtime/data/Shards.h"

#include "runtime/core/Labels.h"
#include "runtime/core/StepTypes.h"
#include "runtime/data/Convert.h"

#include <algorithm>

namespace syncline::data {
namespace {

/// The files of the first groups stay open, which saves two calls for each sample. The others are
/// opened for each sample: a folder may have more files than a process may have descriptors.
constexpr std::size_t keptShards = 128;

std::string countOf(const SampleFile &file) {
  return "'" + file.path() + "' has " + std::to_string(file.size()) + " samples";
}

Result<SampleFile> openInput(const std::string &path, const InputFormat &format,
                             const std::vector<std::size_t> &varied) {
  SYNCLINE_TRY_GET(file,
                   SampleFile::open(path, format.shape, "input '" + format.name + "'", {}, varied));
  Status s = Status::ok();
  if (format.rowCount > 0)
    s = file->checkRows(format.elementRows.empty() ? std::vector{format.rowCount}
                                                   : format.elementRows,
                        format.name);
  else if (format.isWhole)
    s = file->checkWhole(format.name);
  else if (format.type == ElementType::i64)
    s = file->checkRows({0}, format.name);
  return s ? std::move(file) : Result<SampleFile>(s);
}

} // namespace

/// The places of the file's samples along the dimensions of the length; 0 where it has none.
static std::int64_t placesIn(const SampleFile &file, const std::vector<std::size_t> &varied) {
  return varied.empty() ? 0 : file.sampleShape()[varied.front()];
}

Status Shards::openTarget(Shard &shard, const std::string &path, const SampleFormat &format,
                          const std::vector<std::size_t> &varied) {
  const bool hasPositions = format.classes && format.targetShape.size() > 1;
  const std::string hint =
      hasPositions ? "; 'syncline compile --classes-in' says where the output has its classes" : "";
  SYNCLINE_TRY_GET(target, SampleFile::open(path, format.targetShape, "the targets", hint, varied));
  shard.target = std::move(*target);
  return Status::ok();
}

Result<Shards::Shard> Shards::openShard(const SampleFiles &group, const SampleFormat &format,
                                        const Lengths &lengths) {
  const std::vector<std::size_t> none;
  Shard shard;
  for (std::size_t i = 0; i < format.inputs.size(); ++i) {
    const auto &varied = lengths.isEmpty() ? none : lengths.ofInput(i);
    SYNCLINE_TRY_GET(input, openInput(group.inputs[i], format.inputs[i], varied));
    shard.places = std::max(shard.places, placesIn(*input, varied));
    shard.inputs.push_back(std::move(*input));
  }
  const auto &varied = lengths.isEmpty() ? none : lengths.ofTarget();
  if (format.hasTargets)
    SYNCLINE_TRY(openTarget(shard, group.target, format, varied));
  const SampleFile &last = shard.target ? *shard.target : shard.inputs.back();
  const auto expectPlaces = [&](const SampleFile &file,
                                const std::vector<std::size_t> &dimensions) {
    const std::int64_t places = placesIn(file, dimensions);
    return places == 0 || places == shard.places
               ? Status::ok()
               : Status::badInput("'" + file.path() + "' has samples of " + std::to_string(places) +
                                  " places, files of the same samples have " +
                                  std::to_string(shard.places));
  };
  for (std::size_t i = 0; i < shard.inputs.size(); ++i) {
    if (shard.inputs[i].size() != last.size())
      return Status::badInput(countOf(shard.inputs[i]) + ", " + countOf(last));
    SYNCLINE_TRY(expectPlaces(shard.inputs[i], lengths.isEmpty() ? none : lengths.ofInput(i)));
  }
  if (shard.target)
    SYNCLINE_TRY(expectPlaces(*shard.target, varied));
  shard.length = lengths.isEmpty() ? 0 : lengths.holding(shard.places);
  return shard;
}

Result<std::unique_ptr<Shards>> Shards::open(const std::vector<SampleFiles> &groups,
                                             const SampleFormat &format,
                                             std::shared_ptr<const Preparation> preparation,
                                             const Lengths &lengths) {
  auto all = std::make_unique<Shards>();
  all->preparation = std::move(preparation);
  const auto ofSample = [](Shape shape) {
    shape.front() = 1;
    return shape;
  };
  for (const InputFormat &input : format.inputs) {
    all->inputTypes.push_back(input.type);
    all->inputShapes.push_back(ofSample(input.shape));
  }
  if (format.hasTargets) {
    all->targetType = format.targetType;
    all->targetShape = ofSample(format.targetShape);
    all->labelCount = format.classes ? core::elementCount(all->targetShape) : 0;
  }
  all->classCount = format.classCount;
  for (const SampleFiles &group : groups) {
    SYNCLINE_TRY_GET(shard, openShard(group, format, lengths));
    if (shard->target && format.classes)
      SYNCLINE_TRY(shard->target->checkClasses(format.classCount, format.classWeights));
    if (all->shards.size() >= keptShards) {
      if (shard->target)
        shard->target->letGo();
      std::ranges::for_each(shard->inputs, &SampleFile::letGo);
    }
    shard->end = all->size() + shard->size();
    all->shards.push_back(std::move(*shard));
  }
  return all;
}

Status Shards::readPadded(const SampleFile &file, std::int64_t place, ElementType type,
                          const Shape &shape, std::int64_t padding, std::byte *to) {
  const Shape &own = file.sampleShape();
  if (own == shape)
    return file.read(place, type, to);
  const std::int64_t bytes = core::elementBytes(type), count = core::elementCount(shape);
  static thread_local std::vector<std::byte> read; // kept from call to call
  read.resize(static_cast<std::size_t>(core::elementCount(own) * bytes));
  SYNCLINE_TRY(file.read(place, type, read.data()));
  const std::vector<std::int64_t> filling(static_cast<std::size_t>(count), padding);
  convert(reinterpret_cast<const std::byte *>(filling.data()), ElementType::i64, count, to, type);
  copyCorner(read.data(), own, to, shape, bytes);
  return Status::ok();
}

std::pair<const Shards::Shard *, std::int64_t> Shards::find(std::int64_t sample) const {
  const auto shard = std::ranges::upper_bound(shards, sample, {}, &Shard::end);
  return {&*shard, sample - (shard->end - shard->size())};
}

std::string Shards::nameOf(std::int64_t sample) const {
  const auto [shard, place] = find(sample);
  return "sample " + std::to_string(place) + " of '" + shard->inputs.front().path() + "'";
}

Status Shards::readInput(std::int64_t sample, std::size_t number, std::int64_t epoch,
                         std::byte *to) const {
  const auto [shard, place] = find(sample);
  const SampleFile &input = shard->inputs[number];
  if (!preparation)
    return readPadded(input, place, inputTypes[number], inputShapes[number], 0, to);
  static thread_local Image image; // kept from call to call: its memory is large
  image.resize(preparation->channels(), preparation->height(), preparation->width());
  Status s =
      input.read(place, ElementType::f32, reinterpret_cast<std::byte *>(image.values.data()));
  if (s)
    preparation->write(image, epoch, sample, to);
  return s;
}

/// Labels that pad a sample are ignored, too.
bool Shards::weighsLabels() const {
  return std::ranges::any_of(shards, [this](const Shard &s) {
    return s.target && (s.target->weighsLabels() || s.target->sampleShape() != targetShape);
  });
}

double Shards::weightOfLabels(std::int64_t sample) const {
  const auto [shard, place] = find(sample);
  return shard->target->weightOfLabels(place);
}

Status Shards::readTarget(std::int64_t sample, std::byte *to) const {
  const auto [shard, place] = find(sample);
  Status s = readPadded(*shard->target, place, targetType, targetShape, core::ignoredLabel, to);
  return s ? checkLabels(*shard, place, to) : s;
}

Status Shards::checkLabels(const Shard &shard, std::int64_t place, const std::byte *labels) const {
  const std::int64_t bytes = core::elementBytes(targetType);
  for (std::int64_t i = 0; i < labelCount; ++i) {
    std::int64_t label = 0;
    convert(labels + i * bytes, targetType, 1, reinterpret_cast<std::byte *>(&label),
            ElementType::i64);
    if (label != core::ignoredLabel && (label < 0 || (classCount > 0 && label >= classCount)))
      return Status::badInput("'" + shard.target->path() + "': sample " + std::to_string(place) +
                              ": expected a class from 0 to " +
                              (classCount > 0 ? std::to_string(classCount - 1) : "n") + ", got " +
                              std::to_string(label) + "; the file was changed while it was read");
  }
  return Status::ok();
}

} // namespace syncline::data
