// SHA-256 in hexadecimal.
#pragma once

#include "runtime/data/InputFile.h"
#include "syncline/Status.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace syncline::run {

/// The digest of bytes that come piece by piece. One thread at a time uses it.
class Sha256 {
public:
  Sha256();
  ~Sha256();
  Sha256(Sha256 &&) noexcept;
  void add(std::span<const std::byte> bytes);
  /// The digest of all bytes. Called once, after the last add().
  std::string hex();

private:
  struct Context;
  std::unique_ptr<Context> context;
};

std::string sha256(std::string_view bytes);
/// Errors: badInput, when the file cannot be read.
Result<std::string> sha256OfFile(const std::string &path);
/// Errors: badInput, when the file cannot be read or changed its length.
Result<std::string> sha256OfFile(const data::InputFile &file);

} // namespace syncline::run
