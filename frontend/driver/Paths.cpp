// Where this installation keeps what the command needs.
#include "frontend/driver/Paths.h"

using namespace syncline;

std::filesystem::path driver::executableFolder() {
  std::error_code error;
  std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::filesystem::path() : path.parent_path();
}

std::string driver::runtimeIncludes() {
  std::filesystem::path installed = executableFolder().parent_path() / "include";
  std::error_code error;
  if (std::filesystem::exists(installed / "syncline" / "Step.h", error))
    return installed.string();
  return SYNCLINE_INCLUDES;
}
