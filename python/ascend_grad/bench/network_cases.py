"""Layers of well-known networks, in batches of 32."""

from __future__ import annotations

from collections.abc import Iterator

from ascend_grad.bench.cases import BATCH_NORM, PRELU, SOFTMAX, Case, case_of, pool_of

BATCH = 32
# Channels and extent of the planes.
_NORMS = (
    # ResNet-50
    (64, 112), (64, 56), (256, 56), (128, 28), (512, 28), (256, 14), (1024, 14), (512, 7), (2048, 7),
    # EfficientNet-B0
    (32, 112), (16, 112), (96, 112), (96, 56), (24, 56), (144, 56), (40, 28), (240, 28), (80, 14),
    (480, 14), (112, 14), (672, 14), (192, 7), (1152, 7), (320, 7), (1280, 7),
    # DenseNet-121, some of many
    (160, 56), (224, 28), (448, 28), (736, 14), (992, 14), (768, 7), (1024, 7),
)  # fmt: skip
_PRELUS = (
    # faces: a ResNet of 50 layers for 112x112 images
    (64, 112), (64, 56), (128, 56), (128, 28), (256, 28), (256, 14), (512, 14), (512, 7),
    # ENet's encoder of 512x512 images, a quarter of the channels between projections
    (16, 256), (16, 128), (64, 128), (32, 64), (128, 64),
    # super-resolution of 96x96 parts
    (56, 96), (12, 96), (64, 192),
)  # fmt: skip
_POOLS = (  # and kernel, stride, padding
    # Inception v3
    (192, 35, 3, 1, 1), (288, 35, 3, 1, 1), (768, 17, 3, 1, 1), (1280, 8, 3, 1, 1),
    # DenseNet-121
    (128, 56, 2, 2, 0), (256, 28, 2, 2, 0), (512, 14, 2, 2, 0),
    # ResNet-D
    (256, 56, 2, 2, 0), (512, 28, 2, 2, 0), (1024, 14, 2, 2, 0),
    # before classifiers: ResNet-50, EfficientNet-B0, DenseNet-121, Inception v3
    (2048, 7, 7, 7, 0), (1280, 7, 7, 7, 0), (1024, 7, 7, 7, 0), (2048, 8, 8, 8, 0),
)  # fmt: skip
_SOFTMAXES = (  # of a batch; dim
    # attention: BERT, ViT, Swin (first and last stage), a long context of one head
    ((12, 128, 128), -1), ((12, 197, 197), -1), ((192, 49, 49), -1), ((24, 49, 49), -1),
    ((512, 512), -1),
    # classes: ImageNet; of 32 tokens words of BERT, Llama, GPT-2
    ((1000,), -1), ((32, 30522), -1), ((32, 32000), -1), ((32, 50257), -1),
    # of pixels: Pascal VOC, Cityscapes
    ((21, 65, 65), 1), ((19, 128, 128), 1),
)  # fmt: skip


def network_cases() -> Iterator[Case]:
    for operator, planes in ((BATCH_NORM, _NORMS), (PRELU, _PRELUS)):
        for channels, extent in planes:
            yield case_of(operator, f"{BATCH}x{channels}x{extent}x{extent}")
    for channels, extent, *windows in _POOLS:
        kernel, stride, padding = windows
        text = f"{BATCH}x{channels}x{extent}x{extent} k{kernel}s{stride}p{padding}"
        yield pool_of(text, kernel, stride, padding)
    for shape, dim in _SOFTMAXES:
        yield case_of(SOFTMAX, f"{'x'.join(map(str, (BATCH, *shape)))} dim{dim}", dim=dim)
