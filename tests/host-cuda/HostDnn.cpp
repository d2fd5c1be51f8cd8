// cuDNN's handles and descriptors on the host, by its documentation.
#include "tests/host-cuda/HostDnn.h"

#include <algorithm>
#include <cstdio>
#include <new>
#include <numeric>

using namespace syncline::hostcuda;

namespace {

/// Whether the dimensions, listed from the outermost, lie without gaps.
bool isDense(const std::vector<int> &order, const int *dims, const int *strides) {
  std::int64_t stride = 1;
  for (std::size_t d = order.size(); d-- > 0; stride *= dims[order[d]])
    if (strides[order[d]] != stride)
      return false;
  return true;
}

bool isKnown(cudnnDataType_t type) {
  return type == CUDNN_DATA_FLOAT || type == CUDNN_DATA_BFLOAT16;
}

} // namespace

cudnnStatus_t cudnnCreate(cudnnHandle_t *handle) {
  *handle = new cudnnContext;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  delete handle;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return stream ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}
std::size_t cudnnGetVersion() { return setting("SYNCLINE_HOST_CUDNN_VERSION", CUDNN_VERSION); }

const char *cudnnGetErrorString(cudnnStatus_t) { return "an error of the host's cuDNN"; }
void cudnnGetLastErrorString(char *message, std::size_t most) {
  std::snprintf(message, most, "%s", lastError.c_str());
  lastError.clear();
}

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t *desc) {
  if (isMemoryGone)
    throw std::bad_alloc();
  *desc = new cudnnTensorStruct;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t desc) {
  delete desc;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t desc, cudnnDataType_t type,
                                         int rank, const int dims[], const int strides[]) {
  std::vector<int> order(static_cast<std::size_t>(std::clamp(rank, 0, 8)));
  std::iota(order.begin(), order.end(), 0);
  const bool isRowMajor = isDense(order, dims, strides);
  if (rank > 2)
    std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  if (!isKnown(type) || rank < 4 || rank > 8 || (!isRowMajor && !isDense(order, dims, strides)))
    return CUDNN_STATUS_BAD_PARAM;
  desc->dims.assign(dims, dims + rank);
  desc->isChannelsLast = !isRowMajor;
  desc->type = type;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateLRNDescriptor(cudnnLRNDescriptor_t *desc) {
  *desc = new cudnnLRNStruct;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyLRNDescriptor(cudnnLRNDescriptor_t desc) {
  delete desc;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetLRNDescriptor(cudnnLRNDescriptor_t desc, unsigned size, double alpha,
                                    double beta, double bias) {
  *desc = {size, alpha, beta, bias};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t *desc) {
  *desc = new cudnnFilterStruct;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t desc) {
  delete desc;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t desc, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int rank, const int dims[]) {
  if (!isKnown(type) || (format != CUDNN_TENSOR_NCHW && format != CUDNN_TENSOR_NHWC) || rank < 4)
    return CUDNN_STATUS_BAD_PARAM;
  desc->dims.assign(dims, dims + rank);
  desc->isChannelsLast = format == CUDNN_TENSOR_NHWC;
  desc->type = type;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t *desc) {
  *desc = new cudnnConvolutionStruct;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t desc) {
  delete desc;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t desc, int spatial,
                                              const int pads[], const int strides[],
                                              const int dilations[], cudnnConvolutionMode_t mode,
                                              cudnnDataType_t type) {
  if (mode != CUDNN_CROSS_CORRELATION || type != CUDNN_DATA_FLOAT || spatial < 2 || spatial > 3)
    return CUDNN_STATUS_BAD_PARAM;
  desc->window.padsBegin.assign(pads, pads + spatial);
  desc->window.padsEnd = desc->window.padsBegin;
  desc->window.strides.assign(strides, strides + spatial);
  desc->window.dilations.assign(dilations, dilations + spatial);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t desc, int groups) {
  desc->window.groups = groups;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t desc, cudnnMathType_t math) {
  desc->math = math;
  return CUDNN_STATUS_SUCCESS;
}
