// Quantities with units: "1.5ms", "25MiB", "1 Gb/s", "7.4e-10 s/B", "50 GFLOP/s".
//
// Grammar: a decimal number, optional spaces, a unit. Units are case-sensitive where case carries
// meaning (b is a bit, B a byte). Prefixes are SI (k or K, M, G, T, P: powers of 1000) or binary
// (Ki, Mi, Gi, Ti, Pi: powers of 1024). All results are in SI base units: seconds, bytes, FLOP.
//
// Every function is pure and thread-safe. Failures are badInput with a message that quotes the text
// and says what was expected; the caller puts file and position in front.
#pragma once

#include "syncline/Status.h"

#include <cstdint>
#include <string_view>

namespace syncline::files {

/// A time of zero to 1000000 s, in seconds: ns, us (or µs), ms, s, min.
Result<double> parseSeconds(std::string_view text);

/// A whole number of bytes, zero to 2^53: B, kB, KB, KiB, MB, MiB, ... Bits are refused.
Result<std::int64_t> parseBytes(std::string_view text);

/// A data rate from 1 b/s to 1 EB/s, in bytes per second. Units are b/s, bit/s, bps (bits) or B/s
/// (bytes), with prefixes.
Result<double> parseByteRate(std::string_view text);

/// A compute rate from 1 FLOP/s to 1000 EFLOP/s, in floating-point operations per second: FLOP/s or
/// FLOPS, prefixed.
Result<double> parseComputeRate(std::string_view text);

/// A time per data of zero to 8 s/B (1 b/s), in seconds per byte: s/B, ns/B, us/KiB, s/GB, ...
Result<double> parseSecondsPerByte(std::string_view text);

constexpr double minFactor = 1e-6, maxFactor = 1e6;

/// How many times as long something takes: a plain number from minFactor to maxFactor.
Result<double> parseFactor(std::string_view text);

/// A dimensionless whole number in [1, limit], such as a number of ranks. Errors call it `what`.
Result<std::int64_t> parseCount(std::string_view text, std::string_view what, std::int64_t limit);

} // namespace syncline::files
