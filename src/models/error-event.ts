import { describeValue } from '../base/describe-value.ts'
import { readField } from '../base/read-field.ts'
import { classifyModelError, type ModelErrorKind } from './classify-model-error.ts'
import { asText } from './read-event.ts'

/** The names of the Messages API, so that errors look the same for all services. */
const types: Readonly<Record<Exclude<ModelErrorKind, 'unknown'>, string>> = {
  overloaded: 'overloaded_error',
  rate_limited: 'rate_limit_error',
  connection: 'api_error',
  server: 'api_error',
  timeout: 'timeout_error',
  aborted: 'aborted',
  invalid_request: 'invalid_request_error',
  auth: 'authentication_error',
}

/** Converts an error from mid-stream to the type and message of an `error` event. */
export function errorParts(error: unknown): { type: string; message: string } {
  const inner = readField(error, 'error')
  const message = [error, inner].map((each) => asText(readField(each, 'message'))).find((text) => text !== undefined)
  const kind = classifyModelError(error)
  return {
    type: kind === 'unknown' ? (labelOf(error) ?? labelOf(inner) ?? 'unknown_error') : types[kind],
    message: message ?? (typeof error === 'string' ? error : `The service failed: ${describeValue(error, 500)}`),
  }
}

const labelOf = (error: unknown): string | undefined =>
  asText(readField(error, 'code')) ?? asText(readField(error, 'type'))
