/** Whether a server can be reached: `full` if too many browsers watch, `refused` if the token is wrong. */
export type Reachable = 'yes' | 'full' | 'refused' | 'gone'

/** A page cannot see why its WebSocket was refused, so it asks the server. */
export async function reachServer(origin: string, token: string, signal: AbortSignal): Promise<Reachable> {
  try {
    const { status } = await fetch(`${origin}/state`, { headers: { authorization: `Bearer ${token}` }, signal })
    return status === 401 ? 'refused' : status === 503 ? 'full' : 'yes'
  } catch {
    return 'gone'
  }
}
