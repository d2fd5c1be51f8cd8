// Who meets whom: halves of ranks and binary trees.
#include "runtime/transport/collectives/RankHalves.h"
#include "runtime/transport/collectives/Trees.h"

#include <bit>
#include <gtest/gtest.h>

namespace syncline {
namespace {

using namespace transport;

// Partners name each other, guests their hosts, and rounds are as few as can be.
TEST(RankHalves, Agree) {
  for (int ranks = 1; ranks <= 70; ++ranks) {
    std::vector<std::vector<RankHalving>> all;
    for (int r = 0; r < ranks; ++r)
      all.push_back(halvingsOf(r, ranks));
    for (int r = 0; r < ranks; ++r) {
      ASSERT_LE(static_cast<int>(all[r].size()), std::bit_width(unsigned(ranks - 1)));
      for (std::size_t l = 0; l < all[r].size(); ++l) {
        const RankHalving &level = all[r][l];
        ASSERT_NE(level.partner >= 0, level.host >= 0);
        if (level.partner >= 0) {
          EXPECT_EQ(all[level.partner][l].partner, r);
        }
        if (level.host >= 0) {
          EXPECT_EQ(all[level.host][l].guest, r);
        }
        if (level.guest >= 0) {
          EXPECT_EQ(all[level.guest][l].host, r);
        }
        EXPECT_LE(level.first, r);
        EXPECT_LT(r, level.last);
      }
    }
  }
}

// Each tree has one root, parents know their children, and no place is deeper than said.
TEST(Trees, AreTrees) {
  for (int ranks = 1; ranks <= 70; ++ranks)
    for (int tree : {0, 1}) {
      int roots = 0, children = 0;
      for (int r = 0; r < ranks; ++r) {
        TreePlace place = treePlace(tree, r, ranks);
        ASSERT_LE(place.depth, treeHeight(ranks));
        ASSERT_LE(place.children.size(), 2u);
        children += static_cast<int>(place.children.size());
        roots += place.parent < 0;
        for (int child : place.children) {
          EXPECT_EQ(treePlace(tree, child, ranks).parent, r);
          EXPECT_EQ(treePlace(tree, child, ranks).depth, place.depth + 1);
        }
      }
      EXPECT_EQ(roots, 1);
      EXPECT_EQ(children, ranks - 1);
    }
}

// Nobody is inside both trees: the work is even.
TEST(Trees, InsideAtMostOnce) {
  for (int ranks = 2; ranks <= 70; ++ranks)
    for (int r = 0; r < ranks; ++r)
      EXPECT_TRUE(treePlace(0, r, ranks).children.empty() ||
                  treePlace(1, r, ranks).children.empty())
          << r << " of " << ranks;
}

} // namespace
} // namespace syncline
