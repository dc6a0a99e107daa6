import picocolors from 'picocolors'

export type Colors = ReturnType<typeof picocolors.createColors>

/** `NO_COLOR` wins, then `FORCE_COLOR`; else depends on the terminal. */
export function hasColors(stream: { isTTY?: boolean }, env: Readonly<Record<string, string | undefined>>): boolean {
  if (env.NO_COLOR) return false
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false'
  return stream.isTTY === true && env.TERM !== 'dumb'
}

export const colorsFor = (...given: Parameters<typeof hasColors>): Colors =>
  picocolors.createColors(hasColors(...given))
