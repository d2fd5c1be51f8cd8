// Einsum of two tensors or constants that is a product of matrices or of stacks of them, or of one,
// which is summed and transposed. Letters of one operand alone are summed first.
#include "frontend/onnx/FoldConstants.h"
#include "frontend/onnx/OpTable.h"

#include "llvm/ADT/StringExtras.h"

#include "onnx/onnx_pb.h"

#include <map>
#include <optional>

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

namespace {

/// The letters of an equation by what the product does with them.
struct Letters {
  std::string stack; ///< of both operands and the result
  std::string rows;  ///< of the first operand and the result
  std::string columns;
  std::string summed; ///< of both operands alone
};

/// Letters of an equation "ij,jk->ik", each at most once a part. That of one operand has no b.
struct Equation {
  std::string a, b, y;
  bool isPair;
};

bool isPlain(llvm::StringRef letters) {
  for (size_t i = 0; i < letters.size(); ++i)
    if (!llvm::isAlpha(letters[i]) || letters.find(letters[i], i + 1) != llvm::StringRef::npos)
      return false;
  return true;
}

/// The letters that stand in one operand alone, in the alphabet's order: the result of an equation
/// that does not state one.
std::string lonelyLetters(llvm::StringRef a, llvm::StringRef b) {
  std::string letters;
  for (char c : (a + b).str())
    if (a.contains(c) != b.contains(c))
      letters += c;
  llvm::sort(letters);
  return letters;
}

std::optional<Equation> parse(llvm::StringRef text) {
  std::string plain;
  for (char c : text)
    if (c != ' ')
      plain += c;
  auto [operands, stated] = llvm::StringRef(plain).split("->");
  auto [a, b] = operands.split(',');
  if (!isPlain(a) || !isPlain(b))
    return std::nullopt;
  const bool isStated = llvm::StringRef(plain).contains("->");
  const std::string y = isStated ? stated.str() : lonelyLetters(a, b);
  const auto isGiven = [&, a = a, b = b](char c) { return a.contains(c) || b.contains(c); };
  if (!isPlain(y) || !llvm::all_of(y, isGiven))
    return std::nullopt;
  return Equation{a.str(), b.str(), y, operands.contains(',')};
}

bool has(const std::string &part, char c) { return part.find(c) != std::string::npos; }

/// Precondition: no letter stands in one operand alone.
Letters sortLetters(const Equation &of) {
  Letters letters;
  for (char c : of.y)
    (has(of.a, c) && has(of.b, c) ? letters.stack
     : has(of.a, c)               ? letters.rows
                                  : letters.columns) += c;
  for (char c : of.a)
    if (!has(of.y, c))
      letters.summed += c;
  return letters;
}

/// The equation in quotes; long ones, which no model has, by their beginning.
std::string quoted(llvm::StringRef equation) {
  constexpr std::size_t shown = 60;
  return '"' + equation.take_front(shown).str() + (equation.size() > shown ? "...\"" : "\"");
}

using Sizes = std::map<char, std::int64_t>;

nn::Dims sizesOf(const Sizes &sizes, const std::string &letters) {
  nn::Dims dims;
  for (char c : letters)
    dims.push_back(sizes.at(c));
  return dims;
}

/// Reorders the dimensions `from` to `to`; both have the same letters.
Value reorder(NodeImport &node, Value x, const std::string &from, const std::string &to) {
  if (from == to)
    return x;
  nn::Dims order, dims;
  for (char c : to) {
    order.push_back(static_cast<std::int64_t>(from.find(c)));
    dims.push_back(shapeOf(x)[order.back()]);
  }
  return node.create<nn::TransposeOp>(RankedTensorType::get(dims, elementOf(x)), x, order);
}

/// Sums x over its letters that stand neither in the other operand nor in the result.
Value sumAlone(NodeImport &node, Value x, std::string &letters, const std::string &other,
               const std::string &y) {
  nn::Dims axes;
  std::string kept;
  for (auto [d, c] : llvm::enumerate(letters))
    if (has(other, c) || has(y, c))
      kept += c;
    else
      axes.push_back(static_cast<std::int64_t>(d));
  letters = kept;
  if (axes.empty())
    return x;
  const auto type =
      RankedTensorType::get(nn::reducedShape(shapeOf(x), axes, /*keepDims=*/false), elementOf(x));
  return node.create<nn::ReduceOp>(type, nn::Reduction::sum, x, axes);
}

/// [stack.., first.., second..] as [stack.., first, second].
Value asMatrices(NodeImport &node, Value x, const Sizes &sizes, const std::string &stack,
                 const std::string &first, const std::string &second) {
  nn::Dims dims = sizesOf(sizes, stack);
  dims.push_back(nn::elementCount(sizesOf(sizes, first)));
  dims.push_back(nn::elementCount(sizesOf(sizes, second)));
  return node.reshape(x, dims);
}

/// Each letter's size; nothing where operands differ in one.
std::optional<Sizes> readSizes(const Equation &of, nn::DimsRef a, nn::DimsRef b) {
  Sizes sizes;
  for (auto [letters, dims] : {std::pair(&of.a, a), std::pair(&of.b, b)}) {
    if (letters->size() != dims.size())
      return std::nullopt;
    for (size_t i = 0; i < letters->size(); ++i)
      if (sizes.emplace((*letters)[i], dims[i]).first->second != dims[i])
        return std::nullopt;
  }
  return sizes;
}

/// Where the operand's element for these indices of all letters is, row-major.
std::int64_t placeOf(const std::string &letters, const Sizes &sizes, const Sizes &index) {
  std::int64_t place = 0;
  for (char c : letters)
    place = place * sizes.at(c) + index.at(c);
  return place;
}

/// Moves to the next index of all letters; false after the last.
bool advance(const Sizes &sizes, Sizes &index) {
  for (auto &[letter, i] : index) {
    if (++i < sizes.at(letter))
      return true;
    i = 0;
  }
  return false;
}

} // namespace

// Angles of rotary positions are an outer product of constants.
FailureOr<ConstantTensor> frontend::foldEinsum(NodeImport &node, Constants in) {
  const std::string text = node.text("equation", "");
  const std::optional<Equation> equation = parse(text);
  const bool areReal = llvm::all_of(
      in, [&](const ConstantTensor *x) { return x->isReal() && x->type == in[0]->type; });
  const bool fits = equation && areReal && in.size() == (equation->isPair ? 2 : 1);
  const std::optional<Sizes> sizes =
      fits ? readSizes(*equation, in[0]->dims, equation->isPair ? in[1]->dims : nn::Dims())
           : std::nullopt;
  std::int64_t products = 1;
  for (const auto &[letter, size] : sizes.value_or(Sizes()))
    products =
        size < 1 || products > maxConstantElements ? maxConstantElements + 1 : products * size;
  if (!sizes || products > maxConstantElements)
    return node.error("equation " + quoted(text) + " of these constants is not supported");
  ConstantTensor result;
  result.type = in[0]->type;
  result.dims = sizesOf(*sizes, equation->y);
  result.reals.assign(result.size(), 0);
  Sizes index;
  for (const auto &[letter, size] : *sizes)
    index[letter] = 0;
  do {
    const double factor = equation->isPair ? in[1]->reals[placeOf(equation->b, *sizes, index)] : 1;
    result.reals[placeOf(equation->y, *sizes, index)] +=
        in[0]->reals[placeOf(equation->a, *sizes, index)] * factor;
  } while (advance(*sizes, index));
  return result;
}

/// The product of two operands whose letters stand in both, or in the result.
static FailureOr<Value> createProduct(NodeImport &node, Value a, Value b, const Equation &equation,
                                      const Sizes &sizes) {
  const auto [stack, rows, columns, summed] = sortLetters(equation);
  a = asMatrices(node, reorder(node, a, equation.a, stack + rows + summed), sizes, stack, rows,
                 summed);
  b = asMatrices(node, reorder(node, b, equation.b, stack + summed + columns), sizes, stack, summed,
                 columns);
  SYNCLINE_TRY_MLIR(type, node.type(nn::matmulShape(shapeOf(a), false, shapeOf(b), false), a));
  Value y = node.create<nn::MatmulOp>(*type, a, b, Value(), false, false, nn::Activation::none);
  y = node.reshape(y, sizesOf(sizes, stack + rows + columns));
  return reorder(node, y, stack + rows + columns, equation.y);
}

static LogicalResult importEinsum(NodeImport &node) {
  const std::string text = node.text("equation", "");
  std::optional<Equation> equation = parse(text);
  if (!equation || node.inputCount() != (equation->isPair ? 2 : 1))
    return node.error(
        "equation " + quoted(text) +
        " is not a product of two operands such as \"bij,bjk->bik\", nor sums of one; "
        "others are not supported");
  Value a = node.tensor(0), b = equation->isPair ? node.tensor(1) : Value();
  const std::optional<Sizes> sizes =
      readSizes(*equation, shapeOf(a), b ? shapeOf(b) : nn::DimsRef());
  if (!sizes)
    return node.error("operands " + nn::toString(shapeOf(a)) +
                      (b ? " and " + nn::toString(shapeOf(b)) : "") + " do not fit equation " +
                      quoted(text));
  a = sumAlone(node, a, equation->a, equation->b, equation->y);
  if (!b)
    return node.define(reorder(node, a, equation->a, equation->y));
  b = sumAlone(node, b, equation->b, equation->a, equation->y);
  SYNCLINE_TRY_MLIR(y, createProduct(node, a, b, *equation, *sizes));
  return node.define(*y);
}

OpRows frontend::einsumOps() {
  static constexpr OpRow rows[] = {
      {"Einsum", {importEinsum, 1, allOperands}},
  };
  return rows;
}
