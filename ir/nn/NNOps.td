// All operations of the nn dialect.
#ifndef SYNCLINE_NN_OPS_TD
#define SYNCLINE_NN_OPS_TD

include "ir/nn/NNStructureOps.td"
include "ir/nn/NNLinearOps.td"
include "ir/nn/NNNormalizationOps.td"
include "ir/nn/NNPoolOps.td"
include "ir/nn/NNPointwiseOps.td"
include "ir/nn/NNRecurrentOps.td"
include "ir/nn/NNShapeOps.td"
include "ir/nn/NNResampleOps.td"
include "ir/nn/NNIndexOps.td"

#endif
