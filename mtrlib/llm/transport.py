"""One call to an endpoint through the openai client."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Any

from mtrlib.llm.answers import CallError, scrubbed, stated
from mtrlib.llm.endpoints import Endpoint, is_loopback
from mtrlib.llm.requests import Request


class OpenAITransport:
    """Sends requests to one endpoint; usable from several threads.

    The client's own retries are off: retries happen in one place, :mod:`mtrlib.llm.retry`.

    Raises
    ------
    InputError, EndpointError
        As :meth:`.Endpoint.address` and :meth:`.Endpoint.api_key`.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        import openai  # half a second, and replay never needs it

        url = endpoint.address()
        self._key = endpoint.api_key()
        self._openai = openai
        self._client = openai.OpenAI(
            base_url=url or None,
            api_key=self._key,
            max_retries=0,
            timeout=endpoint.timeout_s,
            # a proxy set for the outside must not be asked for this machine
            http_client=openai.DefaultHttpx2Client(trust_env=False) if is_loopback(url) else None,
        )

    def __enter__(self) -> OpenAITransport:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._client.close()

    def __call__(self, request: Request, endpoint: Endpoint) -> Mapping[str, Any]:
        """The answer as plain JSON.

        Raises
        ------
        CallError
            Nothing usable came back.
        """
        try:
            answer = self._sent(request.dialect, endpoint.model, dict(request.body))
        except self._openai.APIStatusError as error:
            raise self._status_error(error) from None
        except self._openai.APITimeoutError:
            raise CallError("timeout", f"no answer in {endpoint.timeout_s:g} s") from None
        except self._openai.APIConnectionError:
            raise CallError("connection", "no connection, or it broke") from None
        except (ValueError, self._openai.APIResponseValidationError):
            raise CallError("unreadable", "the answer is not JSON") from None
        if not isinstance(answer, Mapping):
            raise CallError("unreadable", "the answer is no JSON object")
        return answer

    def _sent(self, dialect: str, model: str, body: dict[str, Any]) -> Any:
        if dialect == "system_one":
            # an untyped answer is asked for as `object`; the client refuses a bare dict
            return self._client.post("/systemone", body={"model": model, **body}, cast_to=object)
        # other fields go past the client's signature, so that servers may have their own
        if dialect == "decisions":
            asked, text = body.pop("questions"), body.pop("input")
            answer: Any = self._client.decisions.create(
                model=model, input=text, questions=asked, extra_body=body
            )
        else:
            answer = self._client.chat.completions.create(
                model=model, messages=body.pop("messages"), extra_body=body
            )
        return answer.to_dict(mode="json", warnings=False) if hasattr(answer, "to_dict") else answer

    def _status_error(self, error: Any) -> CallError:
        message, field = stated(error.body)
        return CallError(
            "status",
            scrubbed(message, self._key),
            status=error.status_code,
            field=error.param or field,
            code=error.code or error.type or "",
            retry_after=_seconds(error.response.headers.get("retry-after")),
        )


def _seconds(header: str | None) -> float | None:
    """Seconds of a Retry-After header, given as a number or as an HTTP date."""
    if not header:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(header)
    except ValueError:
        return None
    return max(0.0, (moment.astimezone(UTC) - datetime.now(UTC)).total_seconds())
