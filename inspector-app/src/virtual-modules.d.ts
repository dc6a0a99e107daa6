declare module 'virtual:elk-worker-packed' {
  /** The layout worker as it is published: zipped, in base64. */
  export const packed: string
}
