export type { InspectorOptions } from './inspector-options.ts'
export type { Commandable, Conversation, Showable } from './run-command.ts'
export { type InspectorServer, serveInspector } from './serve-inspector.ts'
