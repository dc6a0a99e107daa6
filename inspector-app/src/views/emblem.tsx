/** The logo, inline so that nothing has to be loaded. */
export function Emblem({ size }: { size: number }) {
  return (
    <svg class="emblem" width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#16202c" />
      <path d="M6 21.500h20" stroke="#5d6b7d" stroke-width="2.500" stroke-linecap="round" />
      <path
        d="M6 21.500c7 0 7-9.500 13-9.500h7"
        stroke="#34c3a8"
        stroke-width="2.500"
        stroke-linecap="round"
        fill="none"
      />
      <circle cx="11" cy="9" r="3" fill="#f2b441" />
    </svg>
  )
}
