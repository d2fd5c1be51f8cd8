// Patterns of layers, and the schemes that they ask for.
#include "passes/merge/RequestedSchemes.h"

#include <gtest/gtest.h>

namespace syncline::merge {
namespace {

using cluster::Scheme;

void expectRequested(llvm::StringRef text, llvm::StringRef glob, Scheme scheme) {
  const Result<RequestedScheme> parsed = parseRequestedScheme(text);
  ASSERT_TRUE(parsed) << parsed.status().message();
  EXPECT_EQ(parsed->glob, glob.str());
  EXPECT_EQ(parsed->scheme, scheme);
}

// Schemes are spelled as plans spell them, two of them also as papers do; the last '=' divides.
TEST(RequestedScheme, IsLayersAndScheme) {
  expectRequested("fc*=recursive-doubling", "fc*", Scheme::recursiveDoubling);
  expectRequested("fc=ps", "fc", Scheme::parameterServer);
  expectRequested("fc=sfb", "fc", Scheme::factors);
  expectRequested("a=b=tree", "a=b", Scheme::tree);
}

void expectRefused(llvm::StringRef text, const std::string &start) {
  const Result<RequestedScheme> parsed = parseRequestedScheme(text);
  ASSERT_FALSE(parsed) << text.str();
  EXPECT_EQ(parsed.status().kind(), ErrorKind::badInput);
  EXPECT_EQ(parsed.status().message().substr(0, start.size()), start);
}

TEST(RequestedScheme, IsRefusedWithWhatIsWrong) {
  expectRefused("fc", "expected LAYERS=SCHEME, as in 'fc*=factors', got 'fc'");
  expectRefused("=ring", "expected LAYERS=SCHEME");
  expectRefused("[=ring", "expected a pattern of layers such as 'fc*', got '['");
  expectRefused("fc=fast",
                "unknown scheme 'fast' for 'fc', expected one of 'ring', 'recursive-doubling', ");
  expectRefused("fc=rign", "unknown scheme 'rign' for 'fc', did you mean 'ring'?");
}

std::vector<std::optional<Scheme>> matched(llvm::ArrayRef<RequestedScheme> patterns) {
  const GradientNames gradients[] = {{"conv.weight", "conv"}, {"fc.weight", "fc"}};
  auto requested = requestedSchemes(gradients, patterns);
  EXPECT_TRUE(requested) << requested.status().message();
  return requested ? *requested : std::vector<std::optional<Scheme>>();
}

// A pattern may match any of a gradient's names; where two match, the later counts.
TEST(RequestedSchemes, TheLastThatMatchesCounts) {
  using Schemes = std::vector<std::optional<Scheme>>;
  EXPECT_EQ(matched({}), Schemes({std::nullopt, std::nullopt}));
  EXPECT_EQ(matched({{"fc", Scheme::tree}}), Schemes({std::nullopt, Scheme::tree}));
  EXPECT_EQ(matched({{"*.weight", Scheme::ring}, {"fc", Scheme::tree}}),
            Schemes({Scheme::ring, Scheme::tree}));
  EXPECT_EQ(matched({{"fc", Scheme::tree}, {"*.weight", Scheme::ring}}),
            Schemes({Scheme::ring, Scheme::ring}));
}

TEST(RequestedSchemes, APatternMustMatch) {
  const GradientNames gradients[] = {{"fc.weight"}};
  const auto requested = requestedSchemes(gradients, {{"fc9", Scheme::parameterServer}});
  ASSERT_FALSE(requested);
  EXPECT_EQ(requested.status().message(),
            "no layer matches 'fc9', which shall travel by "
            "'parameter-server', expected a name such as 'fc.weight'");
}

} // namespace
} // namespace syncline::merge
