"""A convolutional network whose backward pass runs on the four operators of ascend_grad.

Convolution and linear layers are matrix products in NumPy; batch normalisation, PReLU, average
pooling and softmax take their gradients from the package. Images are (N, C, H, W).
"""

from __future__ import annotations

from dataclasses import dataclass

import ascend_grad as ag
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


@dataclass(frozen=True)
class Numerics:
    """Mixed precision: activations and their gradients are stored in `storage`; parameters,
    statistics and sums are in `wide`, which is float32 unless `storage` is wider."""

    storage: np.dtype
    device: str | None = None

    @property
    def wide(self) -> np.dtype:
        return np.result_type(self.storage, np.float32)


class Layer:
    """forward(x, training) keeps what backward(dy) needs; backward returns dx and sets `gradients`,
    one array per parameter."""

    def __init__(self, numerics: Numerics, **parameters: np.ndarray):
        self.numerics = numerics
        self.parameters = {name: p.astype(numerics.wide) for name, p in parameters.items()}
        self.gradients: dict[str, np.ndarray] = {}

    def widen(self, x: np.ndarray) -> np.ndarray:
        return x.astype(self.numerics.wide, copy=False)

    def store(self, x: np.ndarray) -> np.ndarray:
        return x.astype(self.numerics.storage, copy=False)

    def operand(self, name: str) -> np.ndarray:
        """The parameter as the arithmetic sees it: rounded to the storage dtype."""
        return self.widen(self.store(self.parameters[name]))

    def set_gradients(self, **gradients: np.ndarray) -> None:
        self.gradients = {name: self.widen(gradient) for name, gradient in gradients.items()}


def patches(x: np.ndarray) -> np.ndarray:
    """Every pixel's 3x3 neighbourhood, zeros outside the image: (N*H*W, C*9)."""
    windows = sliding_window_view(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), axis=(2, 3))
    return windows.transpose(0, 2, 3, 1, 4, 5).reshape(-1, 9 * x.shape[1])


def convolve(x: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """(N, C, H, W) with (O, C, 3, 3) -> (N, O, H, W), a transposed view."""
    n, _, h, w = x.shape
    product = patches(x) @ weight.reshape(len(weight), -1).T
    return product.reshape(n, h, w, -1).transpose(0, 3, 1, 2)


class Convolution(Layer):
    """3x3 with zero padding; without a bias, which the normalisation that follows would remove."""

    def __init__(self, numerics: Numerics, rng: np.random.Generator, inputs: int, outputs: int):
        scale = np.sqrt(2 / (9 * inputs))
        super().__init__(numerics, weight=rng.normal(0, scale, (outputs, inputs, 3, 3)))

    def forward(self, x: np.ndarray, training: bool) -> np.ndarray:
        self.x = self.widen(x)
        return self.store(convolve(self.x, self.operand("weight")))

    def backward(self, dy: np.ndarray) -> np.ndarray:
        weight, dy = self.operand("weight"), self.widen(dy)
        dy_rows = dy.transpose(0, 2, 3, 1).reshape(-1, len(weight))
        self.set_gradients(weight=(dy_rows.T @ patches(self.x)).reshape(weight.shape))
        return self.store(convolve(dy, weight[:, :, ::-1, ::-1].swapaxes(0, 1)))


class BatchNorm(Layer):
    AXES, EPSILON, MOMENTUM = (0, 2, 3), 1e-5, 0.1

    def __init__(self, numerics: Numerics, channels: int):
        super().__init__(numerics, weight=np.ones(channels), bias=np.zeros(channels))
        self.running_mean = np.zeros(channels, numerics.wide)
        self.running_variance = np.ones(channels, numerics.wide)

    def forward(self, x: np.ndarray, training: bool) -> np.ndarray:
        self.x, wide = x, self.widen(x)
        self.mean, variance = self.running_mean, self.running_variance
        if training:
            self.mean, variance = wide.mean(self.AXES), wide.var(self.AXES)
            self.running_mean = self._averaged(self.running_mean, self.mean)
            self.running_variance = self._averaged(self.running_variance, variance)
        self.invstd = 1 / np.sqrt(variance + self.EPSILON)
        scale = _per_channel(self.parameters["weight"] * self.invstd)
        bias = _per_channel(self.parameters["bias"])
        return self.store((wide - _per_channel(self.mean)) * scale + bias)

    def _averaged(self, running: np.ndarray, batch: np.ndarray) -> np.ndarray:
        return (1 - self.MOMENTUM) * running + self.MOMENTUM * batch

    def backward(self, dy: np.ndarray) -> np.ndarray:
        weight = self.parameters["weight"]
        sums = ag.batch_norm_reduce_backward(
            dy, self.x, self.mean, self.invstd, weight, device=self.numerics.device
        )
        self.set_gradients(weight=sums.grad_weight, bias=sums.grad_bias)
        count = dy.size // len(weight)
        mean_dy = _per_channel(sums.sum_dy / count)
        slope = _per_channel(self.invstd**2 * sums.sum_dy_xmu / count)
        centred = self.widen(self.x) - _per_channel(self.mean)
        dx = (self.widen(dy) - mean_dy - centred * slope) * _per_channel(weight * self.invstd)
        return self.store(dx)


def _per_channel(values: np.ndarray) -> np.ndarray:
    return values[:, None, None]


class PReLU(Layer):
    def __init__(self, numerics: Numerics, channels: int):
        super().__init__(numerics, weight=np.full(channels, 0.25))

    def forward(self, x: np.ndarray, training: bool) -> np.ndarray:
        self.x, wide = x, self.widen(x)
        return self.store(np.where(wide > 0, wide, wide * _per_channel(self.operand("weight"))))

    def backward(self, dy: np.ndarray) -> np.ndarray:
        weight = self.store(self.parameters["weight"])
        grads = ag.prelu_backward(dy, self.x, weight, device=self.numerics.device)
        self.set_gradients(weight=grads.grad_weight)
        return grads.grad_input


class AveragePool(Layer):
    """2x2 windows side by side."""

    def forward(self, x: np.ndarray, training: bool) -> np.ndarray:
        self.x = x
        n, c, h, w = x.shape
        return self.store(self.widen(x).reshape(n, c, h // 2, 2, w // 2, 2).mean((3, 5)))

    def backward(self, dy: np.ndarray) -> np.ndarray:
        return ag.avg_pool2d_backward(dy, self.x, 2, device=self.numerics.device)


class Linear(Layer):
    """Flattens its input; (N, outputs)."""

    def __init__(self, numerics: Numerics, rng: np.random.Generator, inputs: int, outputs: int):
        weight = rng.normal(0, 1 / np.sqrt(inputs), (inputs, outputs))
        super().__init__(numerics, weight=weight, bias=np.zeros(outputs))

    def forward(self, x: np.ndarray, training: bool) -> np.ndarray:
        self.shape, self.rows = x.shape, self.widen(x).reshape(len(x), -1)
        return self.store(self.rows @ self.operand("weight") + self.parameters["bias"])

    def backward(self, dy: np.ndarray) -> np.ndarray:
        dy = self.widen(dy)
        self.set_gradients(weight=self.rows.T @ dy, bias=dy.sum(0))
        return self.store(dy @ self.operand("weight").T).reshape(self.shape)


class SoftmaxCrossEntropy(Layer):
    """Mean of -log(softmax(logits)[label]). Probabilities stay in the wide dtype, where 1 / p does
    not overflow; only the gradient that leaves is rounded to the storage dtype."""

    SMALLEST = 1e-30

    def forward(self, logits: np.ndarray, labels: np.ndarray) -> float:
        shifted = self.widen(logits)
        powers = np.exp(shifted - shifted.max(1, keepdims=True))
        self.output = np.maximum(powers / powers.sum(1, keepdims=True), self.SMALLEST)
        self.chosen = np.arange(len(labels)), labels
        return float(-np.log(self.output[self.chosen]).mean())

    def backward(self, scale: float) -> np.ndarray:
        dy = np.zeros_like(self.output)
        dy[self.chosen] = -scale / (len(dy) * self.output[self.chosen])
        dx = np.empty(dy.shape, self.numerics.storage)
        return ag.softmax_backward(dy, self.output, 1, out=dx, device=self.numerics.device)


class Network:
    """Classifies 8x8 images: twice (convolution, normalisation, PReLU, pooling), then linear."""

    def __init__(self, numerics: Numerics, rng: np.random.Generator):
        self.numerics = numerics
        self.layers: dict[str, Layer] = {
            "conv1": Convolution(numerics, rng, 1, 16),
            "norm1": BatchNorm(numerics, 16),
            "prelu1": PReLU(numerics, 16),
            "pool1": AveragePool(numerics),
            "conv2": Convolution(numerics, rng, 16, 32),
            "norm2": BatchNorm(numerics, 32),
            "prelu2": PReLU(numerics, 32),
            "pool2": AveragePool(numerics),
            "linear": Linear(numerics, rng, 32 * 2 * 2, 10),
        }
        self.criterion = SoftmaxCrossEntropy(numerics)

    def logits(self, images: np.ndarray, training: bool = False) -> np.ndarray:
        x = images.astype(self.numerics.storage)
        for layer in self.layers.values():
            x = layer.forward(x, training)
        return x

    def loss(self, images: np.ndarray, labels: np.ndarray) -> float:
        return self.criterion.forward(self.logits(images, training=True), labels)

    def backward(self, scale: float = 1.0) -> dict[str, np.ndarray]:
        """Gradients of scale * loss by parameter name, in the wide dtype."""
        dy = self.criterion.backward(scale)
        for layer in reversed(self.layers.values()):
            dy = layer.backward(dy)
        return {
            f"{name}.{parameter}": gradient
            for name, layer in self.layers.items()
            for parameter, gradient in layer.gradients.items()
        }

    def parameters(self) -> dict[str, np.ndarray]:
        """The arrays themselves: writing to them changes the network."""
        return {
            f"{name}.{parameter}": value
            for name, layer in self.layers.items()
            for parameter, value in layer.parameters.items()
        }
