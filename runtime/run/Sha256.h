// SHA-256 in hexadecimal.
#pragma once

#include "syncline/Status.h"

#include <string>
#include <string_view>

namespace syncline::run {

std::string sha256(std::string_view bytes);
/// Errors: badInput, when the file cannot be read.
Result<std::string> sha256OfFile(const std::string &path);

} // namespace syncline::run
