// Unique names, renaming, removal.
#include "codegen/json/PartialFolder.h"

#include "llvm/Support/FileSystem.h"

#include <filesystem>

namespace fs = std::filesystem;

namespace syncline {

static Status bad(const std::string &path, const std::string &what) {
  return Status::badInput("'" + path + "': " + what);
}

PartialFolder::~PartialFolder() {
  std::error_code ignored;
  if (!path.empty())
    fs::remove_all(path, ignored);
}

Status PartialFolder::create(const std::string &target) {
  llvm::SmallString<128> unique;
  llvm::sys::fs::createUniquePath(target + ".partial-%%%%%%", unique, /*MakeAbsolute=*/false);
  if (std::error_code error =
          llvm::sys::fs::create_directory(unique, /*IgnoreExisting=*/false, llvm::sys::fs::all_all))
    return bad(target, "cannot make a folder there: " + error.message());
  path = unique.str().str();
  return Status::ok();
}

Status PartialFolder::renameTo(const std::string &target) {
  std::error_code error, ignored;
  if (Interruption::pending())
    return bad(target, "interrupted");
  const std::string old = path + ".old";
  const bool replaces = fs::exists(target, ignored);
  if (replaces)
    fs::rename(target, old, error);
  if (!error)
    fs::rename(path, target, error);
  if (error) {
    if (replaces)
      fs::rename(old, target, ignored);
    return bad(target, "cannot write: " + error.message());
  }
  path.clear();
  fs::remove_all(old, ignored);
  return Status::ok();
}

} // namespace syncline
