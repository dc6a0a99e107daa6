import type { PermissionBehavior } from 'signalbox/machines'
import { readShellRule } from './allow-rule.ts'
import { nameOf } from './programs-run.ts'
import { shells, wrappers } from './running-programs.ts'

/** Programs that can run other programs, by an argument, an option or a file that a model may write. */
const runsAnything = new Set(
  `eval source . exec command builtin awk gawk mawk nawk sed perl ruby php lua luajit tclsh expect osascript deno tsx
  ts-node make gmake cmake ninja just rake gradle mvn ant npm pnpm yarn bun npx bunx pnpx pip pip3 pipx uv uvx poetry
  cargo go gcc g++ cc clang rustc docker podman kubectl find fd fdfind xargs parallel tar zip rsync scp sftp vim vi nvim
  emacs nano ed ex less more man split sort rg git gdb lldb crontab at systemctl launchctl ssh sqlite3 psql mysql curl
  wget tee cp mv ln install dd trap alias mapfile readarray complete compgen enable set shopt`.split(/\s+/),
)
const interpreters =
  /^(?:python|pypy|ipython|node|nodejs|perl|ruby|php|lua|tclsh|wish|guile|bash|zsh|ksh|gawk|mawk)[\d.-]*$/

/** Subcommands of these that run no program of the repository when named alone. */
const narrow =
  /^(?:git (?:add|status|log|diff|show|branch|stash|fetch|pull|push|checkout|switch|commit|merge|rebase|tag|restore|reset|rev-parse|ls-files|blame|remote|config|mv|rm)|cargo (?:fmt|tree|metadata)|go (?:fmt|vet|list|version|mod)|docker (?:ps|images|logs|inspect)|kubectl (?:get|describe|logs)|npm (?:ls|view|outdated|audit|ping|whoami)|sort|rg|find|sed|tee|cp|mv|ln|tar|zip|curl|wget|less|more)\b/

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
  const open = rule.forms.flat().find(({ isOpen, words }) => isOpen || words.some(hasStar))
  if (open === undefined) return undefined
  const [program, second] = open.words
  const [name, next] = [program === undefined ? '' : nameOf(program.text), second?.text ?? '']
  const grants = program === undefined || hasStar(program) || (isRunner(name) && !narrow.test(`${name} ${next}`))
  return grants ? { severity: 'warning', message: `Bash(${spec}) lets the model run any program` } : undefined
}

const hasStar = ({ text, marks }: { text: string; marks: readonly string[] }): boolean =>
  [...text].some((sign, index) => sign === '*' && marks[index] === 'bare')

const isRunner = (name: string): boolean =>
  runsAnything.has(name) || interpreters.test(name) || shells.has(name) || Object.hasOwn(wrappers, name)
