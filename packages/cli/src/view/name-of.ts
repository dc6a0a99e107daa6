import type { CallView } from './call-view.ts'
import { cleanLine } from './clean-text.ts'

/** A call as other lines refer to it. */
export const nameOf = ({ number, name }: CallView): string => `#${number} ${cleanLine(name)}`
