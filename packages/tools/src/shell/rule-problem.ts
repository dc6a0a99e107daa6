import type { PermissionBehavior } from 'signalbox/machines'
import { type CommandPattern, readShellRule } from './allow-rule.ts'
import { nameOf } from './programs-run.ts'
import { shells, wrappers } from './running-programs.ts'

/** Programs that can run other programs, by an argument, an option or a file that a model may write. */
const runsAnything = new Set(
  `eval source . exec command builtin awk gawk mawk nawk sed perl ruby php lua luajit tclsh expect osascript deno tsx
  ts-node make gmake cmake ninja just rake gradle gradlew mvn mvnw ant npm pnpm yarn bun npx bunx pnpx pip pip3 pipx uv
  uvx poetry cargo go gcc g++ cc clang rustc docker podman kubectl find fd fdfind xargs parallel tar zip rsync scp sftp
  vim vi nvim emacs nano ed ex less more man split sort rg git gdb lldb crontab at systemctl launchctl ssh sqlite3 psql
  mysql wget trap alias mapfile readarray complete compgen enable set shopt pytest jest vitest mocha tox nox rspec
  bundle rails composer phpunit dotnet swift mix sbt lein`.split(/\s+/),
)
const interpreters =
  /^(?:python|pypy|ipython|node|nodejs|perl|ruby|php|lua|tclsh|wish|guile|bash|zsh|ksh|gawk|mawk)[\d.-]*$/

/** Subcommands of these that run no program which an argument names. */
const narrow =
  /^(?:git (?:add|status|log|diff|show|branch|stash|checkout|switch|commit|merge|tag|restore|reset|rev-parse|ls-files|blame|remote|mv|rm)|cargo (?:fmt|tree|metadata)|go (?:fmt|vet|list|version|mod)|docker (?:ps|images|logs|inspect|compose (?:logs|ps|images|config|top))|kubectl (?:get|describe|logs)|npm (?:ls|view|outdated|audit|ping|whoami))\b/

/** Problems in the content of a Bash rule, reported when the rule is parsed. */
export function shellRuleProblem(
  spec: string,
  behavior: PermissionBehavior,
): { severity: 'error' | 'warning'; message: string } | undefined {
  const rule = readShellRule(spec)
  if (!rule.ok) return { severity: 'error', message: `it never matches, because ${rule.because}` }
  if (behavior !== 'allow') {
    if (rule.joints.length === 1) return undefined
    return {
      severity: 'error',
      message: `a rule for ${behavior} must name exactly one program; write one rule per program`,
    }
  }
  if (!rule.forms.flat().some(grantsAnyProgram)) return undefined
  return { severity: 'warning', message: `Bash(${spec}) lets the model run any program` }
}

function grantsAnyProgram({ words, isOpen }: CommandPattern): boolean {
  if (!isOpen && !words.some(hasStar)) return false
  const [program, ...rest] = words
  if (program === undefined || hasStar(program)) return true
  const name = nameOf(program.text)
  return isRunner(name) && !narrow.test([name, ...rest.map(({ text }) => text)].join(' '))
}

const hasStar = ({ text, marks }: { text: string; marks: readonly string[] }): boolean =>
  [...text].some((sign, index) => sign === '*' && marks[index] === 'bare')

const isRunner = (name: string): boolean =>
  runsAnything.has(name) || interpreters.test(name) || shells.has(name) || Object.hasOwn(wrappers, name)
