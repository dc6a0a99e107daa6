import { type Heat, heatSteps } from '../model/heat.ts'

/** The colours, the totals, and the transitions that were never taken. */
export function HeatLegend({ heat, of }: { heat: Heat; of: 'run' | 'file' }) {
  const { counts, taken, most, never } = heat
  return (
    <div class="heat-legend">
      <b>
        {taken} of {counts.length} transitions
      </b>
      <span class="what">{of === 'run' ? 'taken in this run so far' : 'taken by the test suite'}</span>
      <span class="scale" role="img" aria-label={`From never to ${most} times`}>
        <i class="heat-0" /> never
        {most > 0 && (
          <>
            {Array.from({ length: heatSteps }, (_, level) => (
              <i key={level} class={`heat-${level + 1}`} />
            ))}
            {most} ×
          </>
        )}
      </span>
      {never.length > 0 && (
        <details>
          <summary>{never.length} never taken</summary>
          <ul>
            {never.map((name) => (
              <li key={name}>{name}</li>
            ))}
          </ul>
        </details>
      )}
    </div>
  )
}
