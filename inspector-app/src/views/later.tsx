import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'

interface Props {
  /** How many animation frames later. */
  readonly frames: number
  readonly children: ComponentChildren
}

/** Draws a part of the page some animation frames after the parts before it: all at once, the first drawing is a long task. */
export function Later({ frames, children }: Props) {
  const [missing, setMissing] = useState(frames)
  useEffect(() => {
    if (missing === 0) return
    const due = requestAnimationFrame(() => setMissing(missing - 1))
    return () => cancelAnimationFrame(due)
  }, [missing])
  return missing === 0 ? children : null
}
