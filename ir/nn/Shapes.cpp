// Computes result shapes of nn's operations.
#include "ir/nn/Shapes.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace syncline::nn;
using llvm::createStringError;

static llvm::Error reason(const std::string &text) {
  return createStringError(llvm::inconvertibleErrorCode(), text.c_str());
}

std::string syncline::nn::toString(DimsRef dims) {
  if (dims.empty())
    return "scalar";
  std::string text;
  for (auto [i, d] : llvm::enumerate(dims))
    text += (i ? "x" : "") + std::to_string(d);
  return text;
}

std::int64_t syncline::nn::elementCount(DimsRef dims) {
  std::int64_t count = 1;
  for (std::int64_t d : dims)
    count *= d;
  return count;
}

llvm::Expected<Dims> syncline::nn::windowPositions(DimsRef spatial, const WindowRef &w) {
  size_t rank = spatial.size();
  for (DimsRef list : {w.kernel, w.strides, w.dilations, w.padsBegin, w.padsEnd})
    if (list.size() != rank)
      return reason("expected " + std::to_string(rank) +
                    " entries for kernel, strides, dilations and pads, got " +
                    std::to_string(list.size()));
  Dims result;
  for (size_t i = 0; i < rank; ++i) {
    if (w.kernel[i] < 1 || w.strides[i] < 1 || w.dilations[i] < 1)
      return reason("expected kernel, strides and dilations of at least 1");
    std::int64_t room =
        spatial[i] + w.padsBegin[i] + w.padsEnd[i] - w.dilations[i] * (w.kernel[i] - 1) - 1;
    if (room < 0)
      return reason("the window of " + std::to_string(w.kernel[i]) +
                    " does not fit the padded size of " +
                    std::to_string(spatial[i] + w.padsBegin[i] + w.padsEnd[i]));
    result.push_back(room / w.strides[i] + 1);
  }
  return result;
}

llvm::Expected<Dims> syncline::nn::convShape(DimsRef x, DimsRef w, WindowRef window,
                                             std::int64_t groups) {
  if (x.size() < 3 || x.size() != w.size())
    return reason("expected x and w of the same rank of at least 3, got " + toString(x) + " and " +
                  toString(w));
  if (groups < 1 || x[1] != w[1] * groups || w[0] % groups != 0)
    return reason("channels of x " + toString(x) + " and w " + toString(w) + " do not match for " +
                  std::to_string(groups) + " groups");
  window.kernel = w.drop_front(2);
  llvm::Expected<Dims> positions = windowPositions(x.drop_front(2), window);
  if (!positions)
    return positions.takeError();
  Dims result{x[0], w[0]};
  result.append(*positions);
  return result;
}

llvm::Expected<Dims> syncline::nn::poolShape(DimsRef x, const WindowRef &window) {
  if (x.size() < 3)
    return reason("expected x of rank 3 or more, got " + toString(x));
  llvm::Expected<Dims> positions = windowPositions(x.drop_front(2), window);
  if (!positions)
    return positions.takeError();
  Dims result{x[0], x[1]};
  result.append(*positions);
  return result;
}

llvm::Expected<Dims> syncline::nn::matmulShape(DimsRef a, bool transposeA, DimsRef b,
                                               bool transposeB) {
  if (a.size() < 2 || b.size() < 2)
    return reason("expected operands of rank 2 or more, got " + toString(a) + " and " +
                  toString(b));
  auto last = [](DimsRef d, bool transposed) {
    std::int64_t rows = d[d.size() - 2], columns = d.back();
    return transposed ? std::pair(columns, rows) : std::pair(rows, columns);
  };
  auto [rows, inner] = last(a, transposeA);
  auto [innerB, columns] = last(b, transposeB);
  if (inner != innerB)
    return reason("inner dimensions differ: " + std::to_string(inner) + " and " +
                  std::to_string(innerB));
  llvm::Expected<Dims> result = broadcastShape(a.drop_back(2), b.drop_back(2));
  if (!result)
    return result.takeError();
  result->append({rows, columns});
  return result;
}

llvm::Expected<Dims> syncline::nn::broadcastShape(DimsRef a, DimsRef b) {
  Dims result(std::max(a.size(), b.size()));
  for (size_t i = 0; i < result.size(); ++i) { // from the last dimension on
    std::int64_t da = i < a.size() ? a[a.size() - 1 - i] : 1;
    std::int64_t db = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (da != db && da != 1 && db != 1)
      return reason("shapes " + toString(a) + " and " + toString(b) + " do not broadcast");
    result[result.size() - 1 - i] = da == 1 ? db : da;
  }
  return result;
}

Dims syncline::nn::reducedShape(DimsRef x, DimsRef axes, bool keepDims) {
  Dims result;
  for (auto [i, d] : llvm::enumerate(x)) {
    if (!llvm::is_contained(axes, static_cast<std::int64_t>(i)))
      result.push_back(d);
    else if (keepDims)
      result.push_back(1);
  }
  return result;
}
