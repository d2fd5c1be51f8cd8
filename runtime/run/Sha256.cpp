// SHA-256 by libcrypto.
#include "runtime/run/Sha256.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include <openssl/evp.h>

namespace syncline::run {
namespace {

class Digest {
public:
  Digest() : context(EVP_MD_CTX_new()) { EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr); }
  void add(const void *data, std::size_t bytes) { EVP_DigestUpdate(context.get(), data, bytes); }
  std::string hex() {
    unsigned char bytes[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    EVP_DigestFinal_ex(context.get(), bytes, &size);
    std::string text;
    for (unsigned i = 0; i < size; ++i) {
      text += "0123456789abcdef"[bytes[i] >> 4];
      text += "0123456789abcdef"[bytes[i] & 15];
    }
    return text;
  }

private:
  struct Free {
    void operator()(EVP_MD_CTX *c) const { EVP_MD_CTX_free(c); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> context;
};

} // namespace

std::string sha256(std::string_view bytes) {
  Digest digest;
  digest.add(bytes.data(), bytes.size());
  return digest.hex();
}

Result<std::string> sha256OfFile(const std::string &path) {
  struct Close {
    void operator()(std::FILE *f) const { std::fclose(f); }
  };
  std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rb"));
  if (!file)
    return Status::badInput("'" + path + "': cannot open: " + std::strerror(errno));
  Digest digest;
  std::vector<char> buffer(1 << 20);
  while (std::size_t n = std::fread(buffer.data(), 1, buffer.size(), file.get()))
    digest.add(buffer.data(), n);
  if (std::ferror(file.get()))
    return Status::badInput("'" + path + "': cannot read: " + std::strerror(errno));
  return digest.hex();
}

} // namespace syncline::run
