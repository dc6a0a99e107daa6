export type { AnyInspector } from './any-inspector.ts'
export { type StatelyOptions, type StatelyShowing, showInStately } from './show-in-stately.ts'
