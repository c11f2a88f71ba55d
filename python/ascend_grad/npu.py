"""The operators on memory of an Ascend device, with no copy between host and device.

Each function takes the arguments of its namesake in `ascend_grad`, with two differences. Arrays are
tensors of torch_npu or `DeviceArray`: address, shape, dtype and strides in elements. Those for all
wanted results must be given. `stream` is the runtime's stream as an integer: None is torch_npu's
current stream where tensors come from torch, else the default stream of the current context.

The work is queued on the stream and may run after the function has returned: the memory must live
until then. torch_npu queues work of its own in a second thread. None takes the stream from
`torch.npu.current_stream().npu_stream`, which waits for that queue.

`device="emulator"` runs the emulated kernels on addresses of the host's memory.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from operator import index
from typing import Any

from ascend_grad import _core, ops, settings
from ascend_grad._signatures import bind, form_of

DeviceArray = _core.DeviceArray

__all__ = [
    "DeviceArray",
    "avg_pool2d_backward",
    "batch_norm_reduce_backward",
    "prelu_backward",
    "softmax_backward",
]


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "data_ptr") and hasattr(value, "stride")


def _device_array(value: Any) -> Any:
    if not _is_tensor(value):
        return value
    dtype = str(value.dtype).removeprefix("torch.")
    return DeviceArray(value.data_ptr(), tuple(value.shape), dtype, tuple(value.stride()))


def _current_stream() -> int:
    import torch  # its tensors are here

    return torch.npu.current_stream().npu_stream


def _stream_number(stream: Any, name: str) -> int:
    try:
        number = index(stream)
    except TypeError:
        given = type(stream).__name__
        text = f"{name}: stream: the runtime's stream as an int is needed, got {given}"
        raise TypeError(text) from None
    if not 0 <= number < 1 << 64:
        _core.raise_error(161002, name, "stream", f"must be the address of a stream, got {number}")
    return number


def _on_device(operator: Callable[..., Any]) -> Callable[..., Any]:
    name = operator.__name__
    run = getattr(_core, name)
    parameters = [p for p in inspect.signature(operator).parameters.values() if p.name != "device"]
    keyword = inspect.Parameter.KEYWORD_ONLY
    signature = inspect.Signature(
        [
            *parameters,
            inspect.Parameter("stream", keyword, default=None, annotation="int | None"),
            inspect.Parameter("device", keyword, default="npu", annotation="str"),
        ]
    )

    doc = f"`ascend_grad.{name}` on memory of the device; see this module's text."

    @form_of(operator, __name__, signature, doc)
    def on_device(*args: Any, **kwargs: Any) -> Any:
        arguments = bind(name, signature, args, kwargs)
        soc, stream, device = (arguments.pop(key) for key in ("soc", "stream", "device"))
        if not isinstance(device, str) or device not in settings.DEVICES[1:]:
            text = f"must be one of {', '.join(settings.DEVICES[1:])}, got {device!r}"
            _core.raise_error(161002, name, "device", text)
        if stream is not None:
            stream = _stream_number(stream, name)
        else:
            tensors = device == "npu" and any(map(_is_tensor, arguments.values()))
            stream = _current_stream() if tensors else 0
        arrays = {key: _device_array(value) for key, value in arguments.items()}
        given = {id(array): arguments[key] for key, array in arrays.items()}
        on = _core.Device(device, str(settings.library_dir()), stream)
        results = run(*arrays.values(), on, soc)
        if isinstance(results, tuple):
            return type(results)(*(result and given[id(result)] for result in results))
        return given[id(results)]

    return on_device


batch_norm_reduce_backward = _on_device(ops.batch_norm_reduce_backward)
avg_pool2d_backward = _on_device(ops.avg_pool2d_backward)
prelu_backward = _on_device(ops.prelu_backward)
softmax_backward = _on_device(ops.softmax_backward)
