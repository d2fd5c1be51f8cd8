// Follows an input's elements through the operations that move them.
#include "codegen/json/NumberedRows.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <numeric>

using namespace mlir;

namespace syncline::codegen {

namespace {

using Dims = llvm::ArrayRef<std::int64_t>;
/// For each element of a tensor, its place in the input; -1 for those that are not the input's.
using Places = std::vector<std::int64_t>;

Dims shapeOf(Value value) { return cast<MemRefType>(value.getType()).getShape(); }

Dims list(plan::CallOp call, StringRef name) {
  return call->getAttrOfType<DenseI64ArrayAttr>(name).asArrayRef();
}

/// Calls `visit` with each element's coordinates, in the order of the elements.
template <typename Visit> void forEach(Dims shape, Visit visit) {
  llvm::SmallVector<std::int64_t> at(shape.size(), 0);
  const std::int64_t count = ShapedType::getNumElements(shape);
  for (std::int64_t i = 0; i < count; ++i) {
    visit(Dims(at));
    for (std::size_t d = shape.size(); d-- > 0 && ++at[d] == shape[d];)
      at[d] = 0;
  }
}

/// The element at these coordinates; -1 outside of the tensor.
std::int64_t elementAt(const Places &places, Dims shape, Dims at) {
  std::int64_t place = 0;
  for (auto [size, coordinate] : llvm::zip_equal(shape, at)) {
    if (coordinate < 0 || coordinate >= size)
      return -1;
    place = place * size + coordinate;
  }
  return places[static_cast<std::size_t>(place)];
}

class Follower {
public:
  explicit Follower(Value input) : input(input) {
    Places own(cast<MemRefType>(input.getType()).getNumElements());
    std::iota(own.begin(), own.end(), 0);
    known[input] = std::move(own);
  }

  /// The places of the value's elements; null where none is the input's.
  const Places *find(Value value) const {
    const auto place = known.find(value);
    return place == known.end() ? nullptr : &place->second;
  }

  void move(plan::CallOp call) {
    if (llvm::none_of(call.getIns(), [&](Value operand) { return find(operand); }))
      return;
    switch (call.getCallee()) {
    case plan::Kernel::reshape:
      known[call.getOuts().front()] = Places(*find(call.getIns().front()));
      return;
    case plan::Kernel::slice:
      return moveFrom(call, [&](Dims at, llvm::MutableArrayRef<std::int64_t> from) {
        for (auto [to, start, step, own] :
             llvm::zip_equal(at, list(call, "starts"), list(call, "steps"), from))
          own = start + to * step;
      });
    case plan::Kernel::pad:
      return moveFrom(call, [&](Dims at, llvm::MutableArrayRef<std::int64_t> from) {
        for (auto [to, begin, own] : llvm::zip_equal(at, list(call, "begins"), from))
          own = to - begin;
      });
    case plan::Kernel::transpose:
      return moveFrom(call, [&](Dims at, llvm::MutableArrayRef<std::int64_t> from) {
        for (auto [to, dimension] : llvm::zip_equal(at, list(call, "permutation")))
          from[static_cast<std::size_t>(dimension)] = to;
      });
    case plan::Kernel::concat:
      return join(call);
    default:
      return;
    }
  }

private:
  /// `source` finds the operand's coordinates for those of the result.
  template <typename Source> void moveFrom(plan::CallOp call, Source source) {
    const Value x = call.getIns().front(), y = call.getOuts().front();
    const Dims shape = shapeOf(x);
    const Places &places = *find(x);
    Places moved;
    llvm::SmallVector<std::int64_t> from(shape.size());
    forEach(shapeOf(y), [&](Dims at) {
      source(at, from);
      moved.push_back(elementAt(places, shape, from));
    });
    known[y] = std::move(moved);
  }

  void join(plan::CallOp call) {
    const auto axis = static_cast<std::size_t>(call->getAttrOfType<IntegerAttr>("axis").getInt());
    Places joined;
    forEach(shapeOf(call.getOuts().front()), [&](Dims at) {
      llvm::SmallVector<std::int64_t> from(at);
      auto part = call.getIns().begin();
      for (; from[axis] >= shapeOf(*part)[axis]; ++part)
        from[axis] -= shapeOf(*part)[axis];
      const Places *places = find(*part);
      joined.push_back(places ? elementAt(*places, shapeOf(*part), from) : -1);
    });
    known[call.getOuts().front()] = std::move(joined);
  }

  const Value input;
  llvm::DenseMap<Value, Places> known;
};

} // namespace

std::vector<std::int64_t> numberedRows(plan::TensorOp input, plan::ProgramOp program) {
  const auto type = cast<MemRefType>(input.getType());
  if (!type.getElementType().isInteger(64) || type.getRank() == 0)
    return {};
  Follower follower(input.getResult());
  std::vector<std::int64_t> rows(type.getNumElements() / type.getDimSize(0), 0);
  for (auto call : program.getOps<plan::CallOp>()) {
    if (call.getCallee() != plan::Kernel::embedding) {
      follower.move(call);
      continue;
    }
    const Places *places = follower.find(call.getIns().front());
    const std::int64_t count = shapeOf(call.getIns().back())[0];
    for (const std::int64_t place : places ? *places : Places())
      if (place >= 0) {
        std::int64_t &own = rows[static_cast<std::size_t>(place) % rows.size()];
        own = own == 0 ? count : std::min(own, count);
      }
  }
  const bool isUsed = llvm::any_of(rows, [](std::int64_t count) { return count > 0; });
  return isUsed ? rows : std::vector<std::int64_t>();
}

} // namespace syncline::codegen
