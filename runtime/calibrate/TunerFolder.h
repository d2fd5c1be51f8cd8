// A folder with a tuner table, as in plans, that fixes the algorithms of a backend's links while a
// channel is opened.
#pragma once

#include "syncline/Status.h"

#include <optional>
#include <string>
#include <utility>

namespace syncline::calibrate {

/// A temporary folder of this process, removed with the object.
class TunerFolder {
public:
  /// Writes a table that selects `algorithm`, "ring" or "tree", for all-reduces of any length, and
  /// the ring for all-gather and reduce-scatter. Without `algorithm` the library chooses that of
  /// all-reduces. Errors: badInput where the folder cannot be made.
  static Result<TunerFolder> create(const std::optional<std::string> &algorithm);

  TunerFolder(TunerFolder &&other) noexcept : folder(std::exchange(other.folder, {})) {}
  TunerFolder &operator=(TunerFolder &&) = delete;
  ~TunerFolder();

  const std::string &path() const { return folder; }

private:
  explicit TunerFolder(std::string folder) : folder(std::move(folder)) {}
  std::string folder;
};

} // namespace syncline::calibrate
