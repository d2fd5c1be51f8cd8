// SHA-256 by libcrypto.
#include "runtime/run/checkpoint/Sha256.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include <openssl/evp.h>

namespace syncline::run {

struct Sha256::Context {
  Context() : digest(EVP_MD_CTX_new()) { EVP_DigestInit_ex(digest, EVP_sha256(), nullptr); }
  ~Context() { EVP_MD_CTX_free(digest); }
  Context(const Context &) = delete;
  EVP_MD_CTX *const digest;
};

Sha256::Sha256() : context(std::make_unique<Context>()) {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256 &&) noexcept = default;

void Sha256::add(std::span<const std::byte> bytes) {
  EVP_DigestUpdate(context->digest, bytes.data(), bytes.size());
}

std::string Sha256::hex() {
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_DigestFinal_ex(context->digest, bytes, &size);
  std::string text;
  for (unsigned i = 0; i < size; ++i) {
    text += "0123456789abcdef"[bytes[i] >> 4];
    text += "0123456789abcdef"[bytes[i] & 15];
  }
  return text;
}

std::string sha256(std::string_view bytes) {
  Sha256 digest;
  digest.add(std::as_bytes(std::span(bytes)));
  return digest.hex();
}

Result<std::string> sha256OfFile(const std::string &path) {
  struct Close {
    void operator()(std::FILE *f) const { std::fclose(f); }
  };
  std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rb"));
  if (!file)
    return Status::badInput("'" + path + "': cannot open: " + std::strerror(errno));
  Sha256 digest;
  std::vector<std::byte> buffer(1 << 20);
  while (std::size_t n = std::fread(buffer.data(), 1, buffer.size(), file.get()))
    digest.add(std::span(buffer).first(n));
  if (std::ferror(file.get()))
    return Status::badInput("'" + path + "': cannot read: " + std::strerror(errno));
  return digest.hex();
}

Result<std::string> sha256OfFile(const data::InputFile &file) {
  Sha256 digest;
  std::vector<std::byte> buffer(1 << 20);
  for (std::int64_t at = 0; at < file.size();) {
    const auto left = static_cast<std::size_t>(file.size() - at);
    const auto piece = std::span(buffer).first(std::min(buffer.size(), left));
    SYNCLINE_TRY(file.read(at, piece));
    digest.add(piece);
    at += static_cast<std::int64_t>(piece.size());
  }
  return digest.hex();
}

} // namespace syncline::run
