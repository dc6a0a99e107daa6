import type { mountInspector as Contract } from '../../../src/inspect/app/index.ts'
import { mountInspector as mount } from './mount-inspector.tsx'

/** Checks that the implementation matches the published types. */
export const mountInspector: typeof Contract = mount
