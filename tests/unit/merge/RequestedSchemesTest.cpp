// Patterns of layers, and the schemes that they ask for.
#include "passes/merge/RequestedSchemes.h"

#include <gtest/gtest.h>

namespace syncline {
namespace {

using cluster::Scheme;

void expectForced(llvm::StringRef text, llvm::StringRef glob, Scheme scheme) {
  const Result<ForcedScheme> parsed = parseForcedScheme(text);
  ASSERT_TRUE(parsed) << parsed.status().message();
  EXPECT_EQ(parsed->glob, glob.str());
  EXPECT_EQ(parsed->scheme, scheme);
}

// Schemes are spelled as plans spell them, two of them also as papers do; the last '=' divides.
TEST(ForcedScheme, IsLayersAndScheme) {
  expectForced("fc*=recursive-doubling", "fc*", Scheme::recursiveDoubling);
  expectForced("fc=ps", "fc", Scheme::parameterServer);
  expectForced("fc=sfb", "fc", Scheme::factors);
  expectForced("a=b=tree", "a=b", Scheme::tree);
}

void expectRefused(llvm::StringRef text, const std::string &start) {
  const Result<ForcedScheme> parsed = parseForcedScheme(text);
  ASSERT_FALSE(parsed) << text.str();
  EXPECT_EQ(parsed.status().kind(), ErrorKind::badInput);
  EXPECT_EQ(parsed.status().message().substr(0, start.size()), start);
}

TEST(ForcedScheme, IsRefusedWithWhatIsWrong) {
  expectRefused("fc", "expected LAYERS=SCHEME, as in 'fc*=factors', got 'fc'");
  expectRefused("=ring", "expected LAYERS=SCHEME");
  expectRefused("[=ring", "expected a pattern of layers such as 'fc*', got '['");
  expectRefused("fc=fast",
                "unknown scheme 'fast' for 'fc', expected one of 'ring', 'recursive-doubling', ");
  expectRefused("fc=rign", "unknown scheme 'rign' for 'fc', did you mean 'ring'?");
}

std::vector<std::optional<Scheme>> matched(llvm::ArrayRef<ForcedScheme> patterns) {
  const GradientNames gradients[] = {{"conv.weight", "conv"}, {"fc.weight", "fc"}};
  auto forced = forcedSchemes(gradients, patterns);
  EXPECT_TRUE(forced) << forced.status().message();
  return forced ? *forced : std::vector<std::optional<Scheme>>();
}

// A pattern may match any of a gradient's names; where two match, the later counts.
TEST(ForcedSchemes, TheLastThatMatchesCounts) {
  using Schemes = std::vector<std::optional<Scheme>>;
  EXPECT_EQ(matched({}), Schemes({std::nullopt, std::nullopt}));
  EXPECT_EQ(matched({{"fc", Scheme::tree}}), Schemes({std::nullopt, Scheme::tree}));
  EXPECT_EQ(matched({{"*.weight", Scheme::ring}, {"fc", Scheme::tree}}),
            Schemes({Scheme::ring, Scheme::tree}));
  EXPECT_EQ(matched({{"fc", Scheme::tree}, {"*.weight", Scheme::ring}}),
            Schemes({Scheme::ring, Scheme::ring}));
}

TEST(ForcedSchemes, APatternMustMatch) {
  const GradientNames gradients[] = {{"fc.weight"}};
  const auto forced = forcedSchemes(gradients, {{"fc9", Scheme::parameterServer}});
  ASSERT_FALSE(forced);
  EXPECT_EQ(forced.status().message(), "no layer matches 'fc9', which shall travel by "
                                       "'parameter-server', expected a name such as 'fc.weight'");
}

} // namespace
} // namespace syncline
