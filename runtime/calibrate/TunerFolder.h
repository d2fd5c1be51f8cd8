// What a backend's links are to choose, as plans say it: a folder with a table, for as long as a
// channel is opened.
#pragma once

#include "syncline/Status.h"

#include <string>
#include <utility>

namespace syncline::calibrate {

/// Of this process. Removed with the object.
class TunerFolder {
public:
  /// All-reduces of any length by `algorithm`, "ring" or "tree"; what gathers and scatters, by the
  /// ring. Errors: badInput where there is no place for it.
  static Result<TunerFolder> create(const std::string &algorithm);

  TunerFolder(TunerFolder &&other) noexcept : folder(std::exchange(other.folder, {})) {}
  TunerFolder &operator=(TunerFolder &&) = delete;
  ~TunerFolder();

  const std::string &path() const { return folder; }

private:
  explicit TunerFolder(std::string folder) : folder(std::move(folder)) {}
  std::string folder;
};

} // namespace syncline::calibrate
