// Translates operations of arith and math to C++ expressions.
#include "codegen/step/KernelBody.h"

#include "codegen/step/Text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace syncline::codegen {

/// Expressions over operands $0, $1, $2 and the result's type $t; empty for an unknown operation.
static StringRef expressionOf(StringRef name) {
  return llvm::StringSwitch<StringRef>(name)
      .Cases("arith.addf", "arith.addi", "$0 + $1")
      .Cases("arith.subf", "arith.subi", "$0 - $1")
      .Cases("arith.mulf", "arith.muli", "$0 * $1")
      .Cases("arith.divf", "arith.divsi", "$0 / $1")
      .Case("arith.negf", "-$0")
      .Case("arith.maximumf", "maximum($0, $1)")
      .Case("arith.minimumf", "minimum($0, $1)")
      .Case("arith.maxnumf", "std::fmax($0, $1)")
      .Case("arith.minnumf", "std::fmin($0, $1)")
      .Case("arith.select", "$0 ? $1 : $2")
      .Case("arith.andi", "static_cast<$t>($0 & $1)")
      .Case("arith.ori", "static_cast<$t>($0 | $1)")
      .Case("arith.xori", "static_cast<$t>($0 ^ $1)")
      .Cases("arith.extf", "arith.truncf", "arith.sitofp", "arith.uitofp", "static_cast<$t>($0)")
      .Cases("arith.fptosi", "arith.fptoui", "arith.extui", "arith.trunci", "static_cast<$t>($0)")
      .Case("math.absf", "std::fabs($0)")
      .Case("math.acos", "std::acos($0)")
      .Case("math.acosh", "std::acosh($0)")
      .Case("math.asin", "std::asin($0)")
      .Case("math.asinh", "std::asinh($0)")
      .Case("math.atan", "std::atan($0)")
      .Case("math.atanh", "std::atanh($0)")
      .Case("math.ceil", "std::ceil($0)")
      .Case("math.copysign", "std::copysign($0, $1)")
      .Case("math.cos", "std::cos($0)")
      .Case("math.cosh", "std::cosh($0)")
      .Case("math.erf", "errorFunction($0)")
      .Case("math.exp", "exponential($0)")
      .Case("math.expm1", "std::expm1($0)")
      .Case("math.floor", "std::floor($0)")
      .Case("math.fma", "std::fma($0, $1, $2)")
      .Case("math.log", "std::log($0)")
      .Case("math.log1p", "std::log1p($0)")
      .Case("math.powf", "std::pow($0, $1)")
      .Case("math.roundeven", "std::nearbyint($0)") // in the mode that a program starts in
      .Case("math.rsqrt", "1 / std::sqrt($0)")
      .Case("math.sin", "std::sin($0)")
      .Case("math.sinh", "std::sinh($0)")
      .Case("math.sqrt", "std::sqrt($0)")
      .Case("math.tan", "std::tan($0)")
      .Case("math.tanh", "hyperbolicTangent($0)")
      .Default("");
}

/// LLVM's unordered predicates are the negations of the opposite ordered ones.
static StringRef expressionOf(arith::CmpFPredicate predicate) {
  switch (predicate) {
  case arith::CmpFPredicate::AlwaysFalse:
    return "false";
  case arith::CmpFPredicate::OEQ:
    return "$0 == $1";
  case arith::CmpFPredicate::OGT:
    return "$0 > $1";
  case arith::CmpFPredicate::OGE:
    return "$0 >= $1";
  case arith::CmpFPredicate::OLT:
    return "$0 < $1";
  case arith::CmpFPredicate::OLE:
    return "$0 <= $1";
  case arith::CmpFPredicate::ONE:
    return "$0 < $1 || $0 > $1";
  case arith::CmpFPredicate::ORD:
    return "$0 == $0 && $1 == $1";
  case arith::CmpFPredicate::UEQ:
    return "!($0 < $1 || $0 > $1)";
  case arith::CmpFPredicate::UGT:
    return "!($0 <= $1)";
  case arith::CmpFPredicate::UGE:
    return "!($0 < $1)";
  case arith::CmpFPredicate::ULT:
    return "!($0 >= $1)";
  case arith::CmpFPredicate::ULE:
    return "!($0 > $1)";
  case arith::CmpFPredicate::UNE:
    return "$0 != $1";
  case arith::CmpFPredicate::UNO:
    return "$0 != $0 || $1 != $1";
  case arith::CmpFPredicate::AlwaysTrue:
    return "true";
  }
  return "";
}

static StringRef expressionOf(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return "$0 == $1";
  case arith::CmpIPredicate::ne:
    return "$0 != $1";
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::ult:
    return "$0 < $1";
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::ule:
    return "$0 <= $1";
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::ugt:
    return "$0 > $1";
  case arith::CmpIPredicate::sge:
  case arith::CmpIPredicate::uge:
    return "$0 >= $1";
  }
  return "";
}

static StringRef patternOf(Operation *op) {
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return expressionOf(compare.getPredicate());
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return expressionOf(compare.getPredicate());
  return expressionOf(op->getName().getStringRef());
}

static std::string fill(StringRef pattern, llvm::ArrayRef<std::string> operands, StringRef type) {
  std::string text;
  for (; !pattern.empty(); pattern = pattern.drop_front()) {
    if (pattern.front() != '$') {
      text += pattern.front();
      continue;
    }
    pattern = pattern.drop_front();
    text += pattern.front() == 't' ? type.str() : operands[pattern.front() - '0'];
  }
  return text;
}

FailureOr<KernelBody> printBody(plan::PointwiseOp loop) {
  KernelBody body;
  Block &block = loop.getBody().front();
  llvm::DenseMap<Value, std::string> names;
  for (BlockArgument argument : block.getArguments())
    names[argument] = "x" + std::to_string(argument.getArgNumber());
  for (Operation &op : block.without_terminator()) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      std::string text = literal(constant.getValue());
      if (text.empty()) {
        op.emitError("no C++ literal for ") << constant.getValue();
        return failure();
      }
      names[constant] = text;
      continue;
    }
    StringRef pattern = patternOf(&op);
    StringRef type = op.getNumResults() == 1 ? cppType(op.getResult(0).getType()) : "";
    if (pattern.empty() || type.empty()) {
      op.emitError("no C++ for '") << op.getName() << "' in a generated loop";
      return failure();
    }
    llvm::SmallVector<std::string> operands;
    for (Value operand : op.getOperands())
      operands.push_back(names.lookup(operand));
    const std::string name = "v" + std::to_string(body.statements.size());
    body.statements.push_back("const " + type.str() + " " + name + " = " +
                              fill(pattern, operands, type) + ";");
    body.summary += (body.summary.empty() ? "" : ", ") + op.getName().stripDialect().str();
    body.usesExtrema |= pattern.starts_with("maximum(") || pattern.starts_with("minimum(");
    names[op.getResult(0)] = name;
  }
  for (Value yielded : block.getTerminator()->getOperands())
    body.results.push_back(names.lookup(yielded));
  if (body.summary.empty())
    body.summary = "copy";
  return body;
}

} // namespace syncline::codegen
