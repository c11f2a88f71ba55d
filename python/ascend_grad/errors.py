"""What the operators raise."""

from __future__ import annotations


class AclnnError(Exception):
    """An operator refused its arguments or could not run.

    ``status`` is CANN's code (161002), ``status_name`` its name ("ACLNN_ERR_PARAM_INVALID"),
    ``operator`` and ``parameter`` say what it is about; ``parameter`` is "" where no single one is.
    """

    def __init__(
        self, message: str, status: int, status_name: str, operator: str, parameter: str
    ) -> None:
        super().__init__(message)
        self.status = status
        self.status_name = status_name
        self.operator = operator
        self.parameter = parameter

    def __reduce__(
        self,
    ) -> tuple[type[AclnnError], tuple[str, int, str, str, str], dict[str, object]]:
        arguments = (str(self), self.status, self.status_name, self.operator, self.parameter)
        return type(self), arguments, self.__dict__  # notes, too


class ParamNullptrError(AclnnError, TypeError):
    """161001: a required argument is None."""


class ParamInvalidError(AclnnError, ValueError):
    """161002: an argument has a value, shape, dtype or layout that the operator does not allow."""


class RuntimeUnavailableError(AclnnError, RuntimeError):
    """361001 with `parameter` "device": one that this build or this machine does not have.

    What goes wrong on a device that is there, such as memory that is full, is an `AclnnError`.
    """


_CLASSES = {161001: ParamNullptrError, 161002: ParamInvalidError}


def make_error(
    message: str, status: int, status_name: str, operator: str, parameter: str
) -> AclnnError:
    """The exception of a status; called by the extension."""
    is_unavailable = status == 361001 and parameter == "device"
    kind = RuntimeUnavailableError if is_unavailable else _CLASSES.get(status, AclnnError)
    return kind(message, status, status_name, operator, parameter)
