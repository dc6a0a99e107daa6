declare module 'virtual:chart-layouts' {
  export const ready: import('./chart/layouts.ts').ReadyLayouts
}

declare module 'virtual:elk-worker-packed' {
  /** The layout worker, gzipped, in base64. */
  export const packed: string
}
