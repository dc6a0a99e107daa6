export type { AnyInspector } from './show-actors.ts'
export { type StatelyOptions, type StatelyShowing, showInStately } from './show-in-stately.ts'
