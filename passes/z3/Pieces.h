// Pieces: a merge class's time for a message as straight lines, and lines below it everywhere.
// No Z3. Units: seconds and bytes. Pure; thread-safe.
#pragma once

#include "passes/problem/Problem.h"

#include <cstdint>
#include <vector>

namespace syncline::z3judge {

using namespace problem;

/// From `firstByte` to `lastByte`, both included, an option takes line.seconds(bytes).
struct Piece {
  std::int64_t firstByte = 0, lastByte = 0;
  CostSegment line;
};

/// What any option of the merge class takes for fewest..most bytes. Where options compete, a range
/// has several pieces, of which the least counts; an option that another beats on a whole range by
/// more than a double's rounding is left out there. Preconditions: 0 <= fewest <= most.
std::vector<Piece> piecesOf(const MergeClass &mergeClass, std::int64_t fewest, std::int64_t most);

/// latency + secondsPerByte * bytes.
struct Line {
  double latency = 0, secondsPerByte = 0;
};

/// Lines that no piece goes below, lowered by more than a double's rounding: the lower convex hull
/// of the pieces' ends. Precondition: there is a piece.
std::vector<Line> linesBelow(const std::vector<Piece> &pieces);

} // namespace syncline::z3judge
