// Hashes by libcrypto, which uses the processor's SHA instructions: models have gigabytes.
#include "codegen/folder/Hashes.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MemoryBuffer.h"

#include <nlohmann/json.hpp>
#include <openssl/evp.h>

namespace syncline::codegen {

std::string sha256(llvm::StringRef bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha256(), nullptr) != 1)
    llvm::report_fatal_error("libcrypto has no SHA-256");
  return llvm::toHex(llvm::ArrayRef(digest, size), /*LowerCase=*/true);
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
