export interface HttpOptions {
  /**
   * 0 takes any that is free.
   * @default 0
   */
  port?: number | undefined
  /** @default '127.0.0.1' */
  host?: string | undefined
  /** What a client has to send as `Authorization: Bearer …`. Needed where others than this machine can connect. */
  token?: string | undefined
  /** Further names under which the server may be asked, such as one that a proxy has. */
  allowedHosts?: readonly string[] | undefined
}
