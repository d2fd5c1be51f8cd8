// Bad files and graphs: one clear message, exit code 1, never a crash.
#include "TestModel.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <filesystem>
#include <fstream>

using namespace syncline;
using namespace syncline::test;
namespace fs = std::filesystem;

static const char *const valid = "agraph (float[2,3] x) => (float[2,3] y) {"
                                 " w = RandomNormal <shape = [3]> () h = Mul(x, w) y = Relu(h) }";

/// The error of the valid graph after an edit.
static Outcome edited(const Edit &edit) { return importText(13, valid, meanSquare(), edit); }

TEST(FileError, MissingEmptyAndForeignFilesAreNamed) {
  expectError(importFile("/no/such/model.onnx"), "cannot open '/no/such/model.onnx'");
  expectError(importFile(fs::temp_directory_path().string()), "not a regular file");
  expectError(importBytes(""), "model.onnx' is empty");
  expectError(importBytes("import torch\nprint('not a model')\n"), "is not an ONNX model");
  expectError(importBytes(std::string(100, '\0')), "is not an ONNX model");
}

TEST(FileError, TruncatedFilesAreNamed) {
  std::string bytes = parseModel(13, valid).SerializeAsString();
  ASSERT_EQ(importBytes(bytes, meanSquare()).error, "");
  for (size_t size = 1; size < bytes.size(); ++size)
    EXPECT_NE(importBytes(bytes.substr(0, size), meanSquare()).error.find("model.onnx'"),
              std::string::npos)
        << size;
}

TEST(FileError, FilesBeyondTwoGiBAreRefusedUnread) {
  std::string path = scratchPath("large.onnx");
  std::ofstream(path) << "x";
  fs::resize_file(path, std::uintmax_t(3) << 30); // sparse
  expectError(importFile(path), "protobuf files end at 2 GiB");
  fs::remove(path);
}

TEST(FileError, OperatorSetMustBeKnown) {
  expectError(edited([](onnx::ModelProto &m) { m.clear_opset_import(); }),
              "does not say which operator set");
  expectError(edited([](onnx::ModelProto &m) { m.mutable_opset_import(0)->set_version(6); }),
              "expected an operator set from 7 to 24, got 6; onnx.version_converter converts");
  expectError(edited([](onnx::ModelProto &m) { m.mutable_opset_import(0)->set_version(99); }),
              "got 99");
}

TEST(FileError, NewerIrVersionsAreRead) {
  EXPECT_EQ(edited([](onnx::ModelProto &m) { m.set_ir_version(10); }).error, "");
}

TEST(GraphError, UnknownOperatorsAreNamed) {
  expectError(edited([](onnx::ModelProto &m) {
                m.mutable_graph()->mutable_node(2)->set_op_type("Hardmax");
                m.mutable_graph()->mutable_node(2)->set_name("/head/Hardmax");
              }),
              "node '/head/Hardmax' (Hardmax): this operator of opset 13 is not supported");
  expectError(edited([](onnx::ModelProto &m) {
                m.mutable_graph()->mutable_node(2)->set_domain("com.microsoft");
              }),
              "node that makes 'y' (Relu): operators of domain 'com.microsoft'");
  expectError(edited([](onnx::ModelProto &m) {
                onnx::NodeProto &node = *m.mutable_graph()->mutable_node(2);
                node.set_domain("com.microsoft");
                node.add_output(std::exchange(*node.mutable_output(0), "")); // the first left out
              }),
              "node that makes 'y' (Relu): operators of domain 'com.microsoft'");
}

// All of them, by operator and reason, and not only the first: what a node without a rule makes has
// its shape by ONNX's rules, so that the nodes behind it are looked at.
TEST(GraphError, AllNodesThatCannotBeTrainedAreListed) {
  const Outcome outcome =
      importText(13,
                 "agraph (float[2,4] x, int64[2] unread) => (float[2,4] y) {"
                 " w = RandomNormal <shape = [4,4]> () a = MatMul(x, w) b = Hardmax(a)"
                 " c = Mod <fmod = 1> (b, a) d = Hardmax(c) e = Cast <to = 7> (d) f = Gather <axis "
                 "= 1> (w, e) g = ReduceMean <axes = [1]> (f)"
                 " h = Relu(g) o = Constant <value_ints = [1]> () i = Squeeze(h, o) y = Einsum "
                 "<equation = \"ij->ij\"> (d)"
                 " z = Sin(y) }",
                 meanSquare(), [](onnx::ModelProto &m) {
                   m.mutable_graph()->mutable_input()->RemoveLast();
                   m.mutable_graph()->mutable_output(0)->set_name("i");
                 });
  expectError(
      outcome,
      "4 nodes cannot be trained: 2 Hardmax, the first node that makes 'b' (Hardmax): this "
      "operator of opset 13 is not supported; node that makes 'c' (Mod): this operator is "
      "supported "
      "for values that are known at import only; node that makes 'e' (Cast): conversion of tensors "
      "to int64 is not supported; frontend/onnx/README.md lists what can be, and 'compile "
      "--plan-only' plans the model by its shapes");
}

// Behind a node whose results have unknown shapes only operators are looked at.
TEST(GraphError, OperatorsBehindUnknownShapesAreListed) {
  const Outcome outcome =
      importText(13,
                 "agraph (float[2,4] x) => (float[2,4] y) { w = RandomNormal <shape = [4,4]> ()"
                 " a = MatMul(x, w) b = Foreign(a) c = Squeeze(b, x) d = Hardmax(c) y = Relu(d) }",
                 meanSquare());
  expectError(outcome, "2 nodes cannot be trained: node that makes 'b' (Foreign): this operator of "
                       "opset 13 is not supported; node that makes 'd' (Hardmax): this");
}

// A power of a trained or computed exponent has no rule.
TEST(GraphError, ExponentsMustBeConstant) {
  expectError(edited([](onnx::ModelProto &m) {
                auto &node = *m.mutable_graph()->mutable_node(2);
                node.set_op_type("Pow");
                node.add_input("h");
              }),
              "(Pow): expected a constant number as exponent, got 'h'");
}

// A message holds the beginning of a long text, and no number stands for an impossible one.
TEST(GraphError, LongEquationsAndPowersOfZero) {
  const Outcome outcome = importText(
      13,
      "agraph (float[2,3] x) => (float[2,3] y) { w = RandomNormal <shape = [3]> () h = Mul(x, w) "
      "y = Einsum <equation = \"" +
          std::string(100'000, 'i') + "\"> (h, w) }",
      meanSquare());
  EXPECT_LT(outcome.error.size(), 400u);
  expectError(outcome, "equation \"" + std::string(60, 'i') + "...\" is not a product");
  expectError(importText(13,
                         "agraph (float[2,3] x) => (float[2,3] y) { z = Constant <value_ints = "
                         "[2,0]> () n = Constant <value_int = -1> () p = Pow(z, n) "
                         "w = RandomNormal <shape = [3]> () h = Mul(x, w) y = Reshape(h, p) }",
                         meanSquare()),
              "(Pow): the integer 0 has no power of -1");
}

// A condition has truth values, and integers are no operands of floating-point operators.
TEST(GraphError, IntegersAndTruthValues) {
  const auto error = [](const std::string &nodes) {
    return importText(16,
                      "agraph (float[2,3] x, int64[2,3] m) => (float[2,3] y) "
                      "{ w = RandomNormal <shape = [3]> () h = Mul(x, w) " +
                          nodes + " }",
                      meanSquare());
  };
  expectError(error("y = Where(x, h, x)"),
              "(Where): expected a condition of truth values, got 'x'");
  expectError(error("n = Add(m, m) e = Exp(n) y = Mul(h, e)"),
              "(Exp): expected floating-point elements in 'n'");
  expectError(error("y = Add(h, m)"), "operands 'h' and 'm' have different element types");
  expectError(error("n = Add(m, m) y = Add(h, n)"),
              "operands 'h' and 'n' have different element types");
  expectError(error("i = Cast <to = 7> (h) f = Cast <to = 1> (i) y = Mul(h, f)"),
              "(Cast): conversion of tensors to int64 is not supported");
  expectError(error("t = RandomNormal <shape = [5]> () g = Gather(t, h) y = Add(h, g)"),
              "(Gather): expected int64 indices, got 'h'");
  expectError(importText(16,
                         "agraph (float[2,3] x, float[3] z) => (float[2,3] y) "
                         "{ w = RandomNormal <shape = [3]> () h = Mul(x, w) y = Add(h, z) }",
                         meanSquare()),
              "input 'z': expected the batch, 2, as first dimension, got shape 3");
}

// A NUL would end the name in the generated step; other bytes go into text files.
TEST(GraphError, NamesAreUtf8WithoutNul) {
  const std::string nul("we\0ght", 6);
  auto renamed = [&](const std::string &name) {
    return edited([&](onnx::ModelProto &m) {
      m.mutable_graph()->mutable_node(0)->set_output(0, name);
      m.mutable_graph()->mutable_node(1)->set_input(1, name);
    });
  };
  expectError(renamed(nul), "tensor 'we?ght': expected a name in UTF-8 without NUL");
  expectError(renamed("we\xff"), "tensor 'we\xEF\xBF\xBD': expected a name in UTF-8");
  EXPECT_EQ(renamed("w\xC3\xA9\night").error, "");
  expectError(
      edited([&](onnx::ModelProto &m) { m.mutable_graph()->mutable_node(2)->set_name(nul); }),
      "node 'we?ght': expected a name");
  expectError(edited([&](onnx::ModelProto &m) {
                m.mutable_graph()->mutable_input(0)->set_name(nul);
                m.mutable_graph()->mutable_node(1)->set_input(0, nul);
              }),
              "tensor 'we?ght': expected a name");
  expectError(edited([&](onnx::ModelProto &m) {
                m.mutable_graph()->mutable_output(0)->set_name(nul);
                m.mutable_graph()->mutable_node(2)->set_output(0, nul);
              }),
              "tensor 'we?ght': expected a name");
}

TEST(GraphError, CyclesAreNamed) {
  expectError(
      edited([](onnx::ModelProto &m) { m.mutable_graph()->mutable_node(1)->set_input(0, "y"); }),
      "cycle through node that makes");
}

TEST(GraphError, UnsortedNodesAreSorted) {
  Outcome outcome =
      edited([](onnx::ModelProto &m) { m.mutable_graph()->mutable_node()->SwapElements(0, 2); });
  EXPECT_EQ(outcome.error, "");
}

TEST(GraphError, DuplicateAndMissingNamesAreRejected) {
  expectError(
      edited([](onnx::ModelProto &m) { m.mutable_graph()->mutable_node(2)->set_output(0, "h"); }),
      "'h' is already defined elsewhere");
  expectError(
      edited([](onnx::ModelProto &m) { m.mutable_graph()->mutable_node(1)->set_output(0, "x"); }),
      "'x' is already defined elsewhere");
  expectError(
      edited([](onnx::ModelProto &m) { m.mutable_graph()->mutable_node(2)->set_input(0, "q"); }),
      "nothing defines its input 'q'");
  expectError(
      edited([](onnx::ModelProto &m) { m.mutable_graph()->mutable_output(0)->set_name("q"); }),
      "nothing defines the graph's output 'q'");
}

TEST(GraphError, InputsAndOutputsAreCounted) {
  expectError(edited([](onnx::ModelProto &m) { m.mutable_graph()->clear_output(); }),
              "the graph has no output");
  expectError(edited([](onnx::ModelProto &m) { m.mutable_graph()->clear_input(); }),
              "expected a graph input, got none");
  expectError(
      edited([](onnx::ModelProto &m) { *m.mutable_graph()->add_input() = m.graph().input(0); }),
      "input 'x' is defined twice");
}

TEST(GraphError, OutputMustDependOnInputAndBeFloat) {
  expectError(importText(13,
                         "agraph (float[2,3] x) => (float[2,3] y) {"
                         " w = RandomNormal <shape = [2,3]> () y = Relu(w) }",
                         meanSquare()),
              "output 'y' does not depend on the input");
  expectError(importText(13,
                         "agraph (int64[2,3] x) => (int64[2,3] y) {"
                         " c = Constant <value_ints = [1,2,3]> () y = Add(x, c) }",
                         meanSquare()),
              "output 'y' is not floating-point");
}

TEST(GraphError, ElementTypesAreChecked) {
  expectError(importText(13, "agraph (string[2,3] x) => (float[2,3] y) { y = Relu(x) }"),
              "input 'x': string is not supported");
  expectError(importText(13, "agraph (int64[2,3] x) => (float[2,3] y) { y = Relu(x) }"),
              "expected floating-point elements in 'x'");
  expectError(importText(13, "agraph (double[2,3] x) => (double[2,3] y) {"
                             " w = RandomNormal <shape = [3]> () y = Mul(x, w) }"),
              "input 'x': expected elements of float, got double");
}

static Edit withInitializer(const std::function<void(onnx::TensorProto &)> &change) {
  return [=](onnx::ModelProto &model) {
    onnx::GraphProto &graph = *model.mutable_graph();
    graph.mutable_node()->DeleteSubrange(0, 1);
    onnx::TensorProto &tensor = *graph.add_initializer();
    tensor.set_name("w");
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    tensor.add_dims(3);
    change(tensor);
  };
}

TEST(GraphError, TensorSizesAreChecked) {
  EXPECT_EQ(edited(withInitializer([](onnx::TensorProto &t) {
              t.set_raw_data(std::string(12, 'x'));
            })).error,
            "");
  expectError(edited(withInitializer([](onnx::TensorProto &t) { t.set_raw_data("12345678"); })),
              "tensor 'w': expected 12 bytes of values, got 8");
  expectError(edited(withInitializer([](onnx::TensorProto &t) { t.add_float_data(1); })),
              "tensor 'w': expected 3 values, got 1");
  expectError(edited(withInitializer([](onnx::TensorProto &t) { t.set_dims(0, -3); })),
              "negative or too large");
  expectError(edited(withInitializer([](onnx::TensorProto &t) {
                t.set_dims(0, INT64_MAX);
                t.add_dims(INT64_MAX);
              })),
              "negative or too large");
  expectError(edited(withInitializer([](onnx::TensorProto &t) { t.set_dims(0, 0); })),
              "parameter 'w' has no elements");
  expectError(edited(withInitializer(
                  [](onnx::TensorProto &t) { t.set_data_type(onnx::TensorProto::STRING); })),
              "tensor 'w': string is not supported");
  expectError(edited(withInitializer([](onnx::TensorProto &t) { t.set_data_type(77); })),
              "element type 77 is not supported");
}

TEST(GraphError, ShapesMustFit) {
  expectError(importText(13, "agraph (float[2,3] x) => (float[2,4] y) {"
                             " w = RandomNormal <shape = [4,4]> () y = MatMul(x, w) }"),
              "node that makes 'y' (MatMul): inner dimensions differ: 3 and 4");
  expectError(importText(13, "agraph (float[2,3] x) => (float[2,4] y) {"
                             " w = RandomNormal <shape = [4]> () y = Mul(x, w) }"),
              "shapes 2x3 and 4 do not broadcast");
}

// Integers that a step computes have importers of their own, which read operands as others do.
TEST(GraphError, OperandsOfComputedIntegersMustBePresent) {
  const auto reject = [](const std::string &node, int operand) {
    expectError(importText(16,
                           "agraph (float[2,3] x, int64[2,3] t) => (float[2,3] y) { "
                           "w = RandomNormal <shape = [3]> () h = Mul(x, w) "
                           "m = Add(t, t) " +
                               node + " f = Cast <to = 1> (s) y = Add(h, f) }",
                           meanSquare()),
                "expected operand " + std::to_string(operand) + ", which is missing");
  };
  reject("s = CumSum(m)", 2);
  reject("s = Add(m)", 2);
  reject("s = Where()", 1);
  reject("k = Equal(m, t) s = Where(k, m)", 3);
}

TEST(GraphError, AttributesAreChecked) {
  auto reject = [](int opset, const std::string &nodes, const std::string &text) {
    expectError(importNodes(opset, nodes), text);
  };
  reject(13, "y = Softmax <axis = 4> (h)", "axis 4 is not within rank 4");
  reject(13, "y = Softmax <axis = 1.5> (h)", "attribute 'axis': expected int, got float");
  reject(13, "y = MaxPool <kernel_shape = [3]> (h)", "expected a kernel_shape with 2 entries");
  reject(13, "y = MaxPool <kernel_shape = [9,9]> (h)", "does not fit");
  reject(13, "y = MaxPool <kernel_shape = [2,2], strides = [0,1]> (h)",
         "strides: expected at least 1");
  reject(13, "y = MaxPool <kernel_shape = [2,2], pads = [2,0,0,0]> (h)", "nothing but padding");
  reject(13, "y = MaxPool <kernel_shape = [2,2], auto_pad = \"SAME\"> (h)", "auto_pad: expected");
  reject(13, "m, i = MaxPool <kernel_shape = [2,2]> (h) y = Add(m, i)", "indices of maxima");
  reject(13, "y = Transpose <perm = [0,1,1,3]> (h)", "is not a permutation");
  reject(13, "y = LeakyRelu <alpha = -0.5> (h)", "alpha that is not negative");
  reject(13, "r = Constant <value_float = 1.0> () y = Dropout(h, r)", "ratio in [0, 1)");
  reject(10, "y = Pad <pads = [0,0,1,1,0,0,1,1], mode = \"mirror\"> (h)", "got 'mirror'");
  reject(11, "y = Squeeze <axes = [1]> (h)", "cannot squeeze dimension 1 of 2x4x8x8");
  reject(13, "s = Shape(q) q = Relu(y) y = Reshape(h, s)", "cycle");
  reject(13, "y = Reshape(h, h)", "expected constant integers as target shape");
  reject(13,
         "a = Constant <value_ints = [0]> () z = Constant <value_ints = [0]> () b = Div(a, z) y "
         "= Reshape(h, b)",
         "division by zero");
  reject(13, "c = RandomNormal <shape = [5,4,3,3]> () y = Conv <group = 3> (h, c)", "3 groups");
  reject(13, "y = Cast <to = 11> (h)", "(Cast): expected elements of float, got double");
}

static Outcome withExternal(const std::string &location, const std::string &offset,
                            const std::string &length) {
  return edited(withInitializer([&](onnx::TensorProto &t) {
    t.set_data_location(onnx::TensorProto::EXTERNAL);
    for (auto [key, value] :
         {std::pair{"location", location}, {"offset", offset}, {"length", length}})
      if (!value.empty()) {
        onnx::StringStringEntryProto *entry = t.add_external_data();
        entry->set_key(key);
        entry->set_value(value);
      }
  }));
}

TEST(ExternalData, IsReadFromTheModelsFolder) {
  std::ofstream(scratchPath("weights.data"), std::ios::binary) << "....abcdefghijkl";
  Outcome outcome = withExternal("weights.data", "4", "12");
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.weights, "abcdefghijkl");
}

TEST(ExternalData, MustLieWithinItsFile) {
  std::ofstream(scratchPath("short.data"), std::ios::binary) << "0123456789";
  expectError(withExternal("short.data", "", ""), "tensor 'w': external data 'short.data' ends");
  expectError(withExternal("short.data", "9223372036854775807", ""), "ends before byte");
  expectError(withExternal("short.data", "-1", ""),
              "expected a number of bytes as external offset");
  expectError(withExternal("short.data", "", "5"), "expected 12 bytes of external data, got 5");
  expectError(withExternal("no.data", "", ""), "cannot open external data 'no.data'");
  expectError(withExternal("", "0", "12"), "expected a file name");
}

TEST(ExternalData, OutsideTheModelsFolderIsRefused) {
  std::ofstream(scratchPath("inside.data"), std::ios::binary) << "0123456789ab";
  fs::path outside = fs::temp_directory_path() / ("syncline-outside-" + std::to_string(::getpid()));
  std::ofstream(outside, std::ios::binary) << "0123456789ab";
  fs::create_symlink(outside, scratchPath("link.data"));
  expectError(withExternal(outside.string(), "", ""), "lies outside the model's folder");
  expectError(withExternal("../" + outside.filename().string(), "", ""), "lies outside");
  expectError(withExternal("link.data", "", ""), "lies outside");
  fs::create_symlink("inside.data", scratchPath("fine.data"));
  EXPECT_EQ(withExternal("fine.data", "", "").error, "");
  fs::remove(outside);
}
