export type { Commandable, Conversation, Showable } from '../inspect/index.ts'
export type { InspectorOptions } from './inspector-options.ts'
export { type InspectorServer, serveInspector } from './serve-inspector.ts'
