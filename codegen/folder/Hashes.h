// SHA-256 of texts and files, and a plan's own hash.
#pragma once

#include "syncline/Status.h"

#include "llvm/ADT/StringRef.h"

#include <nlohmann/json.hpp>

#include <string>

namespace syncline {

/// 64 lower-case hexadecimal digits.
std::string sha256(llvm::StringRef bytes);

/// Of a file's contents; badInput names the file.
Result<std::string> sha256OfFile(const std::string &path);

/// Of the document printed compactly, keys sorted, with hashes.plan = "".
std::string planHash(const nlohmann::json &document);

} // namespace syncline
