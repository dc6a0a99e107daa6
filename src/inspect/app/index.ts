import type { Command, EncodeLimits, Frame, Recorder, RecorderOptions, Redact, Showable } from '../index.ts'

/** Executors and queries of the same page. The inspector watches them until it is unmounted. */
export interface ShownSource {
  readonly shown: Showable | Iterable<Showable>
  /**
   * The commands that the inspector may send.
   * @default nothing
   */
  readonly commands?: boolean | readonly Command[] | undefined
  /** Replaces values before they are shown: inputs, results and all other data that is not part of the charts. */
  readonly redact?: Redact | undefined
  /** How much of a value is shown. */
  readonly limits?: EncodeLimits | undefined
  /** Prices by model, to show what replies cost. */
  readonly prices?: RecorderOptions['prices']
}

/** An existing recorder of the page, read-only. */
export interface RecorderSource {
  readonly recorder: Recorder
}

/** The `url` of `serveInspector`, with its token. List this page in the `origins` option of that server. */
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
   * The address at which the page serves `signalbox/inspect/elk-worker`. Needed if the page's CSP forbids blob workers.
   * @default the worker inside the inspector
   */
  readonly workerUrl?: string | URL | undefined
}

export interface MountedInspector {
  /** Removes the inspector and all its listeners. A second call is a no-op. */
  unmount(): void
}

/** Renders the inspector into an element of the page. The inspector fills the element and changes nothing outside it. */
export declare function mountInspector(
  element: Element,
  source: InspectorSource,
  options?: MountOptions,
): MountedInspector
