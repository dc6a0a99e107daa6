import { useState } from 'preact/hooks'
import type { Call, Run } from '../model/model.ts'
import { CopyButton } from './copy-button.tsx'

const shortLength = 20_000

/** The recorded data of the call, as JSON. */
export function RawJson({ run, call }: { run: Run; call: Call }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details class="raw" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Raw JSON</summary>
      {isOpen && <Json text={jsonOf(run, call)} />}
    </details>
  )
}

function Json({ text }: { text: string }) {
  return (
    <>
      <CopyButton text={text} label="Copy the JSON" />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the keyboard */}
      <pre class="got" tabIndex={0}>
        {text.length > shortLength ? `${text.slice(0, shortLength)}…` : text}
      </pre>
    </>
  )
}

function jsonOf(run: Run, call: Call): string {
  const { id, index, name, label, lane, stage, input, decision, asked, failures, ending, results } = call
  const actor = run.actors.get(call.actor)
  const shown = { id, index, name, label, lane, stage, input, asked, decision, failures, ending, results }
  return JSON.stringify({ ...shown, context: actor?.context }, undefined, 2)
}
