const paths = {
  play: 'M5 3.5v9l7.5-4.5z',
  pause: 'M4.5 3.5h2.500v9H4.5zM9 3.500h2.500v9H9z',
  back: 'M10.500 3.5 6 8l4.500 4.500',
  forward: 'M5.500 3.5 10 8l-4.500 4.500',
  start: 'M4 3.500v9M11.500 3.5 7 8l4.500 4.500',
  end: 'M12 3.500v9M4.500 3.5 9 8l-4.500 4.500',
  open: 'M2 12.5V4h4l1.500 1.500H14v7z',
  save: 'M8 2.500v7M5 6.800 8 9.800l3-3M3 13h10',
  find: 'M7 2.500a4.500 4.500 0 1 0 0 9 4.500 4.500 0 0 0 0-9zM10.300 10.300 14 14',
  help: 'M5.700 6a2.300 2.300 0 1 1 3.500 2C8.400 8.500 8 9 8 9.900M8 12.300v.3',
  link: 'M6.500 9.500l3-3M7.500 4.500l1.300-1.300a2.600 2.600 0 0 1 3.700 3.700L11.200 8.200M8.500 11.500l-1.300 1.300a2.600 2.600 0 0 1-3.700-3.700L4.800 7.800',
  sun: 'M8 5.200a2.800 2.800 0 1 0 0 5.600 2.800 2.800 0 0 0 0-5.600zM8 1.500v1.300M8 13.200v1.300M1.500 8h1.300M13.200 8h1.300M3.400 3.400l.9.9M11.700 11.700l.9.9M12.600 3.400l-.9.9M4.300 11.700l-.9.9',
  moon: 'M13 9.500A5.500 5.500 0 0 1 6.500 3 5.500 5.500 0 1 0 13 9.500z',
  auto: 'M8 2.500a5.500 5.500 0 1 0 0 11zM8 2.500a5.500 5.500 0 0 1 0 11',
  wide: 'M9.500 3H13v3.500M6.500 13H3V9.500M13 3 9 7M3 13l4-4',
  list: 'M3 4h1M6.500 4H13M3 8h1M6.500 8H13M3 12h1M6.500 12H13',
  fit: 'M3 6V3h3M10 3h3v3M13 10v3h-3M6 13H3v-3',
  check: 'M3.500 8.500 6.500 11.500 12.500 4.500',
  cross: 'M4 4l8 8M12 4l-8 8',
} as const

export type IconName = keyof typeof paths

const filled: ReadonlySet<IconName> = new Set(['play', 'pause'])

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class={filled.has(name) ? 'icon filled' : 'icon'} viewBox="0 0 16 16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  )
}
