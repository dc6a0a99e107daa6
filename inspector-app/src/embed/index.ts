import type { mountInspector as Contract } from '../../../src/inspect-app/index.ts'
import { mountInspector as mount } from './mount-inspector.tsx'

/** What the package promises, and what stands behind it. */
export const mountInspector: typeof Contract = mount
