export interface HttpOptions {
  /**
   * 0 picks a free port.
   * @default 0
   */
  port?: number | undefined
  /** @default '127.0.0.1' */
  host?: string | undefined
  /** The token that clients send as `Authorization: Bearer …`. Required if other machines can connect. */
  token?: string | undefined
  /** Further accepted host names, such as the name of a proxy. */
  allowedHosts?: readonly string[] | undefined
}
