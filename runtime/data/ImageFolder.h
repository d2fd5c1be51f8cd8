// Images in folders: one folder for each class.
#pragma once

#include "runtime/data/Preparation.h"
#include "runtime/data/SampleStore.h"

#include <memory>
#include <string>
#include <vector>

namespace syncline::data {

/// The images of all class folders, in the order of the folders' and the files' names, byte by
/// byte. The place of a folder among all of them is its class, as in torchvision's ImageFolder.
class ImageFolder : public SampleStore {
public:
  /// Lists the images without decoding them. Hidden folders are ignored. Errors: badInput, naming
  /// the folder, for one that cannot be listed, a class without images, more classes than the model
  /// has, and a model whose inputs are no images of one or three channels or whose targets are
  /// not one class each.
  static Result<std::unique_ptr<ImageFolder>> open(const std::string &folder,
                                                   const SampleFormat &format,
                                                   std::shared_ptr<const Preparation> preparation);

  const std::vector<std::string> &classes() const { return names; }
  /// Files in the class folders that are no images by their names.
  std::int64_t ignored() const { return others; }
  /// Folders in the class folders, whose images are not taken.
  std::int64_t ignoredFolders() const { return nested; }

  std::int64_t size() const override { return static_cast<std::int64_t>(files.size()); }
  std::string nameOf(std::int64_t sample) const override;
  Status readInput(std::int64_t sample, std::size_t number, std::int64_t epoch,
                   std::byte *to) const override;
  Status readTarget(std::int64_t sample, std::byte *to) const override;
  bool weighsLabels() const override { return !weights.empty(); }
  double weightOfLabels(std::int64_t sample) const override;

private:
  struct File {
    int label = 0;
    std::string name; ///< in the class's folder
  };
  Status addClass(const std::string &folder, const std::string &name);
  std::string pathOf(std::int64_t sample) const;

  std::string top;
  std::vector<std::string> names; ///< of the classes
  std::vector<File> files;
  std::int64_t others = 0, nested = 0;
  ElementType targetType = ElementType::i64;
  std::vector<double> weights; ///< of the classes; empty where all are 1
  std::shared_ptr<const Preparation> preparation;
};

/// The names of the folders in `folder` that are not hidden, sorted. Errors: badInput, also for a
/// link that leads nowhere.
Result<std::vector<std::string>> findFolders(const std::string &folder);

} // namespace syncline::data
