// Finding parts in the files of all ranks.
#include "runtime/run/checkpoint/CheckpointReader.h"

#include <algorithm>

namespace syncline::run {

Result<CheckpointReader> CheckpointReader::open(const CheckpointFolder &folder,
                                                const CheckpointManifest &manifest, int rank) {
  CheckpointReader reader;
  reader.name = folder.of(manifest.step);
  for (int i = 0; i < manifest.ranks; ++i) {
    // The rank's own file comes first, and the first part of a key counts.
    const int other = (rank + i) % manifest.ranks;
    SYNCLINE_TRY_GET(file, CheckpointFile::open(folder.fileOf(manifest.step, other)));
    for (const auto &[key, bytes] : file->parts()) {
      reader.places.try_emplace(key, Place{reader.files.size(), bytes});
      if (key.kind == CheckpointKey::Kind::optimizer)
        reader.slots.insert(key.slot);
    }
    reader.files.push_back(std::move(*file));
  }
  return reader;
}

Status CheckpointReader::missing(const CheckpointKey &key) const {
  return Status::badInput("checkpoint '" + name + "' has no values of " + describe(key) +
                          " that fit this plan");
}

Status CheckpointReader::read(const CheckpointKey &key, std::span<std::byte> to) {
  const auto found = places.find(key);
  if (found == places.end() || found->second.bytes != static_cast<std::int64_t>(to.size()))
    return missing(key);
  return files[found->second.file].read(key, 0, to);
}

Status CheckpointReader::readMoment(const std::string &parameter, int slot, std::int64_t begin,
                                    std::span<std::byte> to) {
  CheckpointKey wanted{CheckpointKey::Kind::optimizer, parameter, slot, begin};
  while (!to.empty()) {
    // The last part that begins at or before the wanted byte.
    auto found = places.upper_bound(wanted);
    if (found == places.begin())
      return missing(wanted);
    const auto &[key, place] = *--found;
    const std::int64_t from = wanted.begin - key.begin, left = place.bytes - from;
    if (key.kind != wanted.kind || key.name != parameter || key.slot != slot || left <= 0)
      return missing(wanted);
    const auto count = std::min(to.size(), static_cast<std::size_t>(left));
    SYNCLINE_TRY(files[place.file].read(key, from, to.first(count)));
    to = to.subspan(count);
    wanted.begin += static_cast<std::int64_t>(count);
  }
  return Status::ok();
}

} // namespace syncline::run
