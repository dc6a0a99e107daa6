import type { ModelRequest } from './model.ts'
import { asText } from './read-event.ts'

/** The id of the container in which the service ran code, unless the container has expired, because the service would reject it. */
export function liveContainer(container: ModelRequest['container'], now: number = Date.now()): string | undefined {
  const expiry = Date.parse(asText(container?.expires_at) ?? '')
  return expiry <= now ? undefined : asText(container?.id)
}
