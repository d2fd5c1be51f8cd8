// The grammar of sizes.
#include "syncline/ByteSize.h"

#include <gtest/gtest.h>

namespace syncline {
namespace {

TEST(ByteSize, TakesEachUnit) {
  EXPECT_EQ(parseByteSize("0B"), 0);
  EXPECT_EQ(parseByteSize("25kB"), 25'000);
  EXPECT_EQ(parseByteSize("25 KB"), 25'000);
  EXPECT_EQ(parseByteSize("1.5KiB"), 1536);
  EXPECT_EQ(parseByteSize("2.3MB"), 2'300'000); // the product is 2299999.9999999995
  EXPECT_EQ(parseByteSize("0.5  TiB"), std::int64_t{1} << 39);
  EXPECT_EQ(parseByteSize("8PiB"), std::int64_t{1} << 53);
}

TEST(ByteSize, RefusesWhatIsNoWholeNumberOfBytes) {
  for (const char *text : {"", "25", "MiB", "1.5B", "1e-10B", "-1B", "-0B", "nanB", "infB", "9PiB",
                           "25mib", "25MiBs", "25MiB ", "0x10B"})
    EXPECT_EQ(parseByteSize(text), std::nullopt) << text;
}

} // namespace
} // namespace syncline
