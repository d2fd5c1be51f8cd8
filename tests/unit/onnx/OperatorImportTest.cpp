// Every supported operator becomes the operation it should: one row each.
#include "TestModel.h"

#include <gtest/gtest.h>

using namespace syncline::test;

namespace {
struct Row {
  const char *name;
  int opset;
  const char *nodes;    ///< from h [2, 4, 8, 8] to y
  const char *expected; ///< in the IR
};

void PrintTo(const Row &row, std::ostream *out) { *out << row.name; }

class OperatorImport : public testing::TestWithParam<Row> {};
} // namespace

TEST_P(OperatorImport, BecomesItsOperation) {
  const Row &row = GetParam();
  Outcome outcome = importNodes(row.opset, row.nodes);
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.has(row.expected)) << "expected: " << row.expected << "\n" << outcome.ir;
}

#define IMAGE "tensor<2x4x8x8xf32>"
#define MAP " : (" IMAGE ") -> "
#define UNIT_WINDOW                                                                                \
  "dilations = array<i64: 1, 1>, kernel = array<i64: 8, 8>, pads_begin = array<i64: 0, 0>, "       \
  "pads_end = array<i64: 0, 0>, strides = array<i64: 1, 1>}"

static const Row linear[] = {
    {"Conv", 13, "k = RandomNormal <shape = [6,2,3,3]> () y = Conv <group = 2> (h, k)",
     "nn.conv %3, %2 {dilations = array<i64: 1, 1>, groups = 2 : i64, pads_begin = array<i64: 0, "
     "0>, pads_end = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (" IMAGE
     ", tensor<6x2x3x3xf32>) -> tensor<2x6x6x6xf32>"},
    {"ConvWindow", 13,
     "k = RandomNormal <shape = [6,4,3,3]> () b = RandomNormal <shape = [6]> () "
     "y = Conv <strides = [2,1], pads = [0,1,1,2], dilations = [1,2]> (h, k, b)",
     "bias %3 {dilations = array<i64: 1, 2>, pads_begin = array<i64: 0, 1>, pads_end = array<i64: "
     "1, 2>, strides = array<i64: 2, 1>} : (" IMAGE
     ", tensor<6x4x3x3xf32>, tensor<6xf32>) -> tensor<2x6x4x7xf32>"},
    {"Conv1d", 13,
     "s = Constant <value_ints = [2,4,64]> () r = Reshape(h, s) "
     "k = RandomNormal <shape = [6,4,5]> () y = Conv(r, k)",
     "-> tensor<2x6x60xf32>"},
    {"Gemm", 13,
     "f = Flatten(h) k = RandomNormal <shape = [5,256]> () b = RandomNormal <shape = [5]> () "
     "y = Gemm <transB = 1> (f, k, b)",
     "bias %3 {transpose_b} : (tensor<2x256xf32>, tensor<5x256xf32>, tensor<5xf32>) -> "
     "tensor<2x5xf32>"},
    {"GemmAlpha", 13,
     "f = Flatten(h) k = RandomNormal <shape = [256,5]> () b = RandomNormal <shape = [5]> () "
     "y = Gemm <alpha = 0.5> (f, k, b)",
     "nn.constant dense<5.000000e-01> : tensor<f32>"},
    {"GemmBetaZero", 13,
     "f = Flatten(h) k = RandomNormal <shape = [256,5]> () b = RandomNormal <shape = [5]> () "
     "y = Gemm <beta = 0.0> (f, k, b)",
     "nn.matmul %4, %2 : (tensor<2x256xf32>, tensor<256x5xf32>) -> tensor<2x5xf32>"},
    {"MatMul", 13, "k = RandomNormal <shape = [8,5]> () y = MatMul(h, k)",
     ", tensor<8x5xf32>) -> tensor<2x4x8x5xf32>"},
    {"MatMulVector", 13, "k = RandomNormal <shape = [8]> () y = MatMul(h, k)",
     "nn.reshape %5 : (tensor<2x4x8x1xf32>) -> tensor<2x4x8xf32>"},
    {"MatMulAdd", 13,
     "k = RandomNormal <shape = [8,5]> () b = RandomNormal <shape = [5]> () p = MatMul(h, k) y = "
     "Add(b, p)",
     "nn.matmul %4, %2 bias %3"},
    {"MatMulTransposed", 13,
     "k = RandomNormal <shape = [5,8]> () t = Transpose(k) y = MatMul(h, t)",
     "{transpose_b} : (" IMAGE ", tensor<5x8xf32>) -> tensor<2x4x8x5xf32>"},
};

static const Row products[] = {
    {"Einsum", 13,
     "k = RandomNormal <shape = [8,5]> () y = Einsum <equation = \"bchw,wk->bchk\"> (h, k)",
     "nn.matmul %4, %2 : (tensor<64x8xf32>, tensor<8x5xf32>) -> tensor<64x5xf32>"},
    {"EinsumOfOne", 13,
     "e = Einsum <equation = \"bchw -> wcb\"> (h) p = Constant <value_ints = [3]> "
     "() y = Unsqueeze(e, p)",
     "permutation = array<i64: 2, 1, 0>} : (tensor<2x4x8xf32>) -> tensor<8x4x2xf32>"},
    {"EinsumSumsOneOperandFirst", 13,
     "k = RandomNormal <shape = [8,5]> () y = Einsum <equation = \"bchw,wk->bchw\"> (h, k)",
     "nn.reduce sum"},
    {"EinsumWithoutResult", 13,
     "k = RandomNormal <shape = [8,5]> () y = Einsum <equation = \"bchw,wk\"> (h, k)",
     "-> tensor<2x4x8x5xf32>"},
    {"EinsumStack", 13, "y = Einsum <equation = \"bhqd, bhkd -> bhqk\"> (h, h)",
     "nn.matmul %2, %3 : (" IMAGE ", " IMAGE ") -> " IMAGE},
    {"EinsumOuter", 13,
     "s = Constant <value_ints = [512]> () r = Reshape(h, s) k = RandomNormal <shape = [3]> () "
     "p = Einsum <equation = \"i,j->ij\"> (r, k) t = Constant <value_ints = [2,768]> () "
     "y = Reshape(p, t)",
     "(tensor<512x1xf32>, tensor<1x3xf32>) -> tensor<512x3xf32>"},
    {"EinsumTransposed", 13,
     "k = RandomNormal <shape = [5,8]> () y = Einsum <equation = \"bchw,kh->bckw\"> (h, k)",
     "nn.transpose %8 {permutation = array<i64: 0, 1, 3, 2>}"},
};

static const Row pools[] = {
    {"MaxPool", 12, "y = MaxPool <kernel_shape = [3,3], strides = [2,2], pads = [1,1,0,0]> (h)",
     "nn.max_pool %2 {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pads_begin = "
     "array<i64: 1, 1>, pads_end = array<i64: 0, 0>, strides = array<i64: 2, 2>}" MAP
     "(tensor<2x4x4x4xf32>, tensor<2x4x4x4xui8>)"},
    {"MaxPoolCeil", 12, "y = MaxPool <kernel_shape = [3,3], strides = [2,2], ceil_mode = 1> (h)",
     "pads_end = array<i64: 1, 1>"},
    // 8 wide and a pad of 1: a fourth window would start in the padding behind.
    {"MaxPoolCeilDropsWindowsInPadding", 12,
     "y = MaxPool <kernel_shape = [2,2], strides = [3,3], pads = [1,1,1,1], ceil_mode = 1> (h)",
     "(tensor<2x4x3x3xf32>, tensor<2x4x3x3xui8>)"},
    {"AveragePool", 19,
     "y = AveragePool <kernel_shape = [3,3], pads = [1,1,1,1], dilations = [2,2], "
     "count_include_pad = 1> (h)",
     "nn.average_pool %2 {count_include_pad, dilations = array<i64: 2, 2>"},
    {"AveragePoolCeilCountsDeclaredPadsOnly", 13,
     "y = AveragePool <kernel_shape = [3,3], strides = [2,2], pads = [0,0,1,1], "
     "ceil_mode = 1, count_include_pad = 1> (h)",
     "nn.average_pool %2 {count_include_pad"},
    {"AveragePoolCeilWithPads", 13,
     "y = AveragePool <kernel_shape = [3,3], strides = [3,3], pads = [1,1,0,0], "
     "ceil_mode = 1, count_include_pad = 1> (h)",
     "nn.average_pool %2 {count_include_pad"},
    {"AveragePoolCeilMakesPadsExplicit", 13,
     "y = AveragePool <kernel_shape = [4,4], strides = [3,3], pads = [1,1,0,0], "
     "ceil_mode = 1, count_include_pad = 1> (h)",
     "nn.pad %2 {begins = array<i64: 0, 0, 1, 1>, value = 0.000000e+00 : f64}" MAP
     "tensor<2x4x9x9xf32>"},
    {"GlobalAveragePool", 13, "y = GlobalAveragePool(h)",
     "nn.average_pool %2 {" UNIT_WINDOW MAP "tensor<2x4x1x1xf32>"},
    {"GlobalMaxPool", 13, "y = GlobalMaxPool(h)", "nn.max_pool %2 {" UNIT_WINDOW},
};

static const Row normalizations[] = {
    {"BatchNormalization", 15,
     "s = ConstantOfShape(c) c = Constant <value_ints = [4]> () b = ConstantOfShape(c) "
     "m = ConstantOfShape(c) v = ConstantOfShape(c) y = BatchNormalization(h, s, b, m, v)",
     "{epsilon = 1.000000e-05 : f64, momentum = 0.099999999999999978 : f64}"},
    {"LayerNormalization", 17,
     "s = RandomUniform <shape = [8,8]> () b = RandomUniform <shape = [8,8]> () "
     "y = LayerNormalization <axis = -2, epsilon = 0.001> (h, s, b)",
     "nn.layer_norm %4, %2 shift %3 {epsilon = 1.000000e-03 : f64} : (" IMAGE
     ", tensor<8x8xf32>, tensor<8x8xf32>) -> " IMAGE},
    {"LayerNormalizationWithoutShift", 17,
     "s = RandomUniform <shape = [8]> () y = LayerNormalization(h, s)",
     "nn.layer_norm %3, %2 {epsilon = 1.000000e-05 : f64} : (" IMAGE ", tensor<8xf32>) -> " IMAGE},
    {"LayerNormalizationOfElementaryOperators", 14,
     "s = RandomUniform <shape = [8]> () b = RandomUniform <shape = [8]> () "
     "two = Constant <value_float = 2.0> () e = Constant <value_float = 0.5> () "
     "m = ReduceMean <axes = [-1]> (h) d = Sub(h, m) p = Pow(d, two) v = ReduceMean <axes = [-1]> "
     "(p) "
     "q = Add(v, e) r = Sqrt(q) n = Div(d, r) t = Mul(n, s) y = Add(t, b)",
     "nn.layer_norm %4, %2 shift %3 {epsilon = 5.000000e-01 : f64} : (" IMAGE
     ", tensor<8xf32>, tensor<8xf32>) -> " IMAGE},
    {"LRN", 13, "y = LRN <size = 5, alpha = 0.001, beta = 0.5, bias = 2.0> (h)",
     "nn.lrn %2 {alpha = 1.000000e-03 : f64, beta = 5.000000e-01 : f64, bias = 2.000000e+00 : f64, "
     "size = 5 : i64} : " IMAGE},
    {"Softmax", 13, "y = Softmax(h)", "nn.softmax %2 {axis = 3 : i64} : " IMAGE},
    {"LogSoftmax", 13, "y = LogSoftmax <axis = 1> (h)",
     "nn.softmax %2 {axis = 1 : i64, logarithm} : " IMAGE},
    {"Dropout", 13, "r = Constant <value_float = 0.3> () y = Dropout(h, r)",
     "nn.dropout %2 {ratio = 3.000000e-01 : f64}"},
};

static const Row pointwise[] = {
    {"Abs", 13, "y = Abs(h)", "nn.unary abs %2 : " IMAGE},
    {"Elu", 13, "y = Elu <alpha = 0.5> (h)", "nn.unary elu %2 {alpha = 5.000000e-01 : f64"},
    {"Erf", 13, "y = Erf(h)", "nn.unary erf %2 : " IMAGE},
    {"Exp", 13, "y = Exp(h)", "nn.unary exp %2"},
    {"HardSigmoid", 13, "y = HardSigmoid(h)",
     "hard_sigmoid %2 {alpha = 2.000000e-01 : f64, beta = 5.000000e-01 : f64}"},
    {"HardSwish", 14, "y = HardSwish(h)", "nn.unary hard_swish %2"},
    {"LeakyRelu", 13, "y = LeakyRelu(h)", "leaky_relu %2 {alpha = 1.000000e-02 : f64"},
    {"Log", 13, "y = Log(h)", "nn.unary log %2"},
    {"Neg", 13, "y = Neg(h)", "nn.unary neg %2"},
    {"Pow", 13, "e = Constant <value_float = 1.5> () y = Pow(h, e)",
     "nn.unary pow %2 {alpha = 1.500000e+00 : f64} : " IMAGE},
    {"PowOfInteger", 15, "e = Constant <value_int = 2> () y = Pow(h, e)",
     "nn.unary pow %2 {alpha = 2.000000e+00 : f64} : " IMAGE},
    {"PowOfOne", 13, "e = Constant <value_float = 1.0> () p = Pow(h, e) y = Relu(p)",
     "nn.unary relu %2"},
    {"Reciprocal", 13, "y = Reciprocal(h)", "nn.unary reciprocal %2"},
    {"Relu", 14, "y = Relu(h)", "nn.unary relu %2 : " IMAGE},
    {"Sigmoid", 13, "y = Sigmoid(h)", "nn.unary sigmoid %2"},
    {"Sqrt", 13, "y = Sqrt(h)", "nn.unary sqrt %2"},
    {"Tanh", 13, "y = Tanh(h)", "nn.unary tanh %2"},
    {"Clip", 6 + 1, "y = Clip <min = 0.0, max = 6.0> (h)",
     "nn.unary clip %2 {beta = 6.000000e+00 : f64} : " IMAGE},
    {"ClipBelow", 7, "y = Clip <min = 0.0> (h)", "nn.unary relu %2"},
    {"PRelu", 16, "s = RandomUniform <shape = [4,1,1]> () y = PRelu(h, s)",
     "nn.binary prelu %3, %2 : (" IMAGE ", tensor<4x1x1xf32>) -> " IMAGE},
    {"Add", 14, "y = Add(h, x)", "nn.binary add %2, %0"},
    {"Sub", 14, "y = Sub(x, w)", "nn.binary sub %0, %1 : (" IMAGE ", tensor<4x1x1xf32>) -> " IMAGE},
    {"Mul", 14, "y = Mul(h, h)", "nn.binary mul %2, %2"},
    {"Div", 14, "y = Div(h, w)", "nn.binary div %2, %1"},
    {"Sum", 13, "y = Sum(h, x, w)", "nn.binary add %3, %1"},
    {"Gelu", 20, "y = Gelu(h)", "nn.unary erf"},
    {"GeluTanh", 20, "y = Gelu <approximate = \"tanh\"> (h)", "nn.unary tanh"},
    {"Where", 16,
     "c = Constant <value_ints = [1,0,0,1,1,1,1,1]> () b = Cast <to = 9> (c) "
     "n = Constant <value_float = -2.0> () y = Where(b, h, n)",
     "nn.binary mask %2, "},
    {"Identity", 13, "i = Identity(h) y = Relu(i)", "nn.unary relu %2"},
    {"Acos", 7, "y = Acos(h)", "nn.unary acos %2 : " IMAGE},
    {"Acosh", 9, "y = Acosh(h)", "nn.unary acosh %2 : " IMAGE},
    {"Asin", 7, "y = Asin(h)", "nn.unary asin %2 : " IMAGE},
    {"Asinh", 9, "y = Asinh(h)", "nn.unary asinh %2 : " IMAGE},
    {"Atan", 7, "y = Atan(h)", "nn.unary atan %2 : " IMAGE},
    {"Atanh", 9, "y = Atanh(h)", "nn.unary atanh %2 : " IMAGE},
    {"Ceil", 13, "r = Ceil(h) y = Add(r, h)", "nn.unary ceil %2 : " IMAGE},
    {"Celu", 12, "y = Celu <alpha = -0.7> (h)",
     "nn.unary celu %2 {alpha = -0.69999999999999996 : f64} : " IMAGE},
    {"Cos", 7, "y = Cos(h)", "nn.unary cos %2 : " IMAGE},
    {"Cosh", 9, "y = Cosh(h)", "nn.unary cosh %2 : " IMAGE},
    {"Floor", 13, "r = Floor(h) y = Add(r, h)", "nn.unary floor %2 : " IMAGE},
    {"IsInf", 10, "i = IsInf(h) f = Cast <to = 1> (i) y = Add(f, h)", "nn.unary abs %2 : " IMAGE},
    {"IsInfNegative", 20, "i = IsInf <detect_positive = 0> (h) f = Cast <to = 1> (i) y = Add(f, h)",
     "nn.unary neg %2 : " IMAGE},
    {"IsInfNeither", 20,
     "i = IsInf <detect_positive = 0, detect_negative = 0> (h) f = Cast <to = 1> (i) "
     "y = Add(f, h)",
     "nn.binary mask %2, "},
    {"IsNaN", 13, "i = IsNaN(h) f = Cast <to = 1> (i) y = Add(f, h)",
     "nn.binary not_less %2, %2 : (" IMAGE ", " IMAGE ") -> " IMAGE},
    {"LogOfSigmoid", 13, "s = Sigmoid(h) y = Log(s)", "nn.unary softplus %"},
    {"Mish", 18, "y = Mish(h)", "nn.unary mish %2 : " IMAGE},
    {"Round", 11, "r = Round(h) y = Add(r, h)", "nn.unary round %2 : " IMAGE},
    {"Selu", 6 + 1, "y = Selu(h)", "nn.unary elu %2 {alpha = 1.6732632423543772 : f64} : " IMAGE},
    {"SeluIsScaled", 7, "y = Selu <gamma = 2.0> (h)",
     "nn.constant dense<2.000000e+00> : tensor<f32>"},
    {"Sign", 13, "r = Sign(h) y = Add(r, h)", "nn.unary sign %2 : " IMAGE},
    {"Sin", 7, "y = Sin(h)", "nn.unary sin %2 : " IMAGE},
    {"Sinh", 9, "y = Sinh(h)", "nn.unary sinh %2 : " IMAGE},
    {"Softplus", 7, "y = Softplus(h)", "nn.unary softplus %2 : " IMAGE},
    {"Softsign", 7, "y = Softsign(h)", "nn.unary softsign %2 : " IMAGE},
    {"Swish", 23, "y = Swish <alpha = 1.5> (h)",
     "nn.unary swish %2 {alpha = 1.500000e+00 : f64} : " IMAGE},
    {"Tan", 7, "y = Tan(h)", "nn.unary tan %2 : " IMAGE},
    {"ThresholdedRelu", 10, "y = ThresholdedRelu(h)",
     "nn.unary thresholded_relu %2 {alpha = 1.000000e+00 : f64} : " IMAGE},
    {"Max", 13, "y = Max(h, w, x)", "nn.binary max %3, %0 : (" IMAGE ", " IMAGE ") -> " IMAGE},
    {"Min", 8, "y = Min(w, h)", "nn.binary min %1, %2 : (tensor<4x1x1xf32>, " IMAGE ") -> " IMAGE},
    {"Trilu", 14, "k = Constant <value_int = -1> () y = Trilu <upper = 0> (h, k)",
     "nn.binary mask %2, %6 : (" IMAGE ", tensor<8x8xf32>) -> " IMAGE},
    {"Cast", 13, "i = Cast <to = 1> (h) y = Relu(i)", "nn.unary relu %2"},
};

static const Row movements[] = {
    {"Flatten", 13, "y = Flatten <axis = -3> (h)", "nn.reshape %2" MAP "tensor<2x256xf32>"},
    {"Reshape", 13, "s = Constant <value_ints = [0,-1,16]> () y = Reshape(h, s)",
     "nn.reshape %2" MAP "tensor<2x16x16xf32>"},
    {"Squeeze", 13, "p = GlobalAveragePool(h) y = Squeeze(p)",
     "(tensor<2x4x1x1xf32>) -> tensor<2x4xf32>"},
    {"Unsqueeze", 11, "y = Unsqueeze <axes = [1,-1]> (h)",
     "nn.reshape %2" MAP "tensor<2x1x4x8x8x1xf32>"},
    {"Transpose", 13, "y = Transpose <perm = [0,2,3,1]> (h)",
     "nn.transpose %2 {permutation = array<i64: 0, 2, 3, 1>}" MAP "tensor<2x8x8x4xf32>"},
    {"Concat", 13, "y = Concat <axis = -3> (h, x, h)",
     "nn.concat %2, %0, %2 {axis = 1 : i64} : (" IMAGE ", " IMAGE ", " IMAGE
     ") -> tensor<2x12x8x8xf32>"},
    {"Split", 11, "a, y = Split <axis = 1, split = [1,3]> (h)",
     "nn.slice %2 {starts = array<i64: 0, 1, 0, 0>, steps = array<i64: 1, 1, 1, 1>}" MAP
     "tensor<2x3x8x8xf32>"},
    {"Slice", 9, "y = Slice <starts = [1,-3], ends = [100,-1], axes = [1,3]> (h)",
     "nn.slice %2 {starts = array<i64: 0, 1, 0, 5>, steps = array<i64: 1, 1, 1, 1>}" MAP
     "tensor<2x3x8x2xf32>"},
    {"SliceBackwards", 13,
     "s = Constant <value_ints = [-1]> () e = Constant <value_ints = [-9223372036854775807]> () "
     "a = Constant <value_ints = [2]> () t = Constant <value_ints = [-2]> () "
     "y = Slice(h, s, e, a, t)",
     "nn.slice %2 {starts = array<i64: 0, 0, 7, 0>, steps = array<i64: 1, 1, -2, 1>}" MAP
     "tensor<2x4x4x8xf32>"},
    {"Gather", 13, "i = Constant <value_int = -1> () y = Gather <axis = 1> (h, i)",
     "(tensor<2x1x8x8xf32>) -> tensor<2x8x8xf32>"},
    {"PadReflects", 10, "y = Pad <mode = \"reflect\", pads = [0,0,2,0,0,0,0,-1]> (h)",
     "nn.slice %2 {starts = array<i64: 0, 0, 2, 0>, steps = array<i64: 1, 1, -1, 1>}"},
    {"PadRepeatsEdges", 11,
     "p = Constant <value = int64[8] {0,0,0,3,0,0,0,0}> () y = Pad <mode = \"edge\"> (h, p)",
     "(tensor<2x4x8x1xf32>) -> tensor<2x4x8x3xf32>"},
    {"PadWraps", 19,
     "p = Constant <value = int64[2] {8,8}> () a = Constant <value = int64[1] {2}> ()"
     " y = Pad <mode = \"wrap\"> (h, p, , a)",
     "nn.concat %3, %2, %4"},
    {"Pad", 10, "y = Pad <pads = [0,0,1,2,0,0,0,-1], value = 3.0> (h)",
     "nn.pad %2 {begins = array<i64: 0, 0, 1, 2>, value = 3.000000e+00 : f64}" MAP
     "tensor<2x4x9x9xf32>"},
    {"Expand", 13,
     "r = Unsqueeze(h, a) a = Constant <value_ints = [1]> () s = Constant <value_ints = "
     "[2,3,1,1,1]> () y = Expand(r, s)",
     "nn.broadcast %3 : (tensor<2x1x4x8x8xf32>) -> tensor<2x3x4x8x8xf32>"},
    {"Tile", 13, "r = Constant <value_ints = [1,1,3,1]> () y = Tile(h, r)",
     "nn.broadcast %3 : (tensor<2x4x1x8x8xf32>) -> tensor<2x4x3x8x8xf32>"},
    {"Resize", 13, "s = Constant <value_floats = [1.0,1.0,2.0,2.0]> () y = Resize(h, , s)",
     "nn.resample %2 {axes = array<i64: 2, 3>, coordinates = array<i64: 2, -1, 4, 2, -1, 4>, "
     "cubic_coefficient = 0.000000e+00 : f64, filter = 0 : i64}" MAP "tensor<2x4x16x16xf32>"},
    {"Upsample", 9,
     "s = Constant <value = float[4] {1.0,1.0,2.0,1.5}> () y = Upsample <mode = \"linear\"> (h, s)",
     "nn.resample %2 {axes = array<i64: 2, 3>, coordinates = array<i64: 1, 0, 2, 2, 0, 3>, "
     "cubic_coefficient = 0.000000e+00 : f64, filter = 4 : i64}" MAP "tensor<2x4x16x12xf32>"},
    {"ReduceMean", 13, "y = ReduceMean <axes = [-1,2], keepdims = 0> (h)",
     "nn.reduce mean %2 {axes = array<i64: 2, 3>}" MAP "tensor<2x4xf32>"},
    {"ReduceSum", 11, "y = ReduceSum <axes = [1]> (h)",
     "nn.reduce sum %2 {axes = array<i64: 1>}" MAP "tensor<2x1x8x8xf32>"},
};

static std::string rowName(const testing::TestParamInfo<Row> &info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Linear, OperatorImport, testing::ValuesIn(linear), rowName);
INSTANTIATE_TEST_SUITE_P(Product, OperatorImport, testing::ValuesIn(products), rowName);
INSTANTIATE_TEST_SUITE_P(Pool, OperatorImport, testing::ValuesIn(pools), rowName);
INSTANTIATE_TEST_SUITE_P(Normalization, OperatorImport, testing::ValuesIn(normalizations), rowName);
INSTANTIATE_TEST_SUITE_P(Pointwise, OperatorImport, testing::ValuesIn(pointwise), rowName);
INSTANTIATE_TEST_SUITE_P(Movement, OperatorImport, testing::ValuesIn(movements), rowName);
