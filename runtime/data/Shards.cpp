// Finding and opening pairs of files.
#include "runtime/data/Shards.h"

#include <algorithm>
#include <filesystem>
#include <map>

namespace syncline::data {
namespace {

namespace fs = std::filesystem;

/// The first files stay open, which saves two calls for each sample. The others are opened for each
/// sample, so that a folder may have more files than a process may have descriptors.
constexpr std::size_t keptShards = 128;

constexpr std::string_view endings[] = {"-x.npy", "-y.npy"};

std::string countOf(const SampleFile &file) {
  return "'" + file.path() + "' has " + std::to_string(file.size()) + " samples";
}

} // namespace

Result<std::vector<FilePair>> findShards(const std::string &folder) {
  std::map<std::string, FilePair> found;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.ends_with(".npy"))
      continue;
    const bool isX = name.ends_with(endings[0]);
    if (!isX && !name.ends_with(endings[1]))
      return Status::badInput("'" + entry->path().string() +
                              "': expected a name that ends in '-x.npy' or '-y.npy'");
    FilePair &pair = found[name.substr(0, name.size() - endings[0].size())];
    (isX ? pair.first : pair.second) = entry->path().string();
  }
  if (error)
    return Status::badInput("'" + folder + "': cannot list: " + error.message());
  std::vector<FilePair> pairs;
  for (auto &[name, pair] : found) {
    if (pair.first.empty() || pair.second.empty())
      return Status::badInput("'" + (pair.first.empty() ? pair.second : pair.first) +
                              "': expected a file '" + name +
                              std::string(endings[pair.first.empty() ? 0 : 1]) + "' beside it");
    pairs.push_back(std::move(pair));
  }
  if (pairs.empty())
    return Status::badInput("'" + folder + "': expected pairs of files 'NAME-x.npy' and " +
                            "'NAME-y.npy', or a folder of images for each class");
  return pairs;
}

Result<std::unique_ptr<Shards>> Shards::open(const std::vector<FilePair> &pairs,
                                             const SampleFormat &format,
                                             std::shared_ptr<const Preparation> preparation) {
  auto all = std::make_unique<Shards>();
  all->preparation = std::move(preparation);
  all->inputType = format.inputType;
  all->targetType = format.targetType;
  for (const auto &[xPath, yPath] : pairs) {
    Result<SampleFile> x = SampleFile::open(xPath, format.inputShape);
    if (!x)
      return x.status();
    Result<SampleFile> y = SampleFile::open(yPath, format.targetShape);
    if (!y)
      return y.status();
    if (x->size() != y->size())
      return Status::badInput(countOf(*x) + ", " + countOf(*y));
    if (format.classes)
      if (Status s = y->checkClasses(format.classCount); !s)
        return s;
    if (format.rowCount > 0)
      if (Status s = x->checkRows(format.rowCount, format.inputName); !s)
        return s;
    if (all->shards.size() >= keptShards) {
      x->letGo();
      y->letGo();
    }
    const std::int64_t end = all->size() + x->size();
    all->shards.push_back({std::move(*x), std::move(*y), end});
  }
  return all;
}

std::pair<const Shards::Shard *, std::int64_t> Shards::find(std::int64_t sample) const {
  const auto shard = std::ranges::upper_bound(shards, sample, {}, &Shard::end);
  return {&*shard, sample - (shard->end - shard->x.size())};
}

std::string Shards::nameOf(std::int64_t sample) const {
  const auto [shard, place] = find(sample);
  return "sample " + std::to_string(place) + " of '" + shard->x.path() + "'";
}

Status Shards::readInput(std::int64_t sample, std::int64_t epoch, std::byte *to) const {
  const auto [shard, place] = find(sample);
  if (!preparation)
    return shard->x.read(place, inputType, to);
  static thread_local Image image; // kept from call to call: its memory is large
  image.resize(preparation->channels(), preparation->height(), preparation->width());
  Status s =
      shard->x.read(place, ElementType::f32, reinterpret_cast<std::byte *>(image.values.data()));
  if (s)
    preparation->write(image, epoch, sample, to);
  return s;
}

Status Shards::readTarget(std::int64_t sample, std::byte *to) const {
  const auto [shard, place] = find(sample);
  return shard->y.read(place, targetType, to);
}

} // namespace syncline::data
