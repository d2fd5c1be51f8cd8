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

Result<SampleFile> openInput(const std::string &path, const InputFormat &format) {
  SYNCLINE_TRY_GET(file, SampleFile::open(path, format.shape, "input '" + format.name + "'"));
  Status s = Status::ok();
  if (format.rowCount > 0)
    s = file->checkRows(format.elementRows.empty() ? std::vector{format.rowCount}
                                                   : format.elementRows,
                        format.name);
  else if (format.isWhole)
    s = file->checkWhole(format.name);
  return s ? std::move(file) : Result<SampleFile>(s);
}

} // namespace

Result<std::unique_ptr<Shards>> Shards::open(const std::vector<SampleFiles> &groups,
                                             const SampleFormat &format,
                                             std::shared_ptr<const Preparation> preparation) {
  auto all = std::make_unique<Shards>();
  all->preparation = std::move(preparation);
  for (const InputFormat &input : format.inputs)
    all->inputTypes.push_back(input.type);
  all->targetType = format.targetType;
  all->labelCount =
      format.classes ? core::elementCount(format.targetShape) / format.targetShape.front() : 0;
  all->classCount = format.classCount;
  const bool hasPositions = format.classes && format.targetShape.size() > 1;
  const std::string hint =
      hasPositions ? "; 'syncline compile --classes-in' says where the output has its classes" : "";
  for (const SampleFiles &group : groups) {
    std::vector<SampleFile> inputs;
    for (std::size_t i = 0; i < format.inputs.size(); ++i) {
      SYNCLINE_TRY_GET(input, openInput(group.inputs[i], format.inputs[i]));
      inputs.push_back(std::move(*input));
    }
    SYNCLINE_TRY_GET(target,
                     SampleFile::open(group.target, format.targetShape, "the targets", hint));
    for (const SampleFile &input : inputs)
      if (input.size() != target->size())
        return Status::badInput(countOf(input) + ", " + countOf(*target));
    Shard shard{std::move(inputs), std::move(*target), 0};
    if (format.classes)
      SYNCLINE_TRY(shard.target.checkClasses(format.classCount));
    if (all->shards.size() >= keptShards) {
      shard.target.letGo();
      std::ranges::for_each(shard.inputs, &SampleFile::letGo);
    }
    shard.end = all->size() + shard.target.size();
    all->shards.push_back(std::move(shard));
  }
  return all;
}

std::pair<const Shards::Shard *, std::int64_t> Shards::find(std::int64_t sample) const {
  const auto shard = std::ranges::upper_bound(shards, sample, {}, &Shard::end);
  return {&*shard, sample - (shard->end - shard->target.size())};
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
    return input.read(place, inputTypes[number], to);
  static thread_local Image image; // kept from call to call: its memory is large
  image.resize(preparation->channels(), preparation->height(), preparation->width());
  Status s =
      input.read(place, ElementType::f32, reinterpret_cast<std::byte *>(image.values.data()));
  if (s)
    preparation->write(image, epoch, sample, to);
  return s;
}

bool Shards::ignoresLabels() const {
  return std::ranges::any_of(shards, [](const Shard &s) { return s.target.ignoresLabels(); });
}

std::int64_t Shards::countedLabels(std::int64_t sample) const {
  const auto [shard, place] = find(sample);
  return shard->target.countedLabels(place);
}

Status Shards::readTarget(std::int64_t sample, std::byte *to) const {
  const auto [shard, place] = find(sample);
  Status s = shard->target.read(place, targetType, to);
  return s ? checkLabels(*shard, place, to) : s;
}

Status Shards::checkLabels(const Shard &shard, std::int64_t place, const std::byte *labels) const {
  const std::int64_t bytes = core::elementBytes(targetType);
  for (std::int64_t i = 0; i < labelCount; ++i) {
    std::int64_t label = 0;
    convert(labels + i * bytes, targetType, 1, reinterpret_cast<std::byte *>(&label),
            ElementType::i64);
    if (label != core::ignoredLabel && (label < 0 || (classCount > 0 && label >= classCount)))
      return Status::badInput("'" + shard.target.path() + "': sample " + std::to_string(place) +
                              ": expected a class from 0 to " +
                              (classCount > 0 ? std::to_string(classCount - 1) : "n") + ", got " +
                              std::to_string(label) + "; the file was changed while it was read");
  }
  return Status::ok();
}

} // namespace syncline::data
