// `--scheme LAYER=SCHEME`.
#include "frontend/driver/ForcedScheme.h"

#include <gtest/gtest.h>

using namespace syncline;
using driver::forcedScheme;

static std::string parsed(const char *text) {
  Result<std::string> forced = forcedScheme(text);
  return forced ? *forced : "refused";
}

TEST(ForcedScheme, TakesEverySchemeByName) {
  for (const char *scheme : {"ring", "recursive-doubling", "halving-doubling", "tree",
                             "reduce-scatter", "hierarchical", "parameter-server", "factors"}) {
    const std::string text = std::string("fc*=") + scheme;
    EXPECT_EQ(parsed(text.c_str()), text);
    EXPECT_NE(driver::schemeList().find(scheme), std::string::npos);
  }
}

// Poseidon's names.
TEST(ForcedScheme, TakesShortNames) {
  EXPECT_EQ(parsed("fc6=sfb"), "fc6=factors");
  EXPECT_EQ(parsed("fc6=ps"), "fc6=parameter-server");
}

// A name may have an equals sign, a scheme has none.
TEST(ForcedScheme, SplitsAtTheLastEqualsSign) {
  EXPECT_EQ(parsed("a=b=ps"), "a=b=parameter-server");
}

// The message lists what there is; it is a wrong command line, not a wrong file.
TEST(ForcedScheme, RefusesWhatIsMalformed) {
  for (const char *text : {"", "fc6", "=ring", "fc6=", "fc6=ringo", "fc6=Ring", "fc6=ring ", "="}) {
    Result<std::string> forced = forcedScheme(text);
    ASSERT_FALSE(forced.isOk()) << text;
    EXPECT_EQ(forced.status().exitCode(), 2);
    EXPECT_NE(forced.status().message().find("hierarchical, parameter-server (or ps), factors"),
              std::string::npos)
        << forced.status().message();
    EXPECT_TRUE(forced.status().message().ends_with("got '" + std::string(text) + "'"));
  }
}
