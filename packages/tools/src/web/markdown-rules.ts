/** The parts of turndown's untyped document that are used. */
interface Node {
  readonly nodeName: string
  readonly className?: string
  readonly textContent: string | null
  readonly ownerDocument?: { querySelector?(selector: string): Node | null } | null
  querySelector?(selector: string): Node | null
  getAttribute(name: string): string | null
}

interface Turndown {
  addRule(
    name: string,
    rule: {
      filter: string | string[] | ((node: Node) => boolean)
      replacement(content: string, node: Node): string
    },
  ): unknown
}

/**
 * Handles what turndown omits: tables, `pre` without `code`, and relative addresses.
 * The source is sent to a worker thread, so it must not refer to anything outside itself.
 */
export function addMarkdownRules(service: Turndown, base: string): void {
  const absolute = (address: string | null, from: string): string => {
    if (address === null || address === '') return ''
    try {
      return new URL(address, from).href
    } catch {
      return address
    }
  }
  /** A page may set the base of its addresses. */
  const baseOf = (node: Node): string => {
    const said = node.ownerDocument?.querySelector?.('base[href]')?.getAttribute('href')
    return said ? absolute(said, base) : base
  }
  const bracketed = (address: string): string =>
    /[\s()]/.test(address) ? `<${address.replace(/[<>\s]/g, encodeURI)}>` : address
  service.addRule('link', {
    filter: (node) => node.nodeName === 'A' && node.getAttribute('href') !== null,
    replacement(content, node) {
      const href = absolute(node.getAttribute('href'), baseOf(node))
      const text = content.trim()
      if (text === '' || /^javascript:/i.test(href)) return content
      return `[${text}](${bracketed(href)})`
    },
  })
  service.addRule('image', {
    filter: 'img',
    replacement(_, node) {
      const source = node.getAttribute('src')
      const alt = (node.getAttribute('alt') ?? '').replace(/\s+/g, ' ')
      if (!source || /^data:/i.test(source)) return alt
      return `![${alt}](${bracketed(absolute(source, baseOf(node)))})`
    },
  })
  service.addRule('pre', {
    filter: 'pre',
    replacement(_, node) {
      const code = (node.textContent ?? '').replace(/^\n|\n$/g, '')
      const inner = node.querySelector?.('code')
      const language = /(?:^|\s)lang(?:uage)?-([\w+#.-]+)/.exec(
        `${node.className ?? ''} ${inner?.className ?? ''}`,
      )?.[1]
      const longest = Math.max(2, ...(code.match(/`{3,}/g) ?? []).map((ticks) => ticks.length))
      const fence = '`'.repeat(longest + 1)
      return `\n\n${fence}${language ?? ''}\n${code}\n${fence}\n\n`
    },
  })
  const cellText = (content: string): string =>
    content
      .trim()
      .replace(/\\?\|/g, '\\|')
      .replace(/\s*\n\s*/g, ' ')
  service.addRule('cell', { filter: ['th', 'td'], replacement: (content) => ` ${cellText(content)} |` })
  service.addRule('row', { filter: 'tr', replacement: (content) => (content.trim() === '' ? '' : `|${content}\n`) })
  service.addRule('section', { filter: ['thead', 'tbody', 'tfoot'], replacement: (content) => content })
  service.addRule('caption', { filter: 'caption', replacement: (content) => `${content.trim()}\n` })
  service.addRule('table', {
    filter: 'table',
    replacement(content) {
      const lines = content.split('\n').filter((line) => line.trim() !== '')
      const rows = lines.filter((line) => line.startsWith('|'))
      const notes = lines.filter((line) => !line.startsWith('|'))
      const widths = rows.map((row) => row.replace(/\\\|/g, '').split('|').length - 2)
      const width = Math.max(0, ...widths)
      // a table with one column is layout
      if (width < 2) return `\n\n${rows.map((row) => row.replace(/^\||\|$/g, '').trim()).join('\n\n')}\n\n`
      const whole = rows.map((row, index) => row + ' |'.repeat(width - (widths[index] as number)))
      const [head = '', ...body] = whole
      return `\n\n${[...notes, ...(notes.length > 0 ? [''] : []), head, `|${' --- |'.repeat(width)}`, ...body].join('\n')}\n\n`
    },
  })
}
