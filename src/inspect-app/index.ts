import type { Command, EncodeLimits, Frame, Recorder, Redact, Showable } from '../inspect/index.ts'

/** Executors and queries of the same page. They are watched while the inspector is there, and left with it. */
export interface ShownSource {
  readonly shown: Showable | Iterable<Showable>
  /**
   * What the inspector may do beside looking.
   * @default nothing
   */
  readonly commands?: boolean | readonly Command[] | undefined
  /** Decides what may be shown of inputs, results and everything else that is not the charts' own. */
  readonly redact?: Redact | undefined
  /** How much of a value is shown. */
  readonly limits?: EncodeLimits | undefined
}

/** A recorder that the page has anyway. It is looked at, nothing more. */
export interface RecorderSource {
  readonly recorder: Recorder
}

/** The address that `serveInspector` gave, with its token. That server has to know this page: its option `origins`. */
export interface ServerSource {
  readonly url: string | URL
}

/** A file, a download, its text, or the frames themselves. */
export interface RecordingSource {
  readonly recording: Blob | ReadableStream<Uint8Array> | string | Iterable<Frame>
}

export type InspectorSource = ShownSource | RecorderSource | ServerSource | RecordingSource

export interface MountOptions {
  /**
   * `'auto'` follows the system.
   * @default 'auto'
   */
  readonly theme?: 'auto' | 'light' | 'dark' | undefined
  /**
   * Where the page serves `signalbox/inspect/elk-worker`, for pages whose rules forbid workers from blobs.
   * @default none: the worker comes with the inspector
   */
  readonly workerUrl?: string | URL | undefined
}

export interface MountedInspector {
  /** Takes it away again, with everything that it listened to. A second time does nothing. */
  unmount(): void
}

/** Puts the inspector into an element of the page. It fills the element, and touches nothing outside it. */
export declare function mountInspector(
  element: Element,
  source: InspectorSource,
  options?: MountOptions,
): MountedInspector
