const tailLength = 11

/** The name of a tool, and a path in brackets. */
const ofPath = /^[^(\s]*\(\S*\/\S*\)$/

/** A name that loses its end where room is short, or its middle if it ends in a path: the ends of paths differ. */
export function MiddleCut({ text }: { text: string }) {
  const at = ofPath.test(text) ? Math.max(tailLength, text.length - tailLength) : text.length
  return (
    <span class="middle-cut">
      <span class="head">{text.slice(0, at)}</span>
      <span class="tail">{text.slice(at)}</span>
    </span>
  )
}
