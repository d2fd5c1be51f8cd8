// SHA-256 of texts and files, and a plan's own hash.
#pragma once

#include "syncline/Status.h"

#include "llvm/ADT/StringRef.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace syncline::codegen {

/// The hash of the bytes as 64 lower-case hexadecimal digits.
std::string sha256(llvm::StringRef bytes);

/// The hash of a file's contents. Errors: badInput, naming the file.
Result<std::string> sha256OfFile(const std::string &path);

/// The hash of the document, printed compactly with sorted keys and with hashes.plan = "".
std::string planHash(const nlohmann::json &document);

} // namespace syncline::codegen
