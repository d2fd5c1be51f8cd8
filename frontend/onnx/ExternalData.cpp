// Resolves and checks references to external data.
#include "frontend/onnx/ExternalData.h"

#include "llvm/ADT/StringRef.h"

#include "onnx/onnx_pb.h"

#include <algorithm>
#include <filesystem>

using namespace syncline;
using namespace syncline::frontend;
namespace fs = std::filesystem;

/// What external_data's keys say; absent numbers are -1.
struct Reference {
  std::string location;
  std::int64_t offset = -1, length = -1;
};

static Result<Reference> readReference(const onnx::TensorProto &proto) {
  Reference reference;
  for (const onnx::StringStringEntryProto &entry : proto.external_data()) {
    if (entry.key() == "location")
      reference.location = entry.value();
    if (entry.key() != "offset" && entry.key() != "length")
      continue;
    std::int64_t value;
    if (llvm::StringRef(entry.value()).getAsInteger(10, value) || value < 0)
      return Status::badInput("expected a number of bytes as external " + entry.key() + ", got '" +
                              entry.value() + "'");
    (entry.key() == "offset" ? reference.offset : reference.length) = value;
  }
  if (reference.location.empty() || reference.location.find('\0') != std::string::npos)
    return Status::badInput("expected a file name as location of its external data");
  return reference;
}

DataFolders frontend::dataFoldersOf(const std::string &path) {
  constexpr int mostLinks = 40;
  fs::path file(path);
  DataFolders folders{file.parent_path().string(), {}};
  std::error_code error;
  for (int links = 0; links < mostLinks && fs::is_symlink(file, error); ++links) {
    const fs::path target = fs::read_symlink(file, error);
    file = file.parent_path() / target; // an absolute target takes the place of all
    const fs::path folder = fs::canonical(file.parent_path(), error);
    if (!error)
      folders.linked.push_back(folder.string());
  }
  return folders;
}

/// Whether the file, links resolved, lies inside `base` or directly in one of the linked folders.
static bool mayBeRead(const fs::path &file, const fs::path &base, const DataFolders &folders) {
  const auto [end, rest] = std::mismatch(base.begin(), base.end(), file.begin(), file.end());
  return end == base.end() || std::ranges::count(folders.linked, file.parent_path().string());
}

/// The file at `location`, links resolved; an error when it leads outside.
static Result<fs::path> resolve(const std::string &location, const DataFolders &folders) {
  const fs::path relative = fs::path(location).lexically_normal();
  const std::string what = "external data '" + location + "'";
  if (relative.is_absolute())
    return Status::badInput(what + " lies outside the model's folder: expected a path relative to "
                                   "that folder, got an absolute one");
  if (relative.begin() != relative.end() && *relative.begin() == "..")
    return Status::badInput(what + " lies outside the model's folder");
  std::vector<std::string> bases{folders.named.empty() ? "." : folders.named};
  bases.insert(bases.end(), folders.linked.begin(), folders.linked.end());
  std::string reason;
  for (const std::string &named : bases) {
    std::error_code error;
    const fs::path base = fs::canonical(named, error);
    const fs::path file = error ? fs::path() : fs::canonical(base / relative, error);
    if (error) {
      reason = reason.empty() ? error.message() : reason;
      continue;
    }
    if (!mayBeRead(file, base, folders))
      return Status::badInput(what + " lies outside the model's folder: it is a link to '" +
                              file.string() + "'");
    if (!fs::is_regular_file(file, error))
      return Status::badInput(what + " is not a regular file");
    return file;
  }
  return Status::badInput("cannot open " + what + ": " + reason);
}

Result<std::string> frontend::findExternal(const onnx::TensorProto &proto,
                                           const DataFolders &folders) {
  SYNCLINE_TRY_GET(reference, readReference(proto));
  SYNCLINE_TRY_GET(file, resolve(reference->location, folders));
  return file->string();
}

Result<ExternalSlice> frontend::locateExternal(const onnx::TensorProto &proto,
                                               const DataFolders &folders, std::int64_t bytes) {
  SYNCLINE_TRY_GET(file, findExternal(proto, folders));
  const Result<Reference> reference = readReference(proto); // which findExternal() has read
  std::error_code error;
  auto available = static_cast<std::int64_t>(fs::file_size(*file, error));
  std::int64_t offset = std::max<std::int64_t>(reference->offset, 0);
  if (reference->length >= 0 && reference->length != bytes)
    return Status::badInput("expected " + std::to_string(bytes) + " bytes of external data, got " +
                            std::to_string(reference->length));
  if (error || offset > available || bytes > available - offset)
    return Status::badInput("external data '" + reference->location + "' ends before byte " +
                            std::to_string(offset) + " + " + std::to_string(bytes));
  return ExternalSlice{std::move(*file), offset};
}
