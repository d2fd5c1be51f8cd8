// The SHA-256 of short texts without a library, for programs that link none. Files that may be long
// are hashed by libcrypto (runtime/run/checkpoint/Sha256.h), which is faster.
#pragma once

#include <string>
#include <string_view>

namespace syncline::core {

/// The SHA-256 in hexadecimal, as FIPS 180-4 defines it. Pure.
std::string digestOf(std::string_view text);

} // namespace syncline::core
