import { useNarration } from './use-narration.ts'

const most = 60

/** What just happened, and by which rule: the newest on top. */
export function Narration() {
  const told = useNarration()
  return (
    <section class="narration">
      <h2 id="narration">What happened, and why</h2>
      <ol aria-labelledby="narration" aria-live="polite">
        {told.length === 0 && <li class="none">Nothing yet.</li>}
        {told
          .slice(-most)
          .map(({ at, text, rule }, index) => (
            <li key={`${at} ${text} ${index + Math.max(0, told.length - most)}`}>
              <time>{(at / 1_000).toFixed(1)}</time>
              <span>{text}</span>
              <abbr title={`Rule ${rule} of the contract`}>{rule}</abbr>
            </li>
          ))
          .reverse()}
      </ol>
    </section>
  )
}
