"""Errors of this package. Each says what is wrong and what to do."""


class SaplingError(Exception):
    """What a call of the node came to, if not to an answer.

    `code` is the node's word for it, such as "unknown_world"; `status` is the HTTP status (0: the
    node was not reached, or did not answer); `detail` is what else the node says.
    """

    def __init__(self, message, code="", status=0, detail=None):
        super().__init__(message)
        self.message = message
        self.code = code
        self.status = status
        self.detail = detail if detail is not None else {}


class NoNode(SaplingError):
    """No node was found, or none answers."""


class BadRequest(SaplingError):
    """The request itself is wrong: asking again will not help."""


class NotAllowed(SaplingError):
    """A token is missing, or may not do this."""


class NotFound(SaplingError):
    """There is no such world, module, effect, or route."""


class Conflict(SaplingError):
    """It exists, is done, or the key was used for something else."""


class HandlerFailed(SaplingError):
    """The handler refused the message, or failed too often. The message is the handler's."""


class Busy(SaplingError):
    """The node has too much to do. The client has tried again for a while."""


class Unavailable(SaplingError):
    """The node is stopping, its store fails, or nobody knows. The client has tried again."""


class NotYet(SaplingError, TimeoutError):
    """The time to wait is over, and what was waited for may still come.

    `key` is the idempotency key of the call: send(..., key=error.key) goes on waiting for the same
    message.
    """

    def __init__(self, message, key="", detail=None):
        super().__init__(message, "not_yet", 202, detail)
        self.key = key


class Fail(Exception):
    """Raised in a handler or task: none of what it did counts.

    In a handler: with `retry` the event is tried again, otherwise it is refused for good and
    becomes a dead letter. In a task: with `retry` it is tried again, otherwise its receipt is an
    error with `code`.
    """

    def __init__(self, message, retry=False, code="task_failed"):
        super().__init__(str(message))
        self.message = str(message)
        self.retry = bool(retry)
        self.code = str(code)


_BY_STATUS = {
    400: BadRequest, 401: NotAllowed, 403: NotAllowed, 404: NotFound, 405: BadRequest,
    409: Conflict, 413: BadRequest, 415: BadRequest, 422: HandlerFailed, 429: Busy,
    500: Unavailable, 503: Unavailable, 507: Unavailable,
}


def error_of(status, code, message, detail=None):
    """The error for an answer of the node with this status."""
    kind = _BY_STATUS.get(status, BadRequest if 400 <= status < 500 else SaplingError)
    return kind(message, code, status, detail)
