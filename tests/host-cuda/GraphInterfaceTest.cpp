// What the stand-in of cuDNN's graph interface refuses. The backend takes a refusal for a missing
// engine and goes on, so that wrong use has a status of its own, by which tests end.
#include "tests/host-cuda/HostDnn.h"
#include "tests/host-cuda/TestStreams.h"

#include "runtime/core/Strides.h"

#include <array>

namespace syncline::hostcuda {
namespace {

constexpr cudnnStatus_t ok = CUDNN_STATUS_SUCCESS, misuse = CUDNN_STATUS_NOT_INITIALIZED;

/// A descriptor, destroyed at the end of the scope.
struct Described {
  explicit Described(cudnnBackendDescriptorType_t type) {
    EXPECT_EQ(cudnnBackendCreateDescriptor(type, &handle), ok);
  }
  Described(const Described &) = delete;
  Described &operator=(const Described &) = delete;
  ~Described() { destroy(); }
  void destroy() {
    if (handle)
      cudnnBackendDestroyDescriptor(handle);
    handle = nullptr;
  }

  cudnnStatus_t numbers(cudnnBackendAttributeName_t name, const Shape &values) {
    return cudnnBackendSetAttribute(handle, name, CUDNN_TYPE_INT64,
                                    static_cast<std::int64_t>(values.size()), values.data());
  }
  template <typename T>
  cudnnStatus_t one(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, T value) {
    return cudnnBackendSetAttribute(handle, name, type, 1, &value);
  }
  cudnnStatus_t part(cudnnBackendAttributeName_t name, const Described &of) {
    return one(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, of.handle);
  }
  cudnnStatus_t finalize() { return cudnnBackendFinalize(handle); }

  cudnnBackendDescriptor_t handle = nullptr;
};

/// A tensor of floats whose attributes are set, with the alignment 16.
struct DescribedTensor : Described {
  DescribedTensor(std::int64_t id, const Shape &dims) : Described(CUDNN_BACKEND_TENSOR_DESCRIPTOR) {
    numbers(CUDNN_ATTR_TENSOR_UNIQUE_ID, {id});
    one(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    numbers(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {16});
    numbers(CUDNN_ATTR_TENSOR_DIMENSIONS, dims);
    numbers(CUDNN_ATTR_TENSOR_STRIDES, core::denseStrides(dims));
  }
};

/// A convolution from its tensors to its plan, of one image of 2 channels by 2 filters of 1 by 1.
/// Each test leaves the way at one place.
struct ConvolutionChain {
  ConvolutionChain() {
    cudnnCreate(&cudnn);
    cudnnSetStream(cudnn, stream);
    window.one(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    window.one(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
               CUDNN_CROSS_CORRELATION);
    window.numbers(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, {2});
    for (auto name : {CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES})
      window.numbers(name, {1, 1});
    for (auto name : {CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS})
      window.numbers(name, {0, 0});
  }
  ~ConvolutionChain() {
    cudaStreamSynchronize(stream);
    cudnnDestroy(cudnn);
  }

  cudnnStatus_t finalizeParts() {
    for (Described *each : {static_cast<Described *>(&x), static_cast<Described *>(&w),
                            static_cast<Described *>(&y), &window})
      if (const cudnnStatus_t status = each->finalize())
        return status;
    return ok;
  }
  void describeOperation() {
    operation.part(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x);
    operation.part(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, w);
    operation.part(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, y);
    operation.part(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, window);
    operation.one(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1.0F);
    operation.one(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 0.0F);
  }
  cudnnStatus_t finalizeGraph() {
    graph.one(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, cudnn);
    graph.part(CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
    return graph.finalize();
  }
  cudnnStatus_t finalizeHeuristics() {
    heuristics.part(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    heuristics.one(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, CUDNN_HEUR_MODE_FALLBACK);
    return heuristics.finalize();
  }
  /// The first configuration of the list, which wants 1000 bytes of workspace.
  cudnnStatus_t takeConfiguration() {
    std::int64_t count = 0;
    return cudnnBackendGetAttribute(heuristics.handle, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count,
                                    &configuration.handle);
  }
  cudnnStatus_t finalizePlan() {
    plan.one(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, cudnn);
    plan.part(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
    return plan.finalize();
  }
  /// All up to the plan.
  void build() {
    EXPECT_EQ(finalizeParts(), ok);
    describeOperation();
    EXPECT_EQ(operation.finalize(), ok);
    EXPECT_EQ(finalizeGraph(), ok);
    EXPECT_EQ(finalizeHeuristics(), ok);
    EXPECT_EQ(takeConfiguration(), ok);
    EXPECT_EQ(finalizePlan(), ok);
  }
  cudnnStatus_t execute(const Shape &ids, std::vector<void *> data, void *workspace) {
    Described pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    pack.numbers(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids);
    cudnnBackendSetAttribute(pack.handle, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
                             CUDNN_TYPE_VOID_PTR, static_cast<std::int64_t>(data.size()),
                             data.data());
    pack.one(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, workspace);
    const cudnnStatus_t status = pack.finalize();
    return status ? status : cudnnBackendExecute(cudnn, plan.handle, pack.handle);
  }

  TestStream stream;
  cudnnHandle_t cudnn = nullptr;
  DescribedTensor x{1, {1, 2, 3, 3}}, w{2, {2, 2, 1, 1}}, y{3, {1, 2, 3, 3}};
  Described window{CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR};
  Described operation{CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR};
  Described graph{CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR};
  Described heuristics{CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR};
  Described configuration{CUDNN_BACKEND_ENGINECFG_DESCRIPTOR};
  Described plan{CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR};
};

/// Device memory for the three tensors and the workspace.
struct DeviceBytes {
  DeviceBytes() { EXPECT_EQ(cudaMalloc(reinterpret_cast<void **>(&data), 4096), cudaSuccess); }
  DeviceBytes(const DeviceBytes &) = delete;
  DeviceBytes &operator=(const DeviceBytes &) = delete;
  ~DeviceBytes() { cudaFree(data); }
  std::byte *data = nullptr;
};

TEST(GraphInterfaceTest, AttributesHaveANameATypeAndACount) {
  DescribedTensor tensor(1, {1, 2, 3, 3});
  EXPECT_EQ(tensor.one(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT32, 16), misuse);
  EXPECT_EQ(tensor.numbers(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {16, 16}), misuse);
  EXPECT_EQ(tensor.numbers(CUDNN_ATTR_TENSOR_DIMENSIONS, Shape(9, 1)), misuse);
  EXPECT_EQ(tensor.numbers(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, {2}), misuse);
  EXPECT_EQ(tensor.finalize(), ok);
  EXPECT_EQ(tensor.numbers(CUDNN_ATTR_TENSOR_UNIQUE_ID, {2}), misuse); // it is final
  EXPECT_EQ(tensor.finalize(), misuse);
}

TEST(GraphInterfaceTest, MissingAttributesAreFoundWhenFinalizing) {
  Described tensor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  EXPECT_EQ(tensor.finalize(), misuse);
  char text[200];
  cudnnGetLastErrorString(text, sizeof text);
  EXPECT_EQ(std::string(text), "attribute 906 is missing");
}

TEST(GraphInterfaceTest, TensorsAreDenseAndAligned) {
  DescribedTensor gap(1, {1, 2, 3, 3}), odd(1, {1, 2, 3, 3}), short_(1, {1, 2, 3, 3});
  gap.numbers(CUDNN_ATTR_TENSOR_STRIDES, {36, 18, 6, 2});
  EXPECT_EQ(gap.finalize(), misuse);
  odd.numbers(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {2});
  EXPECT_EQ(odd.finalize(), misuse);
  short_.numbers(CUDNN_ATTR_TENSOR_STRIDES, {9, 3, 1});
  EXPECT_EQ(short_.finalize(), misuse);
}

TEST(GraphInterfaceTest, ExtentsFitEachOther) {
  ConvolutionChain chain;
  chain.y.numbers(CUDNN_ATTR_TENSOR_DIMENSIONS, {1, 2, 2, 3});
  chain.y.numbers(CUDNN_ATTR_TENSOR_STRIDES, {12, 6, 3, 1});
  EXPECT_EQ(chain.finalizeParts(), ok);
  chain.describeOperation();
  EXPECT_EQ(chain.operation.finalize(), misuse);
}

/// The sums of a tensor of 2 channels.
struct DescribedSums : Described {
  DescribedSums(const DescribedTensor &x, const DescribedTensor &sums,
                const DescribedTensor &squares)
      : Described(CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR) {
    one(CUDNN_ATTR_OPERATION_GENSTATS_MODE, CUDNN_TYPE_GENSTATS_MODE, CUDNN_GENSTATS_SUM_SQSUM);
    one(CUDNN_ATTR_OPERATION_GENSTATS_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    part(CUDNN_ATTR_OPERATION_GENSTATS_XDESC, x);
    part(CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC, sums);
    part(CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC, squares);
  }
};

TEST(GraphInterfaceTest, SumsAreOfTheResultAndHaveOneNumberForEachChannel) {
  ConvolutionChain chain;
  EXPECT_EQ(chain.finalizeParts(), ok);
  chain.describeOperation();
  EXPECT_EQ(chain.operation.finalize(), ok);
  DescribedTensor sums(4, {1, 2, 1, 1}), squares(5, {1, 2, 1, 1}), many(6, {1, 2, 3, 3});
  for (DescribedTensor *each : {&sums, &squares, &many})
    EXPECT_EQ(each->finalize(), ok);
  EXPECT_EQ(DescribedSums(chain.y, sums, many).finalize(), misuse);
  EXPECT_EQ(DescribedSums(chain.y, sums, sums).finalize(), misuse);
  DescribedSums ofImage(chain.x, sums, squares), ofResult(chain.y, sums, squares);
  EXPECT_EQ(ofImage.finalize(), ok);
  EXPECT_EQ(ofResult.finalize(), ok);
  const auto finalizeGraph = [&](const Described &of) {
    Described graph{CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR};
    const std::array both{chain.operation.handle, of.handle};
    graph.one(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, chain.cudnn);
    cudnnBackendSetAttribute(graph.handle, CUDNN_ATTR_OPERATIONGRAPH_OPS,
                             CUDNN_TYPE_BACKEND_DESCRIPTOR, 2, both.data());
    return graph.finalize();
  };
  EXPECT_EQ(finalizeGraph(ofImage), misuse);
  EXPECT_EQ(finalizeGraph(ofResult), CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN); // it is for bf16
}

TEST(GraphInterfaceTest, PartsAreFinalAndLive) {
  {
    ConvolutionChain chain; // whose tensors are not final
    chain.describeOperation();
    EXPECT_EQ(chain.operation.finalize(), misuse);
  }
  ConvolutionChain chain;
  EXPECT_EQ(chain.finalizeParts(), ok);
  chain.describeOperation();
  chain.window.destroy();
  EXPECT_EQ(chain.operation.finalize(), misuse);
}

TEST(GraphInterfaceTest, ReadingNeedsAFinalDescriptorAndFillsNewOnes) {
  ConvolutionChain chain;
  EXPECT_EQ(chain.takeConfiguration(), misuse);
  chain.build();
  EXPECT_EQ(chain.takeConfiguration(), misuse); // it is filled
  std::int64_t count = 0, bytes = 0;
  EXPECT_EQ(cudnnBackendGetAttribute(chain.heuristics.handle, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                     CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr),
            ok);
  EXPECT_EQ(count, 2); // of which one was asked for
  EXPECT_EQ(cudnnBackendGetAttribute(chain.plan.handle, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                     CUDNN_TYPE_INT64, 1, &count, &bytes),
            ok);
  EXPECT_EQ(bytes, 1000);
}

TEST(GraphInterfaceTest, PlansRunWithAllAddressesAlignedAndOnTheDevice) {
  ConvolutionChain chain;
  chain.build();
  const DeviceBytes memory;
  std::byte *const begin = memory.data;
  const std::vector<void *> data{begin, begin + 256, begin + 512};
  std::array<float, 18> host{};
  void *const workspace = begin + 1024;
  EXPECT_EQ(cudaMemsetAsync(begin, 0, 4096, chain.stream), cudaSuccess);
  EXPECT_EQ(chain.execute({1, 2, 3}, data, workspace), ok);
  EXPECT_EQ(chain.execute({1, 2, 4}, data, workspace), misuse);
  EXPECT_EQ(chain.execute({1, 2, 2}, data, workspace), misuse);
  EXPECT_EQ(chain.execute({1, 2}, data, workspace), misuse);
  EXPECT_EQ(chain.execute({1, 2, 3}, data, nullptr), misuse);
  EXPECT_EQ(chain.execute({1, 2, 3}, data, begin + 3500), misuse);
  EXPECT_EQ(chain.execute({1, 2, 3}, {begin + 4, begin + 256, begin + 512}, workspace), misuse);
  EXPECT_EQ(chain.execute({1, 2, 3}, {host.data(), begin + 256, begin + 512}, workspace), misuse);
}

} // namespace
} // namespace syncline::hostcuda
