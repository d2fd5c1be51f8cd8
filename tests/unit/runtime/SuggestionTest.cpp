// What a misspelt name was meant for.
#include "syncline/Suggestion.h"

#include <gtest/gtest.h>

#include <array>

namespace syncline {
namespace {

constexpr std::array<std::string_view, 2> known = {"bandwidth", "latency"};

// The nearest name is suggested when it is near, all names otherwise.
TEST(Suggestion, OfFew) {
  EXPECT_EQ(suggestion("bandwith", known), ", did you mean 'bandwidth'?");
  EXPECT_EQ(suggestion("speed", known), ", expected one of 'bandwidth', 'latency'");
  EXPECT_EQ(suggestion("", known), ", expected one of 'bandwidth', 'latency'");
  EXPECT_EQ(suggestion(std::string(100000, 'x'), known),
            ", expected one of 'bandwidth', 'latency'");
}

// In a short name two neighbours exchanged are one edit, two other bytes are two.
TEST(Suggestion, ShortNames) {
  constexpr std::array<std::string_view, 3> schemes = {"tree", "ring", "ps"};
  EXPECT_EQ(nearestName("rign", schemes), "ring");
  EXPECT_EQ(nearestName("rang", schemes), "ring");
  EXPECT_EQ(nearestName("rain", schemes), "");
  EXPECT_EQ(nearestName("sp", schemes), "ps");
}

// Among equally near names the one that begins alike is named, else the first. A nearer name wins
// wherever it stands.
TEST(Suggestion, TheNearestIsNamed) {
  constexpr std::array<std::string_view, 3> names = {"conv2", "conv1", "conv13"};
  EXPECT_EQ(nearestName("conv", names), "conv2");
  constexpr std::array<std::string_view, 3> networks = {"ethernet-1g", "ethernet-10g", "wifi"};
  EXPECT_EQ(nearestName("ethernet-10", networks), "ethernet-10g");
  EXPECT_EQ(nearestName("conv134", names), "conv13");
}

// A few of many names are listed, each once: first those that contain the text, then those that
// take the fewest edits.
TEST(Suggestion, OfMany) {
  constexpr std::array<std::string_view, 6> names = {
      "a.conv1.weight", "fc.bias", "b.conv2.weight", "fc.bias", "fc.weight", "c.bn.weight"};
  EXPECT_EQ(suggestionOfMany("fc.wieght", names), ", did you mean 'fc.weight'?");
  EXPECT_EQ(suggestionOfMany("conv", names, 3),
            ", expected a name such as 'a.conv1.weight', 'b.conv2.weight', 'c.bn.weight'");
  EXPECT_EQ(suggestionOfMany("x", names),
            ", expected a name such as 'fc.bias', 'fc.weight', 'c.bn.weight', 'a.conv1.weight', "
            "'b.conv2.weight'");
}

} // namespace
} // namespace syncline
