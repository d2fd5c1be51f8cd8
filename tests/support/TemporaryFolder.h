// A folder for one test's files.
#pragma once

#include <filesystem>
#include <stdlib.h>
#include <string>

namespace syncline::test {

/// A folder that is removed with the object.
class TemporaryFolder {
public:
  TemporaryFolder() : path(std::filesystem::temp_directory_path() / "syncline-test-XXXXXX") {
    mkdtemp(path.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  std::string file(const std::string &name) const { return path + "/" + name; }

  std::string path;
};

} // namespace syncline::test
