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

/// The file inside `folder`, links resolved; an error when it leads outside.
static Result<fs::path> resolveInside(const std::string &location, const std::string &folder) {
  fs::path relative(location);
  std::string refusal = "external data '" + location + "' lies outside the model's folder";
  if (relative.is_absolute() || std::ranges::count(relative, fs::path("..")))
    return Status::badInput(refusal);
  std::error_code error;
  fs::path base = fs::canonical(folder.empty() ? fs::path(".") : fs::path(folder), error);
  fs::path file = error ? fs::path() : fs::canonical(base / relative, error);
  if (error)
    return Status::badInput("cannot open external data '" + location + "': " + error.message());
  auto [end, rest] = std::mismatch(base.begin(), base.end(), file.begin(), file.end());
  if (end != base.end())
    return Status::badInput(refusal);
  if (!fs::is_regular_file(file, error))
    return Status::badInput("external data '" + location + "' is not a regular file");
  return file;
}

Result<ExternalSlice> frontend::locateExternal(const onnx::TensorProto &proto,
                                               const std::string &folder, std::int64_t bytes) {
  Result<Reference> reference = readReference(proto);
  if (!reference)
    return reference.status();
  Result<fs::path> file = resolveInside(reference->location, folder);
  if (!file)
    return file.status();
  std::error_code error;
  auto available = static_cast<std::int64_t>(fs::file_size(*file, error));
  std::int64_t offset = std::max<std::int64_t>(reference->offset, 0);
  if (reference->length >= 0 && reference->length != bytes)
    return Status::badInput("expected " + std::to_string(bytes) + " bytes of external data, got " +
                            std::to_string(reference->length));
  if (error || offset > available || bytes > available - offset)
    return Status::badInput("external data '" + reference->location + "' ends before byte " +
                            std::to_string(offset) + " + " + std::to_string(bytes));
  return ExternalSlice{file->string(), offset};
}
