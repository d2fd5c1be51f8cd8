// Division by a product and a shift against division.
#include "runtime/cuda/kernels/Divisor.h"

#include <gtest/gtest.h>

namespace syncline::cuda {
namespace {

constexpr std::uint32_t most = (1u << 31) - 1;

std::vector<std::uint32_t> divisors() {
  std::vector<std::uint32_t> all;
  for (std::uint32_t small = 1; small <= 300; ++small)
    all.push_back(small);
  for (int power = 9; power < 31; ++power)
    for (const int offset : {-1, 0, 1})
      all.push_back((1u << power) + static_cast<std::uint32_t>(offset));
  all.insert(all.end(), {641 * 97, 1000000007, most - 1, most});
  return all;
}

// Where quotients change, at both ends of what can be divided.
TEST(DivisorTest, QuotientIsExact) {
  for (const std::uint32_t divisor : divisors())
    for (const std::uint32_t quotient : {0u, 1u, 2u, most / divisor / 2, most / divisor})
      for (const std::int64_t offset : {-1, 0, 1}) {
        const std::int64_t number = std::int64_t{quotient} * divisor + offset;
        if (number < 0 || number > most)
          continue;
        std::uint32_t rest = static_cast<std::uint32_t>(number);
        const std::uint32_t remainder = Divisor(divisor).split(rest);
        ASSERT_EQ(rest, number / divisor) << number << " / " << divisor;
        ASSERT_EQ(remainder, number % divisor) << number << " % " << divisor;
      }
}

} // namespace
} // namespace syncline::cuda
