// Listing class folders, and reading their images.
#include "runtime/data/ImageFolder.h"

#include "runtime/core/StepTypes.h"
#include "runtime/data/Convert.h"
#include "runtime/data/ImageFile.h"

#include <algorithm>
#include <filesystem>

namespace syncline::data {
namespace fs = std::filesystem;

namespace {

/// Names of what is in a folder and not hidden, sorted.
struct Listing {
  std::vector<std::string> folders, files;
};

/// A link that leads nowhere may have been a folder, so it is an error.
Result<Listing> list(const std::string &folder) {
  Listing listing;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::string name = entry->path().filename().string();
    if (name.starts_with('.'))
      continue;
    std::error_code unread;
    const bool isFolder = entry->is_directory(unread);
    if (unread)
      return Status::badInput("'" + folder + "/" + name + "': cannot read: " + unread.message());
    (isFolder ? listing.folders : listing.files).push_back(std::move(name));
  }
  if (error)
    return Status::badInput("'" + folder + "': cannot list: " + error.message());
  std::ranges::sort(listing.folders);
  std::ranges::sort(listing.files);
  return listing;
}

} // namespace

Result<std::vector<std::string>> findFolders(const std::string &folder) {
  SYNCLINE_TRY_GET(found, list(folder));
  return std::move(found->folders);
}

Status ImageFolder::addClass(const std::string &folder, const std::string &name) {
  SYNCLINE_TRY_GET(found, list(folder));
  nested += static_cast<std::int64_t>(found->folders.size());
  const auto before = files.size();
  for (std::string &file : found->files)
    if (isImageName(file))
      files.push_back({static_cast<int>(names.size()), std::move(file)});
    else
      ++others;
  names.push_back(name);
  return files.size() > before
             ? Status::ok()
             : Status::badInput("'" + folder + "': expected .jpg or .png files, got none");
}

Result<std::unique_ptr<ImageFolder>>
ImageFolder::open(const std::string &folder, const SampleFormat &format,
                  std::shared_ptr<const Preparation> preparation) {
  if (preparation->channels() != 1 && preparation->channels() != 3)
    return Status::badInput("'" + folder + "': images have 1 or 3 channels, the model's samples " +
                            std::to_string(preparation->channels()));
  if (!format.hasTargets)
    return Status::badInput("'" + folder +
                            "': images in folders have one class each, but the model computes its "
                            "loss from inputs alone");
  if (!format.classes || core::elementCount(format.targetShape) != format.targetShape[0])
    return Status::badInput("'" + folder +
                            "': images in folders have one class each, but the "
                            "model's targets are none");
  SYNCLINE_TRY_GET(found, findFolders(folder));
  const auto count = static_cast<std::int64_t>(found->size());
  if (format.classCount > 0 && count > format.classCount)
    return Status::badInput("'" + folder + "' has " + std::to_string(count) +
                            " class folders, the model " + std::to_string(format.classCount) +
                            " classes");
  auto all = std::make_unique<ImageFolder>();
  all->top = folder;
  all->targetType = format.targetType;
  all->weights = format.classWeights;
  all->preparation = std::move(preparation);
  for (const std::string &name : *found)
    SYNCLINE_TRY(all->addClass(folder + "/" + name, name));
  return all;
}

std::string ImageFolder::pathOf(std::int64_t sample) const {
  const File &file = files[static_cast<std::size_t>(sample)];
  return top + "/" + names[static_cast<std::size_t>(file.label)] + "/" + file.name;
}

std::string ImageFolder::nameOf(std::int64_t sample) const { return "'" + pathOf(sample) + "'"; }

Status ImageFolder::readInput(std::int64_t sample, std::size_t /*number*/, std::int64_t epoch,
                              std::byte *to) const {
  static thread_local Image image; // kept from call to call: its memory is large
  SYNCLINE_TRY(readImage(pathOf(sample), preparation->channels(), image));
  preparation->write(image, epoch, sample, to);
  constexpr std::size_t kept = std::size_t{1} << 26; // values; a larger image is an exception
  if (image.values.capacity() > kept)
    image = {};
  return Status::ok();
}

Status ImageFolder::readTarget(std::int64_t sample, std::byte *to) const {
  const std::int64_t label = files[static_cast<std::size_t>(sample)].label;
  convert(reinterpret_cast<const std::byte *>(&label), ElementType::i64, 1, to, targetType);
  return Status::ok();
}

double ImageFolder::weightOfLabels(std::int64_t sample) const {
  const auto label = static_cast<std::size_t>(files[static_cast<std::size_t>(sample)].label);
  return weights.empty() ? 1 : weights.at(label);
}

} // namespace syncline::data
