"""The same numbers as PyTorch's, where PyTorch is installed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import ascend_grad as ag
import numpy as np
import pytest
from reference import Exact
from reference.avg_pool2d_backward import avg_pool2d_backward
from reference.batch_norm_reduce_backward import batch_norm_reduce_backward
from reference.prelu_backward import prelu_backward
from reference.softmax_backward import softmax_backward
from tolerance import assert_within, bound

torch = pytest.importorskip("torch")
DTYPES = (torch.float32, torch.float16, torch.bfloat16)


def normal(*shape: int, dtype: object = torch.float32, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def wide(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().to(torch.float64).numpy()


def assert_close(got: np.ndarray, theirs: torch.Tensor, exact: Exact) -> None:
    """Both are close to the same exact value; torch computes in float64 here."""
    assert_within(got, exact)
    assert np.abs(exact.value - wide(theirs)).max() <= 1e-6 * bound(exact).max() + 1e-12


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_softmax(dtype: torch.dtype, dim: int) -> None:
    scores = normal(5, 17, 33).double().requires_grad_()
    output = torch.softmax(scores, dim).to(dtype).double().detach()
    g = normal(5, 17, 33, dtype=dtype, seed=1)
    theirs = torch.ops.aten._softmax_backward_data(g.double(), output, dim, torch.float64)
    got = ag.softmax_backward(g, output.to(dtype), dim)
    assert_close(got, theirs, softmax_backward(wide(g), wide(output), dim))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("channels", [1, 6])
def test_prelu(dtype: torch.dtype, channels: int) -> None:
    g, x, w = (
        normal(*shape, dtype=dtype, seed=seed)
        for seed, shape in enumerate(((4, 6, 7, 5), (4, 6, 7, 5), (channels,)))
    )
    inputs = [x.double().requires_grad_(), w.double().requires_grad_()]
    torch.nn.functional.prelu(*inputs).backward(g.double())
    got, exact = ag.prelu_backward(g, x, w), prelu_backward(wide(g), wide(x), wide(w))
    for ours, source, want in zip(got, inputs, exact, strict=True):
        assert_close(ours, source.grad, want)


POOLS = [
    (2, 2, 0, False),
    (3, 2, 1, False),
    (3, 2, 1, True),
    (2, 2, 0, True),
    ((3, 2), 1, 1, True),
    (5, (2, 3), (2, 1), True),
    (7, 7, 0, False),
]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("pool", POOLS, ids=str)
@pytest.mark.parametrize("include, divisor", list(product([True, False], [None, 3, -5])))
def test_avg_pool2d(
    dtype: torch.dtype, pool: tuple[object, ...], include: bool, divisor: int | None
) -> None:
    kernel, stride, padding, ceil_mode = pool
    x = normal(2, 3, 9, 8).double().requires_grad_()
    pooled = torch.nn.functional.avg_pool2d(x, kernel, stride, padding, ceil_mode, include, divisor)
    g = normal(*pooled.shape, dtype=dtype, seed=2)
    pooled.backward(g.double())
    got = ag.avg_pool2d_backward(
        g, x.detach().to(dtype), kernel, stride, padding, ceil_mode, include, divisor or 0
    )
    exact = avg_pool2d_backward(
        wide(g), tuple(x.shape), kernel, stride, padding, include, divisor or 0
    )
    assert_close(got, x.grad, exact)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_batch_norm_through_its_input_gradient(dtype: torch.dtype) -> None:
    """torch has no reduction of its own on the CPU; the sums are what its gradients are made of."""
    x, g = normal(8, 5, 6, 7, dtype=dtype), normal(8, 5, 6, 7, dtype=dtype, seed=1)
    inputs = [x.double(), torch.ones(5).double(), torch.zeros(5).double()]
    for tensor in inputs:
        tensor.requires_grad_()
    torch.nn.functional.batch_norm(inputs[0], None, None, *inputs[1:], training=True).backward(
        g.double()
    )
    mean = x.double().mean((0, 2, 3)).float()
    invstd = (x.double().var((0, 2, 3), unbiased=False) + 1e-5).rsqrt().float()
    got = ag.batch_norm_reduce_backward(g, x, mean, invstd)
    exact = batch_norm_reduce_backward(wide(g), wide(x), wide(mean), wide(invstd))
    for name in got._fields:
        assert_within(getattr(got, name).astype(np.float32), getattr(exact, name))
    # mean and invstd are float32 here, so torch's own float64 sums differ in that rounding
    scale = np.abs(wide(inputs[1].grad)).max()
    assert np.abs(got.grad_weight - wide(inputs[1].grad)).max() < 1e-5 * scale + 1e-4
    assert np.abs(got.grad_bias - wide(inputs[2].grad)).max() < 1e-4


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_tensors_as_results(dtype: torch.dtype) -> None:
    g, x = normal(4, 6, 5, dtype=dtype), normal(4, 6, 5, dtype=dtype, seed=1)
    out = torch.zeros(6, 4, 5, dtype=dtype).transpose(0, 1)
    assert ag.softmax_backward(g, x, 1, out=out) is out
    plain = ag.softmax_backward(g, x, 1)
    assert torch.equal(out.float(), torch.from_numpy(plain.astype(np.float32)))
    assert ag.softmax_backward(g, x, 1, out=g) is g
    assert torch.equal(g, out)


@pytest.mark.parametrize(
    "view",
    [
        lambda t: t.transpose(1, 3),
        lambda t: t[:, :, ::2, 1:],
        lambda t: t[:1].expand(4, -1, -1, -1),
        lambda t: t.to(memory_format=torch.channels_last),
        lambda t: t.flip(2),
    ],
)
def test_strided_tensors(view: object) -> None:
    g, y = view(normal(4, 6, 5, 8)), view(normal(4, 6, 5, 8, seed=1))
    got = ag.softmax_backward(g, y, 2)
    assert (got == ag.softmax_backward(g.contiguous().numpy(), y.contiguous().numpy(), 2)).all()


def unusable() -> Sequence[torch.Tensor]:
    return [
        torch.zeros(3, device="meta"),
        torch.zeros(3).to_sparse(),
        torch.zeros(3, requires_grad=True),
    ]


@pytest.mark.parametrize("index", range(3), ids=["meta", "sparse", "requires_grad"])
def test_tensors_without_plain_memory_are_refused(index: int) -> None:
    with pytest.raises(TypeError, match="softmax_backward: grad_output: ") as caught:
        ag.softmax_backward(unusable()[index], torch.zeros(3), 0)
    assert index < 2 or "detach()" in str(caught.value)


def test_a_view_that_negates_is_refused() -> None:
    negated = torch.tensor([1 + 2j, 3 + 4j]).conj().imag
    with pytest.raises(ag.ParamInvalidError, match=r"resolve_neg\(\)"):
        ag.softmax_backward(negated, torch.zeros(2), 0)
    ag.softmax_backward(negated.resolve_neg(), torch.zeros(2), 0)


def test_results_of_torch_before_versions_in_dlpack() -> None:
    class Old(torch.Tensor):
        def __dlpack__(self, stream: object = None) -> object:
            return torch.utils.dlpack.to_dlpack(self.as_subclass(torch.Tensor))

    g, y = normal(3, 5), normal(3, 5, seed=1)
    out = torch.zeros(3, 5).as_subclass(Old)
    assert "dltensor_versioned" not in repr(out.__dlpack__())
    assert ag.softmax_backward(g, y, 1, out=out) is out
    assert (out.numpy() == ag.softmax_backward(g, y, 1)).all()
