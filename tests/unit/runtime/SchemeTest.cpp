// Schemes and their names in files.
#include "syncline/Scheme.h"

#include <gtest/gtest.h>

namespace syncline {
namespace {

// Each name is read back as the scheme that it stands for.
TEST(Scheme, NamesAreReadBack) {
  EXPECT_EQ(allSchemes().size(), 10u);
  for (Scheme scheme : allSchemes()) {
    EXPECT_EQ(parseScheme(schemeName(scheme)), scheme);
    EXPECT_EQ(*readScheme(schemeName(scheme)), scheme);
  }
  EXPECT_EQ(schemeName(Scheme::recursiveDoubling), "recursive-doubling");
}

// An unknown name is refused with the nearest name, or with all of them.
TEST(Scheme, UnknownNames) {
  EXPECT_FALSE(parseScheme("star"));
  const Status far = readScheme("star").status(), near = readScheme("rign").status();
  EXPECT_EQ(far.kind(), ErrorKind::badInput);
  EXPECT_EQ(far.message(), "unknown scheme 'star', expected one of 'ring', 'recursive-doubling', "
                           "'halving-doubling', 'tree', 'reduce-scatter', 'hierarchical', "
                           "'parameter-server', 'factors', 'sparse', 'library'");
  EXPECT_EQ(near.message(), "unknown scheme 'rign', did you mean 'ring'?");
}

} // namespace
} // namespace syncline
