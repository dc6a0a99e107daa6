import type { createInspector } from '@statelyai/inspect'

/** Any inspector of the package: in a window, on its server, or with a custom adapter. */
export type AnyInspector = Pick<ReturnType<typeof createInspector>, 'actor' | 'event' | 'snapshot'>
