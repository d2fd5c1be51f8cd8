// Quantities for people to read: the inverse of Units.h, rounded to the digits requested.
#pragma once

#include <cstdint>
#include <string>

namespace syncline::files {

/// "1.50 ms", "12.3 us", "2.00 s", "0 s": three significant digits by default, ns to s.
/// Negative values keep their sign; what is not finite prints as "inf", "-inf" or "nan".
std::string formatSeconds(double seconds, int digits = 3);

/// "4096 B" below 10,000, then "97.7 KiB", "25.0 MiB", ... GiB, TiB.
std::string formatBytes(std::int64_t bytes, int digits = 3);

/// "1.25 GB/s": SI prefixes, as rates are quoted.
std::string formatByteRate(double bytesPerSecond, int digits = 3);

/// "50.0 GFLOP/s".
std::string formatComputeRate(double flopPerSecond, int digits = 3);

/// "0.25", "1.5e+09": a number without unit, rounded to so many significant digits.
std::string formatNumber(double value, int digits);

/// "1 rank", "4 ranks".
std::string counted(std::int64_t count, const std::string &noun);

} // namespace syncline::files
