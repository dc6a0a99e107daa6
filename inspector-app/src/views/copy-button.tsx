import { useEffect, useState } from 'preact/hooks'

/** Copies a text to the clipboard, and says whether it could. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [state, setState] = useState<'copy' | 'copied' | 'not allowed'>('copy')
  useEffect(() => {
    if (state === 'copy') return
    const timer = setTimeout(() => setState('copy'), 1_500)
    return () => clearTimeout(timer)
  }, [state])
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text)
      setState('copied')
    } catch {
      setState('not allowed')
    }
  }
  return (
    <button type="button" class="link" aria-label={`${label}: ${state}`} onClick={() => void copy()}>
      {state}
    </button>
  )
}
