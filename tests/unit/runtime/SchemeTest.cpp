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

// Schemes that something carries are listed sums first; a list joins names as text.
TEST(Scheme, Lists) {
  EXPECT_EQ(listOf(carriedSchemes(/*byNccl=*/true)),
            "ring, tree, library, parameter-server, reduce-scatter, factors or sparse");
  EXPECT_EQ(listOf(carriedSchemes(/*byNccl=*/false), " and "),
            "ring, recursive-doubling, halving-doubling, tree, hierarchical, parameter-server, "
            "reduce-scatter, factors and sparse");
  EXPECT_EQ(listOf({}), "");
  EXPECT_EQ(listOf(schemesWhere<hasHalves>, ", "), "ring, halving-doubling, reduce-scatter");
  EXPECT_EQ(listOf(schemesWhere<hasRows>), "sparse");
}

// NCCL's names are those of its tuner; a gathered message is priced as "factors".
TEST(Scheme, Properties) {
  EXPECT_EQ(ncclName(Scheme::library), "any");
  EXPECT_EQ(ncclName(Scheme::reduceScatter), "ring");
  EXPECT_EQ(ncclName(Scheme::hierarchical), "");
  for (Scheme scheme : allSchemes())
    EXPECT_EQ(pricedAs(scheme), scheme == Scheme::sparse ? Scheme::factors : scheme);
  EXPECT_TRUE(isSum(Scheme::parameterServer) && !isAllReduce(Scheme::parameterServer));
  EXPECT_TRUE(isAllReduce(Scheme::library) && !isCarried(Scheme::library, /*byNccl=*/false));
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
