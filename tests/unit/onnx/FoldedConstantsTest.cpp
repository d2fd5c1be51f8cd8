// What is computed at import has the value that ONNX defines: each node's result is rounded.
#include "TestModel.h"

#include <gtest/gtest.h>

#include <cstdio>

using namespace syncline::test;

namespace {

/// A model whose output is a factor r, which `nodes` make, of what is trained.
Outcome factor(const std::string &nodes) {
  return importText(18,
                    "agraph (float[2,3] x) => (float[2,3] y) { w = RandomNormal <shape = [3]> () "
                    "h = Mul(x, w) " +
                        nodes + " y = Mul(h, r) }",
                    meanSquare());
}

struct ConstantRow {
  const char *name, *nodes, *value; ///< the value of r as MLIR writes it
};

class FoldedConstants : public testing::TestWithParam<ConstantRow> {};

std::string constantName(const testing::TestParamInfo<ConstantRow> &info) {
  return info.param.name;
}

#define NUMBER(name, value) name " = Constant <value_float = " #value "> () "
#define WHOLE(name, value) name " = Constant <value_int = " #value "> () "
#define FROM_WHOLE " r = Cast <to = 1> (i)"
#define TO_WHOLE " i = Cast <to = 7> (c)" FROM_WHOLE

const ConstantRow roundedRows[] = {
    {"FloorOfProduct", NUMBER("a", 10.0) NUMBER("b", 0.7) "c = Mul(a, b) r = Floor(c)", "7.0"},
    {"CastOfProduct", NUMBER("a", 10.0) NUMBER("b", 0.7) "c = Mul(a, b)" TO_WHOLE, "7.0"},
    {"CeilOfProduct", NUMBER("a", 9.0) NUMBER("b", 0.33333334) "c = Mul(a, b) r = Ceil(c)", "3.0"},
    {"Quotient", NUMBER("a", 2.1) NUMBER("b", 0.7) "c = Div(a, b)" TO_WHOLE, "3.0"},
    {"SumEquals",
     NUMBER("a", 0.1) NUMBER("b", 0.2) NUMBER("d", 0.3) "c = Add(a, b) i = Equal(c, d)" FROM_WHOLE,
     "1.0"},
    {"Difference",
     NUMBER("a", 16777216.0) NUMBER("b", 1.0) NUMBER("d", 16777215.0) "c = Add(a, b) r = Sub(c, d)",
     "1.0"},
    {"Reciprocal", NUMBER("a", 0.1) "c = Reciprocal(a)" TO_WHOLE, "10.0"},
    {"Logarithms243",
     NUMBER("a", 243.0) NUMBER("b", 3.0) "p = Log(a) q = Log(b) c = Div(p, q)" TO_WHOLE, "5.0"},
    {"Logarithms1000",
     NUMBER("a", 1000.0) NUMBER("b", 10.0) "p = Log(a) q = Log(b) c = Div(p, q)" TO_WHOLE, "3.0"},
    {"LogarithmsMillion",
     NUMBER("a", 1000000.0) NUMBER("b", 10.0) "p = Log(a) q = Log(b) c = Div(p, q)" TO_WHOLE,
     "6.0"},
    {"Root", NUMBER("a", 2.0) "s = Sqrt(a) c = Mul(s, s)" TO_WHOLE, "1.0"},
    {"RootBelow", NUMBER("a", 24.999998092651367) "c = Sqrt(a)" TO_WHOLE, "5.0"},
    {"CubeRoot", NUMBER("a", 8.0) NUMBER("b", 0.33333334) "c = Pow(a, b) r = Ceil(c)", "2.0"},
    {"Range",
     NUMBER("a", 0.0) NUMBER("b", 1.0) NUMBER("d", 0.1) NUMBER("t", 10.0)
         WHOLE("n", 3) "s = Range(a, b, d) e = Gather(s, n) c = Mul(e, t) r = Ceil(c)",
     "3.0"},
    {"RangeOfDoubles", // 0.1 + 3 * 0.3 is 1; with a rounded product it is less
     NUMBER("a", 1.0) NUMBER("b", 20.0) NUMBER("d", 3.0) NUMBER("t", 10.0)
         WHOLE("n", 3) "e = Cast <to = 11> (a) f = Cast <to = 11> (b) g = Cast <to = 11> (d) "
                       "u = Cast <to = 11> (t) p = Div(e, u) q = Div(f, u) v = Div(g, u) "
                       "s = Range(p, q, v) c = Gather(s, n) m = Floor(c) r = Cast <to = 1> (m)",
     "1.0"},
    {"LengthOfRange",
     NUMBER("a", 0.0) NUMBER("b", 0.3) NUMBER("d", 0.1) "s = Range(a, b, d) i = Size(s)" FROM_WHOLE,
     "3.0"},
    {"RunningSum",
     "k = Constant <value = float[3] {16777216.0, 1.0, 1.0}> () " NUMBER("d", 16777216.0)
         WHOLE("z", 0) WHOLE("n", 2) "s = CumSum(k, z) e = Gather(s, n) r = Sub(e, d)",
     "0.0"},
    {"Product",
     "k = Constant <value = float[1,3] {16777216.0, 1.0, 1.0}> () "
     "l = Constant <value = float[3,1] {1.0, 1.0, -1.0}> () " NUMBER(
         "d", 16777216.0) "s = MatMul(k, l) r = Sub(s, d)",
     "0.0"},
    {"Half", // 2049 is no number of float16
     NUMBER("a", 2048.0) NUMBER("b", 1.0) "p = Cast <to = 10> (a) q = Cast <to = 10> (b) "
                                          "s = Add(p, q) i = Sub(s, p)" FROM_WHOLE,
     "0.0"},
    {"Bfloat16",
     NUMBER("a", 256.0) NUMBER("b", 1.0) "p = Cast <to = 16> (a) q = Cast <to = 16> (b) "
                                         "s = Add(p, q) i = Sub(s, p)" FROM_WHOLE,
     "0.0"},
    {"Double",
     NUMBER("a", 16777216.0) NUMBER("b", 1.0) "p = Cast <to = 11> (a) q = Cast <to = 11> (b) "
                                              "s = Add(p, q) i = Sub(s, p)" FROM_WHOLE,
     "1.0"},
};

const ConstantRow notNumbers[] = {
    {"InfinityLessInfinity", NUMBER("a", 100.0) "e = Exp(a) d = Sub(e, e) i = IsNaN(d)" FROM_WHOLE,
     "1.0"},
    {"InfinityByInfinity", NUMBER("a", 100.0) "e = Exp(a) d = Div(e, e) i = IsNaN(d)" FROM_WHOLE,
     "1.0"},
    {"InfinityIsInfinite", NUMBER("a", 100.0) "e = Exp(a) i = IsInf(e)" FROM_WHOLE, "1.0"},
    {"NegativeInfinityIsAskedFor",
     NUMBER("a", 100.0) "e = Exp(a) n = Neg(e) i = IsInf <detect_negative = 0> (n)" FROM_WHOLE,
     "0.0"},
    {"NanIsNotInfinite", NUMBER("a", 100.0) "e = Exp(a) d = Div(e, e) i = IsInf(d)" FROM_WHOLE,
     "0.0"},
    {"MaxKeepsFirst",
     NUMBER("o", 0.0) NUMBER("a", 1.0) "n = Div(o, o) m = Max(n, a) i = IsNaN(m)" FROM_WHOLE,
     "1.0"},
    {"MaxKeepsSecond",
     NUMBER("o", 0.0) NUMBER("a", 1.0) "n = Div(o, o) m = Max(a, n) i = IsNaN(m)" FROM_WHOLE,
     "1.0"},
    {"MinKeepsFirst",
     NUMBER("o", 0.0) NUMBER("a", 1.0) "n = Div(o, o) m = Min(n, a) i = IsNaN(m)" FROM_WHOLE,
     "1.0"},
    {"MinKeepsSecond",
     NUMBER("o", 0.0) NUMBER("a", 1.0) "n = Div(o, o) m = Min(a, n) i = IsNaN(m)" FROM_WHOLE,
     "1.0"},
};

const ConstantRow operatorRows[] = {
    {"RemainderOfReals", NUMBER("a", -5.5) NUMBER("b", 3.0) "r = Mod <fmod = 1> (a, b)", "-2.5"},
    {"RemainderOfIntegers", WHOLE("a", -5) WHOLE("b", 3) "i = Mod <fmod = 1> (a, b)" FROM_WHOLE,
     "-2.0"},
    {"ModuloOfIntegers", WHOLE("a", -5) WHOLE("b", 3) "i = Mod(a, b)" FROM_WHOLE, "1.0"},
    {"Sign", NUMBER("a", -2.5) "r = Sign(a)", "-1.0"},
    {"SignOfInteger", WHOLE("a", -7) "i = Sign(a)" FROM_WHOLE, "-1.0"},
    {"CastLike", NUMBER("a", 2.75) WHOLE("b", 7) "i = CastLike(a, b)" FROM_WHOLE, "2.0"},
    {"ClipOfIntegers", WHOLE("a", 9) WHOLE("b", -3) WHOLE("c", 4) "i = Clip(a, b, c)" FROM_WHOLE,
     "4.0"},
    {"ClipFromBelow", NUMBER("a", -9.0) NUMBER("b", -3.0) "r = Clip(a, b)", "-3.0"},
    {"BitwiseAnd", WHOLE("a", -6) WHOLE("b", 11) "i = BitwiseAnd(a, b)" FROM_WHOLE, "10.0"},
    {"BitwiseOr", WHOLE("a", 5) WHOLE("b", 3) "i = BitwiseOr(a, b)" FROM_WHOLE, "7.0"},
    {"BitwiseXor", WHOLE("a", 5) WHOLE("b", 3) "i = BitwiseXor(a, b)" FROM_WHOLE, "6.0"},
    {"BitwiseNot", WHOLE("a", 5) "i = BitwiseNot(a)" FROM_WHOLE, "-6.0"},
    {"BitwiseNotOfBytes", WHOLE("a", 5) "b = Cast <to = 2> (a) i = BitwiseNot(b)" FROM_WHOLE,
     "250.0"},
    {"EinsumOfOne",
     "k = Constant <value = float[2,3] {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}> () "
     "s = Einsum <equation = \"ij->i\"> (k) " WHOLE("n", 1) "r = Gather(s, n)",
     "15.0"},
    {"EyeLike",
     "k = Constant <value = int64[2,3] {1, 2, 3, 4, 5, 6}> () e = EyeLike <k = 1, dtype = 7> (k) "
     "p = Constant <value_ints = [1,2]> () i = GatherND(e, p)" FROM_WHOLE,
     "1.0"},
    {"EyeLikeBesides",
     "k = Constant <value = int64[2,3] {1, 2, 3, 4, 5, 6}> () e = EyeLike <k = -1, dtype = 7> (k) "
     "p = Constant <value_ints = [0,0]> () i = GatherND(e, p)" FROM_WHOLE,
     "0.0"},
    {"MaxOfOne", NUMBER("a", 3.0) "r = Max(a)", "3.0"},
    {"MaxOfThree", NUMBER("a", 3.0) NUMBER("b", 5.0) NUMBER("c", 4.0) "r = Max(a, b, c)", "5.0"},
    {"MinOfThree", WHOLE("a", 3) WHOLE("b", 5) WHOLE("c", 2) "i = Min(a, b, c)" FROM_WHOLE, "2.0"},
    {"Xor", WHOLE("a", 3) WHOLE("b", 5) "p = Equal(a, a) q = Equal(a, b) i = Xor(p, q)" FROM_WHOLE,
     "1.0"},
    {"PowerOfIntegers",
     WHOLE("a", 3) WHOLE("b", 39)
         WHOLE("d", 4052555153018976256) "p = Pow(a, b) i = Sub(p, d)" FROM_WHOLE,
     "11.0"},
    {"PowerByReal",
     WHOLE("a", 3) NUMBER("b", 39.0)
         WHOLE("d", 4052555153018976256) "p = Pow(a, b) i = Sub(p, d)" FROM_WHOLE,
     "11.0"},
    {"NegativePower", WHOLE("a", -1) WHOLE("b", -3) "i = Pow(a, b)" FROM_WHOLE, "-1.0"},
    {"PowerWraps", WHOLE("a", 3) WHOLE("b", 6) "p = Cast <to = 3> (a) i = Pow(p, b)" FROM_WHOLE,
     "-39.0"},
};

#define AXES(list) "a = Constant <value = int64[" list "> () "
#define TABLE "k = Constant <value = int64[2,3] {7, -2, 3, 1, 5, 4}> () "
#define AT(row, column)                                                                            \
  " p = Constant <value = int64[1,2] {" #row ", " #column "}> () i = GatherND(s, p)" FROM_WHOLE

const ConstantRow reductionRows[] = {
    {"SumOfIntegers", TABLE AXES("1] {1}") "s = ReduceSum(k, a)" AT(1, 0), "10.0"},
    {"SumFromTheEnd", TABLE AXES("1] {-2}") "s = ReduceSum(k, a)" AT(0, 2), "7.0"},
    {"SumOfAll", TABLE "i = ReduceSum <keepdims = 0> (k)" FROM_WHOLE, "18.0"},
    {"SumOverNoAxes", TABLE AXES("0] {}") "s = ReduceSum(k, a)" AT(0, 0), "18.0"},
    {"NoSum", TABLE AXES("0] {}") "s = ReduceSum <noop_with_empty_axes = 1> (k, a)" AT(0, 1),
     "-2.0"},
    {"NoSumWithoutAxes", TABLE "s = ReduceSum <noop_with_empty_axes = 1> (k)" AT(1, 1), "5.0"},
    {"NoSumButAbsolute", TABLE "s = ReduceL1 <noop_with_empty_axes = 1> (k)" AT(0, 1), "2.0"},
    {"SumWraps", TABLE "c = Cast <to = 3> (k) d = Mul(c, c) s = ReduceSumSquare(d)" AT(0, 0),
     "52.0"},
    {"MeanDropsFraction", // of -11/2
     "k = Constant <value = int64[2] {-7, -4}> () i = ReduceMean <keepdims = 0> (k)" FROM_WHOLE,
     "-5.0"},
    {"Product", TABLE AXES("1] {0}") "s = ReduceProd(k, a)" AT(0, 1), "-10.0"},
    {"ProductOfNone",
     "k = Constant <value = int64[0] {}> () i = ReduceProd <keepdims = 0> (k)" FROM_WHOLE, "1.0"},
    {"Largest", TABLE AXES("1] {1}") "s = ReduceMax(k, a)" AT(1, 0), "5.0"},
    {"Least", TABLE AXES("1] {1}") "s = ReduceMin(k, a)" AT(0, 0), "-2.0"},
    {"SumOfReals", // rounded once
     "k = Constant <value = float[3] {16777216.0, 1.0, 1.0}> () s = ReduceSum <keepdims = 0> "
     "(k) " NUMBER("d", 16777216.0) "r = Sub(s, d)",
     "2.0"},
    {"Norm", "k = Constant <value = float[2] {3.0, -4.0}> () r = ReduceL2 <keepdims = 0> (k)",
     "5.0"},
    {"SizeOfMinusZero", // its reciprocal says which zero it is
     NUMBER("a",
            -0.0) "s = ReduceL1 <keepdims = 0> (a) p = Reciprocal(s) c = Greater(p, s)" TO_WHOLE,
     "1.0"},
    {"LargestIsNaN",
     "k = Constant <value = float[2] {0.0, 1.0}> () l = Div(k, k) s = ReduceMax "
     "<keepdims = 0> (l) i = IsNaN(s)" FROM_WHOLE,
     "1.0"},
};

// 300 as int8 is 44, and so on: higher bits are dropped.
const ConstantRow castRows[] = {
    {"Int8", WHOLE("a", 200) "i = Cast <to = 3> (a)" FROM_WHOLE, "-56.0"},
    {"Uint8", WHOLE("a", 300) "i = Cast <to = 2> (a)" FROM_WHOLE, "44.0"},
    {"Int16", WHOLE("a", 40000) "i = Cast <to = 5> (a)" FROM_WHOLE, "-25536.0"},
    {"Uint16", WHOLE("a", -1) "i = Cast <to = 4> (a)" FROM_WHOLE, "65535.0"},
    {"Int32", WHOLE("a", 4294967297) "i = Cast <to = 6> (a)" FROM_WHOLE, "1.0"},
    {"Uint32", WHOLE("a", 4294967298) "i = Cast <to = 12> (a)" FROM_WHOLE, "2.0"},
    {"Uint64", WHOLE("a", 5) "i = Cast <to = 13> (a)" FROM_WHOLE, "5.0"},
    {"SumWraps",
     WHOLE("a", 200)
         WHOLE("b", 100) "p = Cast <to = 2> (a) q = Cast <to = 2> (b) i = Add(p, q)" FROM_WHOLE,
     "44.0"},
    {"RealToUint8", NUMBER("a", 300.7) "i = Cast <to = 2> (a)" FROM_WHOLE, "44.0"},
    {"LargeIntegerRoundsOnce", // by double it would lie between two numbers of float
     WHOLE("a", 9007199791611905) WHOLE(
         "d", 9007199254740992) "f = Cast <to = 1> (a) b = Cast <to = 7> (f) c = Sub(b, d) i = "
                                "Cast <to = 1> (c) " NUMBER("m", 1073741824.0) "r = Div(i, m)",
     "1.0"},
};

} // namespace

TEST_P(FoldedConstants, HaveOnnxValue) {
  const Outcome outcome = factor(GetParam().nodes);
  char value[32];
  std::snprintf(value, sizeof(value), "dense<%.6e>", std::stod(GetParam().value));
  EXPECT_TRUE(outcome.has(value)) << value << outcome.error << outcome.ir;
}

INSTANTIATE_TEST_SUITE_P(Rounded, FoldedConstants, testing::ValuesIn(roundedRows), constantName);
INSTANTIATE_TEST_SUITE_P(NotNumbers, FoldedConstants, testing::ValuesIn(notNumbers), constantName);
INSTANTIATE_TEST_SUITE_P(Operators, FoldedConstants, testing::ValuesIn(operatorRows), constantName);
INSTANTIATE_TEST_SUITE_P(Reductions, FoldedConstants, testing::ValuesIn(reductionRows),
                         constantName);
INSTANTIATE_TEST_SUITE_P(Casts, FoldedConstants, testing::ValuesIn(castRows), constantName);

TEST(FoldedConstantsErrors, AreSaid) {
  const auto expect = [](const std::string &nodes, const char *message) {
    const Outcome outcome = factor(nodes);
    EXPECT_NE(outcome.error.find(message), std::string::npos) << outcome.error << outcome.ir;
    EXPECT_EQ(outcome.exitCode, 1);
  };
  expect(NUMBER("a", 5.0) NUMBER("b", 3.0) "r = Mod(a, b)",
         "expected 1 as fmod, which floating-point elements need");
  expect(WHOLE("a", -1) "i = Cast <to = 13> (a)" FROM_WHOLE,
         "its result has integers of uint64 from 2^63 on, which are not supported");
  expect(WHOLE("a", 2) "i = Exp(a)" FROM_WHOLE, "expected floating-point elements");
  expect(NUMBER("a", 2.0) "r = Not(a)", "expected truth values");
  expect(WHOLE("a", 2) "i = ReduceL2(a)" FROM_WHOLE, "expected floating-point elements");
  expect(WHOLE("a", 2) "b = Equal(a, a) i = ReduceSum(b)" FROM_WHOLE,
         "expected numbers, got truth values");
  expect("k = Constant <value = int64[0] {}> () i = ReduceMean(k)" FROM_WHOLE,
         "expected an element or more, got the shape 0");
}

#undef AXES
#undef TABLE
#undef AT
#undef NUMBER
#undef WHOLE
#undef FROM_WHOLE
#undef TO_WHOLE

/// A convolution whose bias nodes make of the value, in PyTorch's way: [6, 2] and not [6].
static Outcome importFilledBias(const std::string &value) {
  return importNodes(13, "k = RandomNormal <shape = [6,4,3,3]> () shape = Shape (k)"
                         " i = Constant <value_ints = [0]> () six = Gather (shape, i)"
                         " two = Constant <value_ints = [2]> () dims = Concat <axis = 0> (six, two)"
                         " v = Constant <value = float {" +
                             value + "}> () b = Expand (v, dims) y = Conv (h, k, b)");
}

const char *const wrongBias = "expected a bias of 6 elements, got 6x2";

// PyTorch 2.14 exports a 3D convolution without bias so.
TEST(ZeroBias, OfNodesIsNone) {
  const Outcome outcome = importFilledBias("0");
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.has("nn.conv %3, %2 {")) << outcome.ir;
  EXPECT_NE(importFilledBias("0.5").error.find(wrongBias), std::string::npos);
}

// Training changes a parameter's zeros.
TEST(ZeroBias, OfParametersIsOne) {
  const Outcome outcome =
      importNodes(13, "k = RandomNormal <shape = [6,4,3,3]> () s = Constant <value_ints = [6,2]> ()"
                      " b = ConstantOfShape (s) y = Conv (h, k, b)");
  EXPECT_NE(outcome.error.find(wrongBias), std::string::npos) << outcome.error;
}
