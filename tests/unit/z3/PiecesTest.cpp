// A merge class's options as pieces of straight lines.
#include "passes/z3/Pieces.h"

#include "tests/unit/solver/RandomMergeProblem.h"

#include <gtest/gtest.h>

namespace syncline::z3judge {
namespace {

MergeClass twoLines() {
  MergeClass result;
  result.options = {
      {.scheme = Scheme::ring, .cost = std::make_shared<AffineCost>(1, 0.01), .traffic = 4},
      {.scheme = Scheme::tree, .cost = std::make_shared<AffineCost>(0.5, 0.02), .traffic = 4}};
  return result;
}

/// Lines that cross within the range both count, one that the other beats throughout does not.
TEST(Pieces, LeavesOutWhatIsBeaten) {
  EXPECT_EQ(piecesOf(twoLines(), 0, 100).size(), 2u);
  const std::vector<Piece> beaten = piecesOf(twoLines(), 60, 100);
  ASSERT_EQ(beaten.size(), 1u);
  EXPECT_EQ(beaten[0].line.base, 1);
  EXPECT_EQ(beaten[0].firstByte, 60);
  EXPECT_EQ(beaten[0].lastByte, 100);
}

/// Whatever the costs, the least piece is the fastest option's time, and no line is above it.
TEST(Pieces, AreTheFastestOption) {
  for (solver::CostKind kind : solver::allCostKinds)
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      solver::Random random(seed);
      MergeClass mergeClass;
      mergeClass.options = solver::randomOptions(random, kind);
      const std::int64_t first = random.below(1000), last = first + random.below(100'000'000);
      const std::vector<Piece> pieces = piecesOf(mergeClass, first, last);
      for (int i = 0; i < 50; ++i) {
        const std::int64_t bytes = first + random.below(last - first + 1);
        double least = std::numeric_limits<double>::infinity();
        for (const Piece &piece : pieces)
          if (piece.firstByte <= bytes && bytes <= piece.lastByte)
            least = std::min(least, piece.line.base +
                                        piece.line.slope *
                                            static_cast<double>(bytes - piece.line.firstByte));
        EXPECT_NEAR(least, mergeClass.seconds(bytes), 1e-12 * least);
        for (const Line &line : linesBelow(pieces))
          EXPECT_LE(line.latency + line.secondsPerByte * static_cast<double>(bytes), least);
      }
    }
}

} // namespace
} // namespace syncline::z3judge
