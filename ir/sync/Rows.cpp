// Prints and reads a certificate's rows.
#include "ir/sync/Rows.h"

using namespace mlir;

namespace syncline::sync {

llvm::hash_code hash_value(const RelaxationRow &row) {
  llvm::hash_code code = llvm::hash_combine(row.channelWeight, row.heldWeight);
  for (const RelaxationRow::Line &line : row.lines)
    code = llvm::hash_combine(code, line.latency, line.secondsPerByte);
  return code;
}

AsmPrinter &operator<<(AsmPrinter &printer, const RelaxationRow &row) {
  printer << "[" << row.channelWeight << ", " << row.heldWeight;
  std::size_t mergeClasses = row.lines.size();
  while (mergeClasses > 0 && row.lines[mergeClasses - 1] == RelaxationRow::Line{})
    --mergeClasses;
  for (std::size_t mergeClass = 0; mergeClass < mergeClasses; ++mergeClass)
    printer << ", " << row.lines[mergeClass].latency << ", "
            << row.lines[mergeClass].secondsPerByte;
  return printer << "]";
}

} // namespace syncline::sync

namespace mlir {

using syncline::cluster::Real;
using syncline::sync::maxMergeClasses;
using syncline::sync::RelaxationRow;

static ParseResult parseReal(AsmParser &parser, Real &value) {
  FailureOr<Real> real = FieldParser<Real>::parse(parser);
  if (failed(real))
    return failure();
  value = *real;
  return success();
}

FailureOr<RelaxationRow> FieldParser<RelaxationRow>::parse(AsmParser &parser) {
  RelaxationRow row;
  if (parser.parseLSquare() || parseReal(parser, row.channelWeight) || parser.parseComma() ||
      parseReal(parser, row.heldWeight))
    return failure();
  for (std::size_t mergeClass = 0; failed(parser.parseOptionalRSquare()); ++mergeClass) {
    if (parser.parseComma())
      return failure();
    if (mergeClass == maxMergeClasses)
      return parser.emitError(parser.getCurrentLocation())
             << "expected at most " << maxMergeClasses << " merge classes";
    if (parseReal(parser, row.lines[mergeClass].latency) || parser.parseComma() ||
        parseReal(parser, row.lines[mergeClass].secondsPerByte))
      return failure();
  }
  return row;
}

} // namespace mlir
