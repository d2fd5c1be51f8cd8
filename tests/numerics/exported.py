"""The models that the tests of this folder export, and the samples: a function for each, which
writes the file and returns it with one batch of data and words for `compile`."""

import functools

import numpy
import onnx
import torch

import agreement
import export
import gradients
import harness
import modules
import test_accumulation
import test_attention
import test_bfloat16
import test_classes
import test_exact_sums
import test_not_finite
import test_operators
import test_optimizers
import test_recompute
import test_schemes
import test_several_inputs
import test_sparse
import test_stock_transformers
import test_torchvision
import test_transformers
import test_unedited

BATCH = gradients.BATCH
SAMPLES = harness.TOP / "samples" / "models"
FIRST_TOKENS = 1000  # all vocabularies of the samples have more

# Networks of single tests: the shape of an input, or the number of words and the length of a text.
OF_VECTORS = {
    test_optimizers.Smooth: (1, 8, 8),
    test_schemes.Tokens: (5, 12),
    test_schemes.Pointwise: (3, 8, 8),
    test_not_finite.activations: test_not_finite.SHAPE,
    test_not_finite.of_each_sample: test_not_finite.SHAPE,
    test_not_finite.normalised: test_not_finite.SHAPE,
    test_accumulation.Normalized: (1, 8, 8),
    test_bfloat16.Plain: (3, 32, 32),
    test_bfloat16.Residual: (3, 16, 16),
    test_recompute.Residual: (3, 16, 16),
}
OF_TEXTS = {
    test_sparse.Words: (test_sparse.Words.words, test_sparse.Words.length, 10),
    test_sparse.Untied: (test_sparse.Untied.words, test_sparse.Untied.length, None),
    functools.partial(test_recompute.Gpt, 48, 3, 3): (96, 64, None),
}


def of_network(make, data, folder, words=(), opset=17):
    torch.manual_seed(0)
    path = folder / "model.onnx"
    export.write(make().train(), torch.from_numpy(data[0][:2]), path, opset)
    return path, data, words


def of_torchvision(case, folder):
    model, _ = test_torchvision.make(case, 0)
    data = gradients.draw((3, case.size, case.size), 1000, BATCH, 0)
    return of_network(lambda: model, data, folder)


def of_layer(name, folder):
    """A layer of test_exact_sums, whose output is compared by its squares."""
    random = numpy.random.RandomState(0)
    x = random.standard_normal((BATCH, 16, 12, 12)).astype("f4")
    make = test_exact_sums.LAYERS[name]
    shape = make()(torch.from_numpy(x)).shape
    data = x, random.standard_normal(shape).astype("f4")
    return of_network(make, data, folder, ("--loss", "mse"), 13)


def of_sample(path, folder):
    graph = onnx.load(str(path)).graph
    stored = {tensor.name for tensor in graph.initializer}
    (given,) = (one.type.tensor_type for one in graph.input if one.name not in stored)
    shape = [dimension.dim_value for dimension in given.shape.dim][1:]
    last = graph.output[0].type.tensor_type.shape.dim
    if given.elem_type != onnx.TensorProto.INT64:
        return path, gradients.draw(shape, last[-1].dim_value, BATCH, 0), ()
    classes = last[-1].dim_value if len(last) == 2 else None
    return path, gradients.tokens(FIRST_TOKENS, *shape, BATCH, 0, classes), ()


def of_tests():
    """The models of GradientsTests, each by the opsets that its test takes."""
    for module, test, opsets in (
        (test_transformers, "Transformers", gradients.OPSETS),
        (test_stock_transformers, "StockTransformers", gradients.OPSETS),
        (test_several_inputs, "SeveralInputs", gradients.OPSETS),
        (test_classes, "Classes", gradients.OPSETS),
        (test_unedited, "Unedited", gradients.OPSETS),
        (test_attention, "Attention", (23,)),
    ):
        kind = getattr(module, f"{test}Test")
        for name in kind.models:
            for opset in opsets:
                make = functools.partial(agreement.of_gradients, kind, name, opset)
                yield f"{name}, opset {opset}", make


def named(make):
    make = getattr(make, "func", make)
    return f"{make.__module__}.{make.__qualname__}"


def of_networks():
    for kind in modules.ALL:
        data = test_operators.batch_for(kind)
        yield kind.__name__, functools.partial(of_network, kind, data)
    for make, shape in OF_VECTORS.items():
        data = gradients.draw(shape, 5, BATCH, 0)
        yield named(make), functools.partial(of_network, make, data)
    for make, (words, length, classes) in OF_TEXTS.items():
        data = gradients.tokens(words, length, BATCH, 0, classes)
        yield named(make), functools.partial(of_network, make, data)
    for name in test_exact_sums.LAYERS:
        yield name, functools.partial(of_layer, name)


def models():
    """Pairs of a name and a function of a folder."""
    yield from of_networks()
    yield from of_tests()
    for case in test_torchvision.CASES:
        yield case.name, functools.partial(of_torchvision, case)
    for path in sorted(SAMPLES.glob("*.onnx")):
        yield path.name, functools.partial(of_sample, path)
