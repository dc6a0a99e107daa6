import type { StreamingToolExecutor, TelemetryEvents } from '../../src/index.ts'

const types = [
  'tool_use_success',
  'tool_use_error',
  'tool_use_cancelled',
  'tool_use_progress',
  'tool_use_rejected',
  'post_tool_hook_error',
] as const satisfies (keyof TelemetryEvents)[]

export type HeardEvent = {
  [Type in keyof TelemetryEvents]: { type: Type } & TelemetryEvents[Type]
}[keyof TelemetryEvents]

/** All telemetry events from now on. */
export function hear(executor: StreamingToolExecutor): HeardEvent[] {
  const heard: HeardEvent[] = []
  for (const type of types) executor.on(type, (event) => void heard.push({ type, ...event } as HeardEvent))
  return heard
}
