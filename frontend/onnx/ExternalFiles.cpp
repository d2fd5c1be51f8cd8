// Collects and compares the files of a model's external tensors.
#include "frontend/onnx/ExternalFiles.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SHA1.h"

#include "onnx/onnx_pb.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string_view>

using namespace syncline;
using namespace syncline::frontend;

/// Visits the initialisers, which reading moved out of the model, and the tensors of attributes.
static void forEachExternal(const ModelFile &file,
                            llvm::function_ref<void(const onnx::TensorProto &)> visit) {
  const auto visitExternal = [&](const onnx::TensorProto &tensor) {
    if (tensor.data_location() == onnx::TensorProto::EXTERNAL)
      visit(tensor);
  };
  for (const auto &initializer : file.initializers)
    visitExternal(*initializer);
  forEachTensor(*file.model, visitExternal);
}

/// Whether the file has the word by which external data names its file: without it the model need
/// not be parsed.
static bool mayHaveExternal(const std::string &path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    return false; // its end may never come
  const auto bytes = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                                 /*RequiresNullTerminator=*/false);
  // Here find() uses memchr(), which skips some 256 bytes of weights at a time.
  return bytes &&
         std::string_view((*bytes)->getBuffer()).find("location") != std::string_view::npos;
}

std::vector<std::string> frontend::externalFilesOf(const std::string &path) {
  if (!mayHaveExternal(path))
    return {};
  Result<ModelFile> file = readModelFile(path);
  if (!file)
    return {};
  std::set<std::string> files;
  forEachExternal(*file, [&](const onnx::TensorProto &tensor) {
    if (Result<std::string> found = findExternal(tensor, file->folders))
      files.insert(std::move(*found));
  });
  return {files.begin(), files.end()};
}

static std::string sha1Of(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  std::vector<char> part(1 << 20);
  llvm::SHA1 hash;
  while (in.read(part.data(), static_cast<std::streamsize>(part.size())), in.gcount() > 0)
    hash.update(llvm::StringRef(part.data(), static_cast<std::size_t>(in.gcount())));
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

Status frontend::compareChecksums(const ModelFile &file, Notes &notes) {
  constexpr std::size_t digits = 40;
  std::map<std::string, std::string> known; // of files, which tensors share
  Status status = Status::ok();
  forEachExternal(file, [&](const onnx::TensorProto &tensor) {
    for (const onnx::StringStringEntryProto &entry : tensor.external_data()) {
      const llvm::StringRef stated = entry.value();
      if (entry.key() != "checksum" || !status)
        continue;
      if (stated.size() != digits || !llvm::all_of(stated, llvm::isHexDigit)) {
        notes.add("the checksum of its external data is no SHA-1, and is not compared",
                  tensor.name());
        continue;
      }
      const Result<std::string> path = findExternal(tensor, file.folders);
      if (!path)
        continue;
      std::string &digest = known[*path];
      if (digest.empty())
        digest = sha1Of(*path);
      if (!stated.equals_insensitive(digest))
        status = Status::badInput("tensor '" + tensor.name() + "': '" + *path +
                                  "' has another SHA-1 than its checksum: expected " +
                                  stated.str() + ", got " + digest);
    }
  });
  return status;
}
