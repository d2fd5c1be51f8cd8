// Every element type that ONNX has, wherever a file may have one: a step holds float and int64, and
// all else is refused, by name.
#include "TestModel.h"

#include "frontend/onnx/ElementType.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <regex>
#include <set>

using namespace syncline::frontend;
using namespace syncline::test;
using onnx::TensorProto;

namespace {

/// Those of today's ONNX, those that it may get, and one that is none.
std::vector<int> allTypes() {
  std::vector<int> types{99};
  for (int type = 0; type <= 30; ++type)
    types.push_back(type);
  return types;
}

/// `count` zeros; of a type without a known size, none.
TensorProto zeros(int type, const std::string &name, std::initializer_list<std::int64_t> dims) {
  TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(type);
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) {
    tensor.add_dims(dim);
    count *= dim;
  }
  tensor.set_raw_data(std::string(static_cast<std::size_t>(count * elementBytes(type)), '\0'));
  return tensor;
}

Outcome withInput(int type, const std::string &nodes) {
  return importText(13,
                    "agraph (float[2,3] x) => (float[2,3,3] y) { w = RandomNormal <shape = [5,3]> "
                    "() " +
                        nodes + " }",
                    meanSquare(), [&](onnx::ModelProto &model) {
                      auto &input = *model.mutable_graph()->mutable_input(0);
                      input.mutable_type()->mutable_tensor_type()->set_elem_type(type);
                    });
}

/// `nodes` compute y from h, [2, 3], and from b, an initialiser of three zeros, or `constant`.
Outcome withTensor(int type, const std::string &nodes, bool isConstant = false) {
  return importText(13,
                    "agraph (float[2,3] x, int64[2,3] ids) => (float[2,3] y) { w = RandomNormal "
                    "<shape = [3]> () h = Mul(x, w) " +
                        std::string(isConstant ? "b = Constant <value = float {0}> () " : "") +
                        nodes + " }",
                    meanSquare(), [&](onnx::ModelProto &model) {
                      const TensorProto tensor = zeros(type, isConstant ? "" : "b", {3});
                      if (!isConstant)
                        *model.mutable_graph()->add_initializer() = tensor;
                      for (auto &node : *model.mutable_graph()->mutable_node())
                        if (isConstant && node.op_type() == "Constant")
                          *node.mutable_attribute(0)->mutable_t() = tensor;
                    });
}

/// Every form, of which some import where the type is float or, for rows' numbers, int64.
std::vector<Outcome> allForms(int type) {
  const std::string number = std::to_string(type);
  std::vector<Outcome> forms{
      withInput(type, "h = MatMul(x, w) y = Reshape(h, h)"),
      withInput(type, "v = RandomNormal <shape = [3]> () y = Mul(x, v)"),
      withInput(type, "v = RandomNormal <shape = [3]> () f = Cast <to = 1> (x) y = Mul(f, v)"),
      withInput(type, "y = Gather(w, x)"),
      withInput(type, "t = Transpose <perm = [0,1]> (x) u = Unsqueeze <axes = [2]> (t) "
                      "v = RandomNormal <shape = [3]> () f = Cast <to = 1> (x) y = Mul(f, v)"),
      withInput(type, "s = Constant <value_ints = [2,3]> () p = Concat <axis = 1> (x, x) "
                      "a = Split <axis = 1> (p) y = Gather(w, p)"),
      withInput(type, "c = Cast <to = 7> (x) y = Gather(w, c)"),
  };
  for (const bool isConstant : {false, true})
    for (const std::string nodes :
         {"y = Add(h, b)", "f = Cast <to = 1> (b) y = Add(h, f)", "s = Exp(b) y = Add(h, s)",
          "g = Gather(b, ids) f = Cast <to = 1> (g) y = Add(h, f)",
          "c = Concat <axis = 0> (b, b) f = Cast <to = 1> (c) y = Add(h, f)"})
      forms.push_back(withTensor(type, nodes, isConstant));
  for (const std::string &nodes :
       {"c = Cast <to = " + number + "> (h) y = Cast <to = 1> (c)",
        "y = Cast <to = " + number + "> (h)",
        "c = Cast <to = " + number + "> (ids) f = Cast <to = 1> (c) y = Add(h, f)",
        "v = RandomNormal <shape = [3], dtype = " + number + "> () y = Mul(h, v)",
        "v = RandomNormal <shape = [3], dtype = " + number +
            "> () f = Cast <to = 1> (v) y = Mul(h, f)"})
    forms.push_back(importText(13,
                               "agraph (float[2,3] x, int64[2,3] ids) => (float[2,3] y) { w = "
                               "RandomNormal <shape = [3]> () h = Mul(x, w) " +
                                   nodes + " }",
                               meanSquare()));
  return forms;
}

/// The element types of all tensors in the module.
std::set<std::string> elementsIn(const std::string &ir) {
  static const std::regex tensor("tensor<(?:[0-9]+x)*([a-z0-9]+)>");
  std::set<std::string> elements;
  for (std::sregex_iterator i(ir.begin(), ir.end(), tensor), end; i != end; ++i)
    elements.insert((*i)[1]);
  return elements;
}

} // namespace

// What a step would hold otherwise is found by a check of the plan only, as the compiler's fault.
TEST(ElementTypes, StepHoldsFloatAndInt64Alone) {
  int imported = 0;
  for (const int type : allTypes()) {
    int form = 0;
    for (const Outcome &outcome : allForms(type)) {
      SCOPED_TRACE(elementName(type) + ", form " + std::to_string(form++));
      if (!outcome.error.empty()) {
        EXPECT_EQ(outcome.exitCode, 1) << outcome.error;
        continue;
      }
      ++imported;
      for (const std::string &element : elementsIn(outcome.ir))
        EXPECT_TRUE(element == "f32" || element == "i64") << outcome.ir;
    }
  }
  EXPECT_GT(imported, 40);
}

TEST(ElementTypes, OtherFloatsAreRefusedByName) {
  for (const int type : {TensorProto::FLOAT16, TensorProto::BFLOAT16, TensorProto::DOUBLE}) {
    const std::string wanted = ": expected elements of float, got " + elementName(type);
    const auto refuses = [&](const Outcome &outcome, const std::string &what) {
      EXPECT_NE(outcome.error.find(what + wanted), std::string::npos) << outcome.error;
    };
    refuses(withInput(type, "f = Cast <to = 1> (x) y = MatMul(f, w)"), "input 'x'");
    refuses(withTensor(type, "f = Cast <to = 1> (b) y = Add(h, f)"), "parameter 'b'");
    refuses(withTensor(type, "y = BatchNormalization(h, w, w, b, b)"), "running statistic 'b'");
    refuses(withTensor(type, "g = Gather(b, ids) f = Cast <to = 1> (g) y = Add(h, f)", true),
            "constant 'b'");
    refuses(withTensor(TensorProto::FLOAT, "c = Cast <to = " + std::to_string(type) +
                                               "> (h) f = Cast <to = 1> (c) y = Add(f, b)"),
            "(Cast)");
  }
}

// A constant that is cast at import never is a tensor of the step.
TEST(ElementTypes, CastConstantsAreRead) {
  for (const int type : {TensorProto::FLOAT16, TensorProto::BFLOAT16, TensorProto::DOUBLE})
    EXPECT_EQ(withTensor(type, "f = Cast <to = 1> (b) y = Add(h, f)", true).error, "");
}
