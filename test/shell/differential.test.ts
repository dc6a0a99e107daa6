import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isReadOnlyCommand } from '../../src/shell/read-only-command.ts'
import { allowsCommand } from '../../src/shell/shell-rule.ts'
import { dangerousCommands, harmlessCommands } from './command-lists.ts'
import { realBash } from './real-bash.ts'

/** A wildcard for every program that has a harmless use: the widest that somebody may hand in by mistake. */
const rules =
  `ls cat echo grep find sort uniq sed git rg head tail wc test [ printf date tree file xxd awk gawk mawk xargs env tar
  python3 python3.11 node perl bash sh dash eval command builtin exec time timeout nice nohup setsid less vim curl make source .
  declare let read unset export trap mapfile jobs compgen script flock stdbuf shuf openssl iconv m4 sqlite3 ed`
    .split(/\s+/)
    .map((program) => `${program} *`)

function isAllowed(command: string): boolean {
  const near = rules.filter((rule) => command.includes(rule.slice(0, -2)))
  return near.some((rule) => allowsCommand(rule, command, near))
}

const pieces = fc.constantFrom(
  ...'ls|cat a.txt|echo x|grep alpha a.txt|sort a.txt|find . -name a.txt|touch marker|tee marker|git log|sed -n 1p a.txt'.split(
    '|',
  ),
  ...`echo 'touch marker'|sh|bash -c "touch marker"|xargs touch marker|true|false|uniq a.txt|rg alpha|head -1|test -f a.txt`.split(
    '|',
  ),
)
const joints = fc.constantFrom(
  ' && ',
  ' || ',
  '; ',
  ' | ',
  ' |& ',
  ' & ',
  '\n',
  ';',
  '|',
  ' ',
  ' # ',
  '\\\n',
  ' \t',
  '&&',
  ' &&\n',
)
const twists = fc.constantFrom<(text: string) => string>(
  (text) => text,
  (text) => `${text} > marker`,
  (text) => `${text} >/dev/null`,
  (text) => `${text} 2>&1`,
  (text) => `${text} >> mark"er"`,
  (text) => `$(${text})`,
  (text) => `echo "$(${text})"`,
  (text) => `echo \`${text}\``,
  (text) => `echo '${text}'`,
  (text) => `echo "${text}"`,
  (text) => `( ${text} )`,
  (text) => `{ ${text}; }`,
  (text) => `! ${text}`,
  (text) => `X=1 ${text}`,
  (text) => `\\${text}`,
  (text) => `cat <(${text})`,
  (text) => `eval '${text}'`,
  (text) => `cat <<E\n$(${text})\nE`,
  (text) => `echo \${x:-$(${text})}`,
  (text) => `find . -maxdepth 0 -exec ${text} \\;`,
  (text) => `env ${text}`,
  (text) => `sort -o marker; ${text}`,
  (text) => text.replace('t', "'t'"),
  (text) => text.replace('o', '\\o'),
  (text) => text.replace(' ', '  '),
  (text) => `${text} *`,
  (text) => `${text} -o marker`,
  (text) => `${text} --output=marker`,
  (text) => `if true; then ${text}; fi`,
  (text) => `for x in 1; do ${text}; done`,
  (text) => `${text}'`,
  (text) => `"${text}`,
)
const twisted = fc
  .tuple(pieces, fc.array(twists, { maxLength: 2 }))
  .map(([piece, more]) => more.reduce((text, twist) => twist(text), piece))
const generated = fc
  .tuple(twisted, fc.array(fc.tuple(joints, twisted), { maxLength: 2 }))
  .map(([first, rest]) => first + rest.flat().join(''))

/** A harmless command with something else put in, anywhere: in a word, in quotes, at the end of one. */
const injected = fc
  .tuple(
    fc.constantFrom(...harmlessCommands),
    fc.nat({ max: 60 }),
    fc.constantFrom(
      ...[
        '$(touch marker)',
        '`touch marker`',
        ';touch marker;',
        '>marker',
        '>marker ',
        '&touch marker&',
        '|tee marker',
      ],
      ...[
        "'",
        '"',
        '\\',
        '\n',
        '\ntouch marker\n',
        '#',
        "'$(touch marker)'",
        '\'"$(touch marker)"\'',
        '\\\ntouch marker',
      ],
      ...[
        '<(touch marker)',
        '$' + '{x:-$(touch marker)}',
        '&&touch marker',
        "';touch marker;'",
        '";touch marker;"',
        ' -o marker ',
      ],
    ),
    fc.constantFrom('', "'", '"', ';touch marker', '\ntouch marker'),
  )
  .map(([command, at, what, end]) => command.slice(0, at) + what + command.slice(at) + end)

const count = process.env.SIGNALBOX_FULL ? 5_000 : 1_000

describe('the shell matcher beside the real bash', () => {
  const bash = realBash()

  it('is asked about at least 150 commands written by hand', () => {
    expect(new Set([...dangerousCommands, ...harmlessCommands]).size).toBeGreaterThanOrEqual(150)
  })

  it('allows no command that wrote a file, written by hand', () => {
    const wrote = dangerousCommands.filter(bash.writesMarker)
    // most of them must do what they say, or this proves nothing
    expect(wrote.length).toBeGreaterThan(dangerousCommands.length * 0.75)
    expect(wrote.filter(isAllowed)).toEqual([])
    expect(wrote.filter(isReadOnlyCommand)).toEqual([])
  })

  it('does not take those for harmless either whose programs are not here', () => {
    expect(dangerousCommands.filter(isAllowed)).toEqual([])
    expect(dangerousCommands.filter(isReadOnlyCommand)).toEqual([])
  })

  it('allows what is harmless', () => {
    expect(harmlessCommands.filter((command) => !isAllowed(command))).toEqual([])
    expect(harmlessCommands.filter((command) => !isReadOnlyCommand(command))).toEqual([])
    expect(harmlessCommands.filter(bash.writesMarker)).toEqual([])
  })

  it(`allows no command that wrote a file, ${count} generated`, () => {
    let wrote = 0
    let allowed = 0
    fc.assert(
      fc.property(fc.oneof(generated, injected), (command) => {
        const wasAllowed = isAllowed(command)
        const didWrite = bash.writesMarker(command)
        if (didWrite) wrote++
        if (wasAllowed) allowed++
        expect({ command, wasWrong: didWrite && (wasAllowed || isReadOnlyCommand(command)) }).toEqual({
          command,
          wasWrong: false,
        })
      }),
      { numRuns: count },
    )
    // both sides of the question came up
    expect(wrote).toBeGreaterThan(count / 10)
    expect(allowed).toBeGreaterThan(count / 50)
  })
})
