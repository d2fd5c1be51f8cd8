// Quantities: what parses to what, and what each mistake is told.
#include "frontend/files/Units.h"
#include "frontend/files/FormatUnits.h"
#include "tests/support/Results.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace syncline::files {
namespace {

using test::messageOf;

// Times scale from their prefix to the nearest double, spaces or not.
TEST(Units, Times) {
  EXPECT_EQ(*parseSeconds("1.5ms"), 0.0015);
  EXPECT_EQ(*parseSeconds("1.1ms"), 0.0011);
  EXPECT_EQ(*parseSeconds(" 9.08e-4 s "), 9.08e-4);
  EXPECT_EQ(*parseSeconds("20us"), 20e-6);
  EXPECT_EQ(*parseSeconds("20 \u00B5s"), 20e-6);
  EXPECT_EQ(*parseSeconds("20\u03BCs"), 20e-6);
  EXPECT_EQ(*parseSeconds("3ns"), 3e-9);
  EXPECT_EQ(*parseSeconds("2 min"), 120);
  EXPECT_EQ(*parseSeconds("0s"), 0);
}

// Sizes know SI from binary prefixes.
TEST(Units, Bytes) {
  EXPECT_EQ(*parseBytes("4096B"), 4096);
  EXPECT_EQ(*parseBytes("2KB"), 2000);
  EXPECT_EQ(*parseBytes("2kB"), 2000);
  EXPECT_EQ(*parseBytes("2KiB"), 2048);
  EXPECT_EQ(*parseBytes("25MiB"), 25 << 20);
  EXPECT_EQ(*parseBytes("1.5KiB"), 1536);
  EXPECT_EQ(*parseBytes("0B"), 0);
}

// Rates know bits from bytes.
TEST(Units, Rates) {
  EXPECT_EQ(*parseByteRate("1 Gb/s"), 125e6);
  EXPECT_EQ(*parseByteRate("1Gbit/s"), 125e6);
  EXPECT_EQ(*parseByteRate("1 Gbps"), 125e6);
  EXPECT_EQ(*parseByteRate("10 GB/s"), 10e9);
  EXPECT_EQ(*parseByteRate("1 GiB/s"), 1073741824.0);
  EXPECT_EQ(*parseByteRate("4 B/ns"), 4e9);
  EXPECT_EQ(*parseComputeRate("50 GFLOP/s"), 50e9);
  EXPECT_EQ(*parseComputeRate("15.7TFLOPS"), 15.7e12);
}

// A time per byte, per megabyte, per bit.
TEST(Units, SecondsPerByte) {
  EXPECT_EQ(*parseSecondsPerByte("7.4e-10 s/B"), 7.4e-10);
  EXPECT_EQ(*parseSecondsPerByte("1 ms/MB"), 1e-9);
  EXPECT_EQ(*parseSecondsPerByte("1 ns/b"), 8e-9);
}

// A bare number is refused where a dimension is needed.
TEST(Units, BareNumber) {
  EXPECT_EQ(messageOf(parseSeconds("1.5")),
            "expected a time with a unit such as '1.5ms', got '1.5'");
  EXPECT_EQ(messageOf(parseBytes("4096")),
            "expected a size with a unit such as '25MiB', got '4096'");
  EXPECT_EQ(messageOf(parseByteRate("10")),
            "expected a data rate with a unit such as '10 Gb/s', got '10'");
  EXPECT_EQ(messageOf(parseComputeRate("1e9")),
            "expected a compute rate with a unit such as '50 GFLOP/s', got '1e9'");
  EXPECT_EQ(messageOf(parseSecondsPerByte("7e-10")),
            "expected a time per byte with a unit such as '7.4e-10 s/B', got '7e-10'");
}

// An unknown unit is named, with those that are accepted.
TEST(Units, UnknownUnit) {
  EXPECT_EQ(messageOf(parseSeconds("1.5 sec")),
            "unknown unit 'sec' in '1.5 sec', expected a time in one of ns, us, ms, s, min");
  EXPECT_EQ(messageOf(parseBytes("8 Mb")), "unknown unit 'Mb' in '8 Mb', expected a size in one of "
                                           "B, kB, KiB, MB, MiB, GB, GiB, TB, TiB");
  EXPECT_NE(messageOf(parseByteRate("8 Gb")).find("unknown unit 'Gb'"), std::string::npos);
  EXPECT_NE(messageOf(parseByteRate("8 mB/s")).find("unknown unit 'mB/s'"), std::string::npos);
  EXPECT_NE(messageOf(parseBytes("8 KiiB")).find("unknown unit"), std::string::npos);
  EXPECT_NE(messageOf(parseSeconds("1,5ms")).find("unknown unit ',5ms'"), std::string::npos);
}

// What is negative, not a number, infinite or out of range is no time.
TEST(Units, NotANumberOrNegative) {
  EXPECT_EQ(messageOf(parseSeconds("-1ms")), "expected a time of zero or more, got '-1ms'");
  EXPECT_EQ(messageOf(parseSeconds("nan ms")), "expected a time that is finite, got 'nan ms'");
  EXPECT_EQ(messageOf(parseSeconds("NaN")), "expected a time that is finite, got 'NaN'");
  EXPECT_EQ(messageOf(parseSeconds("inf s")), "expected a time that is finite, got 'inf s'");
  EXPECT_FALSE(parseSeconds("1e999 s"));
  EXPECT_FALSE(parseSeconds("1e308 min"));
  EXPECT_FALSE(parseSeconds("1e-320 ns"));
  EXPECT_EQ(messageOf(parseByteRate("0 Gb/s")), "expected a data rate above zero, got '0 Gb/s'");
  EXPECT_EQ(messageOf(parseSeconds("")),
            "expected a time with a unit such as '1.5ms', got nothing");
  EXPECT_FALSE(parseSeconds("ms"));
  EXPECT_FALSE(parseSeconds("0x10 s"));
}

// Rates that no link and no device has are refused; the limits themselves are not.
TEST(Units, RateLimits) {
  EXPECT_EQ(*parseByteRate("1 b/s"), 0.125);
  EXPECT_EQ(*parseByteRate("1 EB/s"), 1e18);
  EXPECT_EQ(messageOf(parseByteRate("0.9 b/s")),
            "expected a data rate from 1 b/s to 1 EB/s, got '0.9 b/s'");
  EXPECT_EQ(messageOf(parseByteRate("1.1 EB/s")),
            "expected a data rate from 1 b/s to 1 EB/s, got '1.1 EB/s'");
  EXPECT_FALSE(parseByteRate("1e308 B/s"));
  EXPECT_EQ(*parseComputeRate("1 FLOP/s"), 1);
  EXPECT_EQ(*parseComputeRate("1000 EFLOP/s"), 1e21);
  EXPECT_EQ(messageOf(parseComputeRate("1e-300 GFLOP/s")),
            "expected a compute rate from 1 FLOP/s to 1000 EFLOP/s, got '1e-300 GFLOP/s'");
  EXPECT_EQ(messageOf(parseComputeRate("1e300 FLOP/s")),
            "expected a compute rate from 1 FLOP/s to 1000 EFLOP/s, got '1e300 FLOP/s'");
}

// So are times that nobody waits for, and links slower than the slowest rate.
TEST(Units, TimeLimits) {
  EXPECT_EQ(*parseSeconds("1000000 s"), 1e6);
  EXPECT_EQ(messageOf(parseSeconds("1e300s")),
            "expected a time from 0 s to 1000000 s, got '1e300s'");
  EXPECT_FALSE(parseSeconds("1000001 s"));
  EXPECT_EQ(*parseSecondsPerByte("1 s/b"), 8);
  EXPECT_EQ(messageOf(parseSecondsPerByte("9 s/B")),
            "expected a time per byte from 0 s/B to 8 s/B, got '9 s/B'");
}

// How many times as long something takes: decimal, without a unit, and neither nothing nor forever.
TEST(Units, Factors) {
  EXPECT_EQ(*parseFactor("1.5"), 1.5);
  EXPECT_EQ(*parseFactor(" 1e6 "), 1e6);
  EXPECT_EQ(*parseFactor("1e-6"), 1e-6);
  EXPECT_EQ(messageOf(parseFactor("")),
            "expected a number from 1e-6 to 1e6 such as 1.5, got nothing");
  for (const char *text : {"0", "-1", "0x10", "nan", "inf", "1e308", "1e7", "9e-7", "1.5x", "2 s"})
    EXPECT_EQ(messageOf(parseFactor(text)),
              "expected a number from 1e-6 to 1e6 such as 1.5, got '" + std::string(text) + "'");
}

// Bytes are whole and exact.
TEST(Units, WholeBytes) {
  EXPECT_EQ(messageOf(parseBytes("1.5B")),
            "expected a whole number of bytes up to 8 PiB, got '1.5B'");
  EXPECT_FALSE(parseBytes("9 PiB"));
  EXPECT_TRUE(parseBytes("8 PiB"));
}

// A count has no unit, no fraction, and is at least one.
TEST(Units, Counts) {
  EXPECT_EQ(*parseCount("16", "ranks", 100), 16);
  EXPECT_EQ(messageOf(parseCount("0", "ranks", 100)),
            "expected a whole number of ranks from 1 to 100, got '0'");
  for (const char *text : {"", "-1", "101", "4.0", "4 ranks", "1e2", "99999999999999999999"})
    EXPECT_FALSE(parseCount(text, "ranks", 100)) << text;
}

// A long text is cut in its message, between characters.
TEST(Units, LongTextIsCut) {
  const std::string message = messageOf(parseSeconds("1" + std::string(500, 'x')));
  EXPECT_LT(message.size(), 300u);
}

// Formatting picks the unit after rounding and keeps three digits.
TEST(FormatUnits, Seconds) {
  EXPECT_EQ(formatSeconds(0), "0 s");
  EXPECT_EQ(formatSeconds(0.0015), "1.50 ms");
  EXPECT_EQ(formatSeconds(12.34e-6), "12.3 us");
  EXPECT_EQ(formatSeconds(999.9996e-6), "1.00 ms");
  EXPECT_EQ(formatSeconds(123.4), "123 s");
  EXPECT_EQ(formatSeconds(5e-12), "0.00500 ns");
  EXPECT_EQ(formatSeconds(-0.25), "-250 ms");
  EXPECT_EQ(formatSeconds(0.0012345, 5), "1.2345 ms");
  EXPECT_EQ(formatSeconds(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(formatSeconds(std::nan("")), "nan");
}

// Sizes are exact while short, rates use SI prefixes.
TEST(FormatUnits, SizesAndRates) {
  EXPECT_EQ(formatBytes(4096), "4096 B");
  EXPECT_EQ(formatBytes(100000), "97.7 KiB");
  EXPECT_EQ(formatBytes(25 << 20), "25.0 MiB");
  EXPECT_EQ(formatByteRate(1.25e9), "1.25 GB/s");
  EXPECT_EQ(formatComputeRate(50e9), "50.0 GFLOP/s");
}

// What is formatted with enough digits parses back.
TEST(FormatUnits, ParsesBack) {
  for (double seconds : {1.0, 0.5, 3.25e-3, 7e-6, 12e-9})
    EXPECT_DOUBLE_EQ(*parseSeconds(formatSeconds(seconds, 17)), seconds);
}

} // namespace
} // namespace syncline::files
