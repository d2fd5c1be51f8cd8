// The table's rows.
#include "ir/nn/UnaryKinds.h"

namespace syncline::nn {

llvm::ArrayRef<UnaryRow> unaryRows() {
  constexpr std::nullopt_t none = std::nullopt;
  static const UnaryRow rows[] = {
#define SYNCLINE_UNARY(kind, reference, alpha, beta)                                               \
  {UnaryKind::kind, Reference::reference, alpha, beta},
#include "ir/nn/UnaryKinds.inc"
  };
  return rows;
}

const UnaryRow &rowOf(UnaryKind kind) {
  return *llvm::find_if(unaryRows(), [=](const UnaryRow &row) { return row.kind == kind; });
}

} // namespace syncline::nn
