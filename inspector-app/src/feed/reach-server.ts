/** Whether a server can be reached: `full` if too many browsers watch, `refused` if the token is wrong. */
export type Reachable = 'yes' | 'full' | 'refused' | 'gone'

/** A process that is stopped accepts connections and does not answer. */
const maxWaitMs = 5_000

/** A page cannot see why its WebSocket was refused, so it asks the server. */
export async function reachServer(origin: string, token: string, closing: AbortSignal): Promise<Reachable> {
  const signal = AbortSignal.any([closing, AbortSignal.timeout(maxWaitMs)])
  try {
    const { status } = await fetch(`${origin}/state`, { headers: { authorization: `Bearer ${token}` }, signal })
    return status === 401 ? 'refused' : status === 503 ? 'full' : 'yes'
  } catch {
    return 'gone'
  }
}
