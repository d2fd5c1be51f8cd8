// Piecewise linear costs: the options' pieces side by side, and their lower convex hull.
#include "passes/z3/Pieces.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace syncline::z3judge {

namespace {

/// Far more than the rounding of one evaluated line, far less than proofs tolerate.
constexpr double margin = 1e-13;

const CostSegment &lineAt(std::span<const CostSegment> segments, std::int64_t bytes) {
  auto next = std::ranges::upper_bound(segments, bytes, {}, &CostSegment::firstByte);
  return *std::prev(next);
}

bool isBeaten(const Piece &piece, const Piece &other) {
  auto isLess = [&](std::int64_t bytes) {
    const double here = piece.line.seconds(bytes);
    return other.line.seconds(bytes) < here - margin * std::abs(here);
  };
  return isLess(piece.firstByte) && isLess(piece.lastByte);
}

/// The pieces of one range on which every option has one line.
void addRange(const MergeClass &mergeClass, std::int64_t first, std::int64_t last,
              std::vector<Piece> &pieces) {
  std::vector<Piece> here;
  for (const SchemeOption &option : mergeClass.options) {
    const Piece piece{first, last, lineAt(option.cost->segments(), first)};
    if (std::ranges::none_of(here, [&](const Piece &p) { return p.line == piece.line; }))
      here.push_back(piece);
  }
  for (const Piece &piece : here) {
    if (std::ranges::any_of(here, [&](const Piece &other) { return isBeaten(piece, other); }))
      continue;
    auto before = std::ranges::find_if(
        pieces, [&](const Piece &p) { return p.lastByte + 1 == first && p.line == piece.line; });
    if (before == pieces.end())
      pieces.push_back(piece);
    else
      before->lastByte = last;
  }
}

} // namespace

std::vector<Piece> piecesOf(const MergeClass &mergeClass, std::int64_t fewest, std::int64_t most) {
  std::set<std::int64_t> starts{fewest};
  for (const SchemeOption &option : mergeClass.options)
    for (const CostSegment &segment : option.cost->segments())
      if (segment.firstByte > fewest && segment.firstByte <= most)
        starts.insert(segment.firstByte);
  std::vector<Piece> pieces;
  for (auto start = starts.begin(); start != starts.end(); ++start) {
    auto next = std::next(start);
    addRange(mergeClass, *start, next == starts.end() ? most : *next - 1, pieces);
  }
  return pieces;
}

std::vector<Line> linesBelow(const std::vector<Piece> &pieces) {
  struct Point {
    double bytes, seconds;
  };
  std::vector<Point> points;
  for (const Piece &piece : pieces)
    for (std::int64_t bytes : {piece.firstByte, piece.lastByte})
      points.push_back({static_cast<double>(bytes), piece.line.seconds(bytes)});
  std::ranges::sort(points, [](const Point &a, const Point &b) {
    return a.bytes < b.bytes || (a.bytes == b.bytes && a.seconds < b.seconds);
  });
  std::vector<Point> hull;
  for (const Point &point : points) {
    if (!hull.empty() && hull.back().bytes == point.bytes)
      continue;
    auto isAbove = [&](const Point &a, const Point &b) {
      return (b.seconds - a.seconds) * (point.bytes - a.bytes) >=
             (point.seconds - a.seconds) * (b.bytes - a.bytes);
    };
    while (hull.size() > 1 && isAbove(hull[hull.size() - 2], hull.back()))
      hull.pop_back();
    hull.push_back(point);
  }
  std::vector<Line> lines;
  auto addLine = [&](double slope, const Point &through) {
    Line line{through.seconds - slope * through.bytes, slope};
    double excess = 0;
    for (const Point &point : points) // the hull's own rounding
      excess = std::max(excess, line.latency + slope * point.bytes - point.seconds);
    line.latency -= excess + margin * (std::abs(through.seconds) + std::abs(slope * through.bytes));
    lines.push_back(line);
  };
  if (hull.size() == 1)
    addLine(0, hull[0]);
  for (std::size_t i = 1; i < hull.size(); ++i)
    addLine((hull[i].seconds - hull[i - 1].seconds) / (hull[i].bytes - hull[i - 1].bytes), hull[i]);
  return lines;
}

} // namespace syncline::z3judge
