// Listing, completing and removing checkpoints.
#include "runtime/run/checkpoint/CheckpointFolder.h"

#include "runtime/run/checkpoint/DurableFile.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <random>
#include <unistd.h>

namespace fs = std::filesystem;

namespace syncline::run {

Result<std::string> CheckpointFolder::readManifest(std::int64_t step) const {
  SYNCLINE_TRY_GET(file, data::InputFile::open(manifestOf(step), data::Links::refused));
  if (file->size() > CheckpointManifest::longest)
    return Status::badInput("'" + file->path() + "': expected at most " +
                            std::to_string(CheckpointManifest::longest) + " bytes, got " +
                            std::to_string(file->size()));
  std::string text(static_cast<std::size_t>(file->size()), '\0');
  const Status s = file->read(0, std::as_writable_bytes(std::span(text)));
  return s ? Result<std::string>(std::move(text)) : s;
}

std::vector<CheckpointFolder::Entry> CheckpointFolder::list() const {
  std::vector<Entry> found;
  std::error_code error;
  for (const fs::directory_entry &entry : fs::directory_iterator(path, error)) {
    const std::string name = entry.path().filename();
    std::int64_t step = 0;
    constexpr std::string_view prefix = "step";
    if (!name.starts_with(prefix) || !fs::is_directory(entry.symlink_status(error)))
      continue;
    const char *const end = name.data() + name.size();
    const auto [last, wrong] = std::from_chars(name.data() + prefix.size(), end, step);
    if (wrong == std::errc() && last == end && step >= 0 && name == "step" + std::to_string(step))
      found.push_back({step, fs::exists(fs::symlink_status(manifestOf(step), error))});
  }
  std::ranges::sort(found, std::greater(), &Entry::step);
  return found;
}

Status CheckpointFolder::complete(const CheckpointManifest &manifest) const {
  const std::string folder = of(manifest.step), text = manifest.text();
  // The files' names first, and the folder's own: a manifest promises them.
  for (const std::string &each : {folder, path})
    SYNCLINE_TRY(syncFolder(each));
  SYNCLINE_TRY_GET(file, DurableFile::create(manifestOf(manifest.step)));
  SYNCLINE_TRY(file->write(std::as_bytes(std::span(text))));
  SYNCLINE_TRY(file->commit());
  return syncFolder(folder);
}

/// Whether checkpoints have files of this name: "rank3.bin", "manifest.json.partial-01234567".
static bool isOwnName(std::string_view name) {
  name = name.substr(0, name.find(core::PartialFile::mark));
  if (name == CheckpointManifest::name)
    return true;
  if (!name.starts_with("rank") || !name.ends_with(".bin") || name.size() < 9)
    return false;
  return name.substr(4, name.size() - 8).find_first_not_of("0123456789") == std::string_view::npos;
}

void CheckpointFolder::remove(std::int64_t step) const {
  const int folder = open(of(step).c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0)
    return;
  unlinkat(folder, CheckpointManifest::name, 0);
  std::vector<std::string> names;
  if (DIR *const listed = fdopendir(folder)) {
    while (const dirent *entry = readdir(listed))
      if (isOwnName(entry->d_name))
        names.push_back(entry->d_name);
    std::error_code ignored;
    for (const std::string &name : names)
      if (unlinkat(folder, name.c_str(), 0) != 0) // a folder is in the way
        fs::remove_all(of(step) + "/" + name, ignored);
    closedir(listed); // and the folder's descriptor
  } else {
    close(folder);
  }
  rmdir(of(step).c_str());
}

Result<std::string> CheckpointFolder::makeToken() const {
  constexpr std::string_view prefix = ".seen-";
  std::error_code ignored;
  std::vector<fs::path> old;
  for (const fs::directory_entry &entry : fs::directory_iterator(path, ignored))
    if (entry.path().filename().string().starts_with(prefix))
      old.push_back(entry.path());
  for (const fs::path &each : old)
    unlink(each.c_str());
  const std::string token = std::string(prefix) + std::to_string(std::random_device()());
  const int file = open((path + "/" + token).c_str(),
                        O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file < 0)
    return Status::badInput("'" + path + "': cannot write: " + std::strerror(errno));
  close(file);
  return token;
}

void CheckpointFolder::prune(std::int64_t step, std::int64_t keep) const {
  std::int64_t complete = 0;
  for (const Entry &entry : list()) {
    if (entry.step > step)
      continue;
    complete += entry.hasManifest ? 1 : 0;
    if (!entry.hasManifest || complete > keep)
      remove(entry.step);
  }
}

} // namespace syncline::run
