// The checks of operations that take or put rows by indices, and of recurrent layers.
#include "runtime/core/OperandChecks.h"
#include "syncline/RecurrentCell.h"
#include "syncline/ScatterKind.h"

namespace syncline::core {

/// `rows` are taken from the table, or go back to it.
static void checkRows(const Operands &o, Tensor ids, Tensor table, Tensor rows) {
  o.expectType(table, {ElementType::f32});
  o.expectType(ids, {ElementType::i64});
  o.expectType(rows, {ElementType::f32});
  if (o.rank(table) < 2)
    o.fail("'" + o.info(table).name + "': expected at least 2 dimensions");
  Shape wanted = o.shape(ids);
  wanted.insert(wanted.end(), o.shape(table).begin() + 1, o.shape(table).end());
  o.expectShape(rows, wanted);
}

void checkEmbedding(const Operands &o, Tensor ids, Tensor table, Tensor y) {
  checkRows(o, ids, table, y);
}

void checkEmbeddingBackward(const Operands &o, Tensor ids, Tensor dy, Tensor onto, Tensor dtable) {
  checkRows(o, ids, dtable, dy);
  if (onto.isValid())
    o.expectLike(onto, dtable);
}

void checkIndexedRows(const Operands &o, Tensor whole, Tensor indices, Tensor rows,
                      std::int64_t axis, std::int64_t shared) {
  o.expectType(whole, {ElementType::f32});
  o.expectType(rows, {ElementType::f32});
  o.expectType(indices, {ElementType::i64, ElementType::f32});
  const Shape &from = o.shape(whole), &numbers = o.shape(indices);
  if (axis < 0 || axis >= o.rank(whole) || shared < 0 || shared > axis ||
      shared > o.rank(indices) || !std::equal(from.begin(), from.begin() + shared, numbers.begin()))
    o.fail("expected an axis of " + shapeText(from) + " behind " + std::to_string(shared) +
           " dimensions that " + shapeText(numbers) + " has too, got " + std::to_string(axis));
  Shape wanted(from.begin(), from.begin() + axis);
  wanted.insert(wanted.end(), numbers.begin() + shared, numbers.end());
  wanted.insert(wanted.end(), from.begin() + axis + 1, from.end());
  o.expectShape(rows, wanted);
}

void checkScatteredRows(const Operands &o, Tensor updates, Tensor indices, Tensor onto, Tensor y,
                        std::int64_t axis, std::int64_t shared, std::int64_t kind) {
  checkIndexedRows(o, y, indices, updates, axis, shared);
  if (onto.isValid())
    o.expectLike(onto, y);
  if (kind < 0 || kind > static_cast<std::int64_t>(ScatterKind::minimum))
    o.fail("expected a kind of scatter from 0 to 4, got " + std::to_string(kind));
}

void checkTopK(const Operands &o, Tensor x, Tensor values, Tensor indices) {
  o.expectType(x, {ElementType::f32});
  Shape wanted = o.shape(x);
  const std::int64_t most = wanted.empty() ? 0 : wanted.back();
  const std::int64_t count = o.shape(values).empty() ? 0 : o.shape(values).back();
  if (count < 1 || count > most)
    o.fail("expected 1 to " + std::to_string(most) + " elements of each row, got " +
           std::to_string(count));
  wanted.back() = count;
  for (Tensor result : {values, indices}) {
    o.expectType(result, {ElementType::f32});
    o.expectShape(result, wanted);
  }
}

void checkRecurrent(const Operands &o, const RecurrentTensors &all, std::int64_t cell,
                    bool reverse) {
  if (cell < 0 || cell >= recurrentCells)
    o.fail("expected a cell from 0 to " + std::to_string(recurrentCells - 1) + ", got " +
           std::to_string(cell));
  for (Tensor tensor : {all.x, all.r, all.initial, all.y, all.last, all.saved})
    o.expectType(tensor, {ElementType::f32});
  const auto kind = static_cast<RecurrentCell>(cell);
  const Shape &x = o.shape(all.x), &r = o.shape(all.r);
  if (x.size() != 3 || r.size() != 3 || r[0] < 1 || r[0] > 2 || (r[0] == 2 && reverse))
    o.fail("expected x of three dimensions and weights of one or two directions, got " +
           shapeText(x) + " and " + shapeText(r));
  const std::int64_t t = x[0], b = x[1], d = r[0], size = r[2];
  o.expectShape(all.r, {d, gatesOf(kind) * size, size});
  o.expectShape(all.x, {t, b, d * gatesOf(kind) * size});
  o.expectShape(all.initial, {statesOf(kind), d, b, size});
  o.expectShape(all.last, {statesOf(kind), d, b, size});
  o.expectShape(all.y, {t, b, d * size});
  o.expectShape(all.saved, {d, t, b, savedOf(kind) * size});
  if (all.bias.isValid()) {
    o.expectType(all.bias, {ElementType::f32});
    o.expectShape(all.bias, {d, 2 * gatesOf(kind) * size});
  }
  if (all.lengths.isValid()) {
    o.expectType(all.lengths, {ElementType::i64});
    o.expectShape(all.lengths, {b});
  }
}

} // namespace syncline::core
