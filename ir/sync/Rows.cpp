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

llvm::hash_code hash_value(const StateRow &row) {
  return llvm::hash_combine(row.free, row.compute, row.held, row.freedom,
                            llvm::hash_combine_range(row.open.begin(), row.open.end()));
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

AsmPrinter &operator<<(AsmPrinter &printer, const StateRow &row) {
  printer << "[" << row.free << ", " << row.compute << ", " << row.held << ", " << row.freedom;
  std::size_t mergeClasses = row.open.size();
  while (mergeClasses > 0 && row.open[mergeClasses - 1] == StateRow::closed)
    --mergeClasses;
  for (std::size_t mergeClass = 0; mergeClass < mergeClasses; ++mergeClass)
    printer << ", " << row.open[mergeClass];
  return printer << "]";
}

} // namespace syncline::sync

namespace mlir {

using syncline::cluster::Real;
using syncline::sync::maxMergeClasses;
using syncline::sync::RelaxationRow;
using syncline::sync::StateRow;

static ParseResult parseReal(AsmParser &parser, Real &value) {
  FailureOr<Real> real = FieldParser<Real>::parse(parser);
  if (failed(real))
    return failure();
  value = *real;
  return success();
}

/// What follows a row's fixed numbers: at most one `entry` a merge class, then the bracket.
static ParseResult
parseMergeClasses(AsmParser &parser,
                  llvm::function_ref<ParseResult(std::size_t mergeClass)> entry) {
  for (std::size_t mergeClass = 0; failed(parser.parseOptionalRSquare()); ++mergeClass) {
    if (parser.parseComma())
      return failure();
    if (mergeClass == maxMergeClasses)
      return parser.emitError(parser.getCurrentLocation())
             << "expected at most " << maxMergeClasses << " merge classes";
    if (entry(mergeClass))
      return failure();
  }
  return success();
}

FailureOr<RelaxationRow> FieldParser<RelaxationRow>::parse(AsmParser &parser) {
  RelaxationRow row;
  auto parseLine = [&](std::size_t mergeClass) -> ParseResult {
    return failure(parseReal(parser, row.lines[mergeClass].latency) || parser.parseComma() ||
                   parseReal(parser, row.lines[mergeClass].secondsPerByte));
  };
  if (parser.parseLSquare() || parseReal(parser, row.channelWeight) || parser.parseComma() ||
      parseReal(parser, row.heldWeight) || parseMergeClasses(parser, parseLine))
    return failure();
  return row;
}

FailureOr<StateRow> FieldParser<StateRow>::parse(AsmParser &parser) {
  StateRow row;
  auto parseOpen = [&](std::size_t mergeClass) {
    return parser.parseInteger(row.open[mergeClass]);
  };
  if (parser.parseLSquare() || parseReal(parser, row.free) || parser.parseComma() ||
      parseReal(parser, row.compute) || parser.parseComma() || parser.parseInteger(row.held) ||
      parser.parseComma() || parser.parseInteger(row.freedom) ||
      parseMergeClasses(parser, parseOpen))
    return failure();
  return row;
}

} // namespace mlir
