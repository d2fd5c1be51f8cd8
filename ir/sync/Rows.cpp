// Text of a certificate's rows.
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
  std::size_t lanes = row.lines.size();
  while (lanes > 0 && row.lines[lanes - 1] == RelaxationRow::Line{})
    --lanes;
  for (std::size_t lane = 0; lane < lanes; ++lane)
    printer << ", " << row.lines[lane].latency << ", " << row.lines[lane].secondsPerByte;
  return printer << "]";
}

AsmPrinter &operator<<(AsmPrinter &printer, const StateRow &row) {
  printer << "[" << row.free << ", " << row.compute << ", " << row.held << ", " << row.freedom;
  std::size_t lanes = row.open.size();
  while (lanes > 0 && row.open[lanes - 1] == StateRow::closed)
    --lanes;
  for (std::size_t lane = 0; lane < lanes; ++lane)
    printer << ", " << row.open[lane];
  return printer << "]";
}

} // namespace syncline::sync

namespace mlir {

using syncline::cluster::Real;
using syncline::sync::maxLanes;
using syncline::sync::RelaxationRow;
using syncline::sync::StateRow;

static ParseResult parseReal(AsmParser &parser, Real &value) {
  FailureOr<Real> real = FieldParser<Real>::parse(parser);
  if (failed(real))
    return failure();
  value = *real;
  return success();
}

/// What follows a row's fixed numbers: at most one `entry` a lane, then the bracket.
static ParseResult parseLanes(AsmParser &parser,
                              llvm::function_ref<ParseResult(std::size_t lane)> entry) {
  for (std::size_t lane = 0; failed(parser.parseOptionalRSquare()); ++lane) {
    if (parser.parseComma())
      return failure();
    if (lane == maxLanes)
      return parser.emitError(parser.getCurrentLocation())
             << "expected at most " << maxLanes << " lanes";
    if (entry(lane))
      return failure();
  }
  return success();
}

FailureOr<RelaxationRow> FieldParser<RelaxationRow>::parse(AsmParser &parser) {
  RelaxationRow row;
  auto parseLine = [&](std::size_t lane) -> ParseResult {
    return failure(parseReal(parser, row.lines[lane].latency) || parser.parseComma() ||
                   parseReal(parser, row.lines[lane].secondsPerByte));
  };
  if (parser.parseLSquare() || parseReal(parser, row.channelWeight) || parser.parseComma() ||
      parseReal(parser, row.heldWeight) || parseLanes(parser, parseLine))
    return failure();
  return row;
}

FailureOr<StateRow> FieldParser<StateRow>::parse(AsmParser &parser) {
  StateRow row;
  auto parseOpen = [&](std::size_t lane) { return parser.parseInteger(row.open[lane]); };
  if (parser.parseLSquare() || parseReal(parser, row.free) || parser.parseComma() ||
      parseReal(parser, row.compute) || parser.parseComma() || parser.parseInteger(row.held) ||
      parser.parseComma() || parser.parseInteger(row.freedom) || parseLanes(parser, parseOpen))
    return failure();
  return row;
}

} // namespace mlir
