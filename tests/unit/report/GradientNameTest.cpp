// Names on the command line: what they mean, and what is said where they mean nothing.
#include "frontend/report/GradientName.h"

#include <gtest/gtest.h>

using namespace syncline;
using namespace syncline::report;

namespace {

const std::vector<GradientName> gradients{
    {"fc.bias", {"/fc/Gemm"}, 40},          {"fc.weight", {"/fc/Gemm"}, 4000},
    {"body.conv2.weight", {"/conv2"}, 900}, {"body.conv1.bias", {"/conv1"}, 10},
    {"body.conv1.weight", {"/conv1"}, 90},
};

std::string found(const std::string &text) {
  Result<std::size_t> place = findGradient(gradients, text);
  return place ? gradients[*place].parameter : "error: " + place.status().message();
}

} // namespace

TEST(GradientName, AParameterMeansItself) {
  EXPECT_EQ(found("fc.bias"), "fc.bias");
  EXPECT_EQ(found("body.conv1.weight"), "body.conv1.weight");
}

// A layer by its own name or by its parameters'; the largest gradient stands for it.
TEST(GradientName, ALayerMeansItsLargestGradient) {
  EXPECT_EQ(found("fc"), "fc.weight");
  EXPECT_EQ(found("/fc/Gemm"), "fc.weight");
  EXPECT_EQ(found("body.conv1"), "body.conv1.weight");
}

TEST(GradientName, BeginningsAndGlobs) {
  EXPECT_EQ(found("f"), "fc.weight");
  EXPECT_EQ(found("/conv2"), "body.conv2.weight");
  EXPECT_EQ(found("*conv1*"), "body.conv1.weight");
  EXPECT_EQ(found("*conv1.b*"), "body.conv1.bias");
  EXPECT_EQ(found("/co?v2"), "body.conv2.weight");
}

TEST(GradientName, RefusesSeveralLayers) {
  EXPECT_EQ(found("body"), "error: 'body' means 3 gradients, expected one layer's: "
                           "'body.conv2.weight', 'body.conv1.bias', 'body.conv1.weight'");
  EXPECT_EQ(found("*"), "error: '*' means 5 gradients, expected one layer's: 'fc.bias', "
                        "'fc.weight', 'body.conv2.weight', 'body.conv1.bias', 'body.conv1.weight'");
}

TEST(GradientName, RefusesUnknownNames) {
  EXPECT_EQ(found("fd.weight"),
            "error: no gradient is called 'fd.weight', did you mean 'fc.weight'?");
  EXPECT_EQ(found("nothing-like-it"),
            "error: no gradient is called 'nothing-like-it', expected a name such as 'fc.weight', "
            "'fc.bias', 'body.conv2.weight', 'body.conv1.bias', 'body.conv1.weight'");
  EXPECT_EQ(found("fc/Gem"), "error: no gradient is called 'fc/Gem', did you mean '/fc/Gemm'?");
  EXPECT_TRUE(found("[a").starts_with("error: '[a': ")) << found("[a");
  EXPECT_TRUE(found("").starts_with("error: no gradient is called ''")) << found("");
}

TEST(GradientName, RefusesAPlanWithoutGradients) {
  Result<std::size_t> place = findGradient({}, "fc");
  ASSERT_FALSE(place.isOk());
  EXPECT_EQ(place.status().message(), "the plan has no gradients, so none is called 'fc'");
}

// Names come from models: control characters in them do not reach the terminal.
TEST(GradientName, ShowsNoControlCharacters) {
  const std::vector<GradientName> odd{{"a\x1b[31m", {}, 1}, {"a\nb", {}, 1}};
  for (const char *text : {"a", "c", "a?b"}) {
    Result<std::size_t> place = findGradient(odd, text);
    if (!place) {
      EXPECT_EQ(place.status().message().find_first_of("\x1b\n"), std::string::npos) << text;
    }
  }
  EXPECT_NE(findGradient(odd, "a").status().message().find("'a?[31m', 'a?b'"), std::string::npos);
}
