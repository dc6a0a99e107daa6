import type { PlainCommand } from './plain-script.ts'
import { isGlobAt, type PlainWord } from './plain-word.ts'
import { readScript } from './shell-rule.ts'

/** The content of a rule that covers exactly this command; undefined if no such rule exists. */
export function exactShellRule(command: string): string | undefined {
  const script = readScript(command)
  if (!script.ok) return undefined
  return script.commands
    .map((each, index) => {
      const joint = script.joints[index] as string
      const sign = joint.replace(/!+$/, '')
      const lead = sign === '' ? '' : sign === ';' ? '; ' : ` ${sign} `
      return `${lead}${'! '.repeat(joint.length - sign.length)}${written(each)}`
    })
    .join('')
}

function written({ assignments, words, inputs }: PlainCommand): string {
  const assigned = assignments.map(({ text, marks }) => {
    const at = text.indexOf('=') + 1
    return (
      text.slice(0, at) +
      (at === text.length ? '' : rewritten({ text: text.slice(at), marks: marks.slice(at), hasGlob: false }))
    )
  })
  return [...assigned, ...words.map(rewritten), ...inputs.map((word) => `< ${rewritten(word)}`)].join(' ')
}

/** Keeps shell wildcards as they are, `*` as `\*`; quotes everything else. */
function rewritten(word: PlainWord): string {
  let shown = ''
  let quoted = ''
  const close = (): void => {
    if (quoted !== '') shown += `'${quoted}'`
    quoted = ''
  }
  for (let index = 0; index < word.text.length; index++) {
    const sign = word.text[index] as string
    if (isGlobAt(word, index)) {
      close()
      shown += sign === '*' ? '\\*' : sign
    } else if (sign === "'") {
      close()
      shown += "\\'"
    } else if (/[\w./:=@%+,^-]/.test(sign) || (sign === ']' && word.hasGlob && word.marks[index] === 'bare')) {
      close()
      shown += sign
    } else quoted += sign
  }
  close()
  return shown === '' ? "''" : shown
}
