// Hashes by LLVM's SHA-256.
#include "codegen/folder/Hashes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SHA256.h"

#include <nlohmann/json.hpp>

namespace syncline::codegen {

std::string sha256(llvm::StringRef bytes) {
  llvm::SHA256 hash;
  hash.update(bytes);
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

Result<std::string> sha256OfFile(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return Status::badInput("'" + path + "': cannot open: " + buffer.getError().message());
  return sha256((*buffer)->getBuffer());
}

std::string planHash(const nlohmann::json &document) {
  nlohmann::json unsigned_ = document;
  unsigned_["hashes"]["plan"] = "";
  return sha256(unsigned_.dump());
}

} // namespace syncline::codegen
