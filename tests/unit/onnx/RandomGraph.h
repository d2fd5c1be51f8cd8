// Random ONNX graphs that reshape, mix and reduce, some of which keep their samples apart.
#pragma once

#include "ir/nn/Shapes.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>

namespace syncline::test {

/// Writes a graph of random nodes, with shapes as for the batch that its literals are written for.
class RandomGraph {
public:
  explicit RandomGraph(unsigned seed) : random(seed) {}

  std::string write() {
    const bool isOpen = below(4) == 0;
    const std::int64_t exported = isOpen ? 1 : 1 + below(3);
    dims = {exported, 2 * (1 + below(3)), 2 + below(3)};
    const std::string first = isOpen ? "N" : std::to_string(exported);
    const std::string head = "agraph (float[" + first + "," + std::to_string(dims[1]) + "," +
                             std::to_string(dims[2]) + "] x) => (float[M,K] y) {\n";
    for (int left = 2 + below(6); left > 0; --left)
      addNode();
    return head + body + " w = RandomNormal <shape = [1]> () e = Mul(" + value() +
           ", w) s = Constant <value_ints = [" +
           (below(2)       ? "0"
            : first == "N" ? "0"
                           : first) +
           ",-1]> () y = Reshape(e, s) }";
  }

private:
  std::int64_t below(std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(0, most - 1)(random);
  }
  std::int64_t axis() { return below(static_cast<std::int64_t>(dims.size())); }
  std::string value() const { return count == 0 ? "x" : "v" + std::to_string(count); }
  static std::string list(nn::DimsRef numbers) {
    std::string text;
    for (const std::int64_t number : numbers)
      text += (text.empty() ? "" : ",") + std::to_string(number);
    return "[" + text + "]";
  }

  /// Appends a node whose result is the value from now on.
  void become(const std::string &node, const nn::Dims &shape) {
    body += " v" + std::to_string(count + 1) + " = " + node + "\n";
    ++count;
    dims = shape;
  }
  std::string constant(nn::DimsRef numbers) {
    const std::string own = "c" + std::to_string(++constants);
    body += " " + own + " = Constant <value_ints = " + list(numbers) + "> ()\n";
    return own;
  }

  void addNode() {
    switch (below(10)) {
    case 0:
      return become("Sigmoid(" + value() + ")", dims);
    case 1:
      return addTranspose();
    case 2:
    case 3:
    case 4:
      return addReshape();
    case 5:
      return addReduction();
    case 6:
      return become("Softmax <axis = " + std::to_string(axis()) + "> (" + value() + ")", dims);
    case 7:
      return addView();
    case 8:
      return addProduct();
    case 9:
      return addCopies();
    }
  }

  void addTranspose() {
    nn::Dims order, moved;
    for (std::size_t d = 0; d < dims.size(); ++d)
      order.push_back(static_cast<std::int64_t>(d));
    std::shuffle(order.begin(), order.end(), random);
    for (const std::int64_t d : order)
      moved.push_back(dims[d]);
    become("Transpose <perm = " + list(order) + "> (" + value() + ")", moved);
  }

  /// Joins two neighbours or parts a dimension; an entry may be open.
  void addReshape() {
    nn::Dims target = dims;
    if (below(2) && target.size() > 2) {
      const std::int64_t d = below(static_cast<std::int64_t>(target.size()) - 1);
      target[d] *= target[d + 1];
      target.erase(target.begin() + d + 1);
    } else {
      const std::int64_t d = axis(), part = target[d] % 2 == 0 ? 2 : 1;
      target[d] /= part;
      target.insert(target.begin() + d + below(2), part);
    }
    nn::Dims written = target;
    if (below(3))
      written[below(static_cast<std::int64_t>(written.size()))] = -1;
    become("Reshape(" + value() + ", " + constant(written) + ")", target);
  }

  void addReduction() {
    const std::string from = value(), axes = "axes = [" + std::to_string(axis()) + "]";
    body += " r" + std::to_string(count) + " = ReduceMean <" + axes + ", keepdims = 1> (" + from +
            ")\n";
    become("Sub(" + from + ", r" + std::to_string(count) + ")", dims);
  }

  void addView() {
    nn::Dims shape = dims;
    if (below(2)) {
      llvm::erase(shape, 1);
      if (shape.size() >= 2 && dims[0] != 1)
        return become("Squeeze(" + value() + ")", shape);
    }
    const std::int64_t d = below(static_cast<std::int64_t>(dims.size()) + 1);
    shape = dims;
    shape.insert(shape.begin() + d, 1);
    const std::string axes = constant({d});
    become("Unsqueeze(" + value() + ", " + axes + ")", shape);
  }

  void addProduct() {
    const std::int64_t columns = 1 + below(4);
    const std::string own = "p" + std::to_string(count);
    body += " " + own + " = RandomNormal <shape = " + list({dims.back(), columns}) + "> ()\n";
    nn::Dims shape = dims;
    shape.back() = columns;
    become("MatMul(" + value() + ", " + own + ")", shape);
  }

  /// Joins the value with what a node repeats along some of the dimensions, often the batch.
  void addCopies() {
    nn::Dims shared = dims, times;
    for (std::int64_t &size : shared) {
      times.push_back(below(3) ? size : 1);
      size /= times.back();
    }
    const std::string own = "p" + std::to_string(count), all = "a" + std::to_string(count);
    body += " " + own + " = RandomNormal <shape = " + list(shared) + "> ()\n";
    const bool isTile = below(2);
    const std::string target = constant(isTile ? times : dims);
    body += " " + all + "e = " + (isTile ? "Tile(" : "Expand(") + own + ", " + target + ")\n";
    body += " " + all + " = " + (below(2) ? "Sigmoid(" : "Neg(") + all + "e)\n";
    const std::int64_t d = axis();
    nn::Dims joined = dims;
    joined[d] *= 2;
    if (below(2))
      become("Add(" + all + ", " + value() + ")", dims);
    else
      become("Concat <axis = " + std::to_string(d) + "> (" + all + ", " + value() + ")", joined);
  }

  std::mt19937 random;
  nn::Dims dims;
  std::string body;
  int count = 0, constants = 0;
};

} // namespace syncline::test
