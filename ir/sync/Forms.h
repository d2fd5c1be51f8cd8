// The runtime's enums of consistency as parameters of attributes. One declaration serves files, IR,
// simulator and runtime: syncline/Consistency.h.
#pragma once

#include "syncline/Consistency.h"

#include "mlir/IR/DialectImplementation.h"

namespace syncline {

inline llvm::raw_ostream &operator<<(llvm::raw_ostream &stream, ConsistencyForm form) {
  return stream << llvm::StringRef(formName(form));
}
inline llvm::raw_ostream &operator<<(llvm::raw_ostream &stream, EasgdVariant variant) {
  return stream << llvm::StringRef(variantName(variant));
}

namespace sync {

using syncline::ConsistencyForm;
using syncline::EasgdVariant;

} // namespace sync
} // namespace syncline

namespace mlir {

/// Reads a name other than "bsp", which is a program without the attribute.
template <> struct FieldParser<syncline::ConsistencyForm> {
  static FailureOr<syncline::ConsistencyForm> parse(AsmParser &parser);
};
template <> struct FieldParser<syncline::EasgdVariant> {
  static FailureOr<syncline::EasgdVariant> parse(AsmParser &parser);
};

} // namespace mlir
