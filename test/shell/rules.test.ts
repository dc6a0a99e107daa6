import { describe, expect, it } from 'vitest'
import { isBenignExit } from '../../src/shell/benign-exit.ts'
import { isReadOnlyCommand } from '../../src/shell/read-only-command.ts'
import { withoutRedundantCd } from '../../src/shell/redundant-cd.ts'
import { allowsCommand, concernsCommand } from '../../src/shell/shell-rule.ts'

describe('allow rules for the shell', () => {
  it.each([
    ['npm test', 'npm test', true],
    ['npm test', 'npm  test', true],
    ['npm test', "npm 'test'", true],
    ['npm test', 'npm test --watch', false],
    ['npm test', 'npm', false],
    ['npm test', 'npm test && rm -rf x', false],
    ['npm test *', 'npm test', true],
    ['npm test *', 'npm test -- a b', true],
    ['npm test:*', 'npm test -- a b', true],
    ['npm run *', 'npm run build', true],
    ['npm run *', 'npm install', false],
    ['npm run test:*', 'npm run test', true],
    ['npm run *:unit', 'npm run a:unit', true],
    ['npm run *:unit', 'npm run a:other', false],
    ['npm *', 'npmx install', false],
    ['npm *', './npm install', false],
    ['*', 'ls', true],
    ['*', './anything', false],
    ['*', 'env ls', false],
    ['python3 *', 'python3 x.py', false],
    ['python3 x.py', 'python3 x.py', true],
    ['python3 x.py', 'python3 x.p?', false],
    ['tar *', 'tar tf a.tar', false],
    ['tar tf a.tar', 'tar tf a.tar', true],
    ['git *', 'git log --oneline', true],
    ['git *', 'git push', false],
    ['git push', 'git push', true],
    ['find *', 'find . -name x', true],
    ['find *', 'find . -delete', false],
    ['sed *', 'sed -n 1,5p a.txt', true],
    ['sed *', 'sed -i s/a/b/ a.txt', false],
    ['ls *', 'ls *', true],
    ['sort *', 'sort ./*', true],
    ['sort *', 'sort *', false],
    ['echo *', 'echo "$HOME"', false],
    ['echo *', 'echo ~', false],
    ['echo *', 'echo a=b', true],
    ['echo *', 'echo {a,b}', false],
    ['echo *', 'echo x &', false],
    ['echo *', 'echo x # comment', false],
    ['echo *', 'echo\u00a0x', false],
    ['echo *', 'echo \u202eevil', false],
    ['echo *', 'echo x\ry', false],
    ['echo *', 'echo "open', false],
    ['echo *', 'echo )', false],
    ['echo *', `echo ${'x'.repeat(8_200)}`, false],
  ])('%s: %s is %s', (spec, command, expected) => expect(allowsCommand(spec, command)).toBe(expected))

  it('several rules may cover a chain together, each its part', () => {
    expect(allowsCommand('npm test', 'npm test | tail -5 && git log', ['npm test', 'tail *', 'git log *'])).toBe(true)
    expect(allowsCommand('npm test', 'npm test | tail -5', ['npm test'])).toBe(false)
    expect(allowsCommand('npm test', 'tail -5 a', ['npm test', 'tail *'])).toBe(false)
  })
})

describe('deny rules for the shell look at every part', () => {
  it.each([
    'rm x',
    '/bin/rm x',
    'RM x',
    '\\rm x',
    "'r'm x",
    "$'\\x72m' x",
    'ls; rm x',
    'ls | rm x',
    'echo $(rm x)',
    'echo "`rm x`"',
    'cat <(rm x)',
    'cat <<E\n$(rm x)\nE',
    'if true; then rm x; fi',
    'f() { rm x; }',
    '(rm x)',
    'rm x &',
    'X=1 rm x',
    'X=$(rm x)',
    `echo \${a:-$(rm x)}`,
    'sudo rm x',
    'env A=1 rm x',
    'xargs -0 rm x',
    'timeout 5 rm x',
    'find . -exec rm {} +',
    "bash -c 'rm x'",
    "bash -c 'ls; sudo rm x'",
    "eval 'r'm x",
    '$cmd x',
    '"$(which ls)" x',
    'bash -c "$cmd"',
    '/bin/r? x',
    'echo "open',
    'echo )',
    'echo \u0007',
    `echo ${'x'.repeat(8_200)}`,
    'git grep -O rm',
    'cat 2<(rm -rf x)',
    'cat a.txt 1>(rm x)',
    'cat 2>1<(rm x)',
    'for a in 2<(rm x); do ls; done',
    '>1<(rm x) cat',
    'ls | (cat) 2>1<(rm x)',
  ])('Bash(rm *) speaks of: %s', (command) => expect(concernsCommand('rm *', command)).toBe(true))

  it.each([
    'ls',
    'echo rm',
    'npm run rm',
    'grep rm a.txt',
    'rmdir x',
    'ls "$HOME"',
    'echo $(ls)',
    'echo \\( a \\)',
    'echo a\\;b "c;d" e\\ f',
    'ls 2>/dev/null',
  ])('Bash(rm *) does not speak of: %s', (command) => expect(concernsCommand('rm *', command)).toBe(false))

  it('options between the words of a rule are no way around it', () => {
    expect(concernsCommand('git push', 'git -C x push origin')).toBe(true)
    expect(concernsCommand('git push *', 'git --no-pager push')).toBe(true)
    expect(concernsCommand('git push', 'git pull')).toBe(false)
    expect(concernsCommand('*', 'ls')).toBe(true)
  })
})

it('a command only reads when all its programs do', () => {
  expect(['ls', 'cat a | wc -l', 'grep x a && ls'].every(isReadOnlyCommand)).toBe(true)
  for (const command of ['npm test', 'cd x && ls', 'ls > x', 'ls; rm x', './ls', '', 'ls $x', 'git commit']) {
    expect([command, isReadOnlyCommand(command)]).toEqual([command, false])
  }
})

it.each([
  ['grep x a', 1, true],
  ['grep x a', 2, false],
  ['diff a b', 1, true],
  ['cat a | grep x', 1, true],
  ['grep x a | cat', 1, false],
  ['npm test && grep x a', 1, false],
  ['echo hi && grep x a', 1, true],
  ['npm test; grep x a', 1, true],
  ['[ -f x ]', 1, true],
  ['[[ -f x ]]', 1, true],
  ['git diff --exit-code', 1, true],
  ['git commit', 1, false],
  ['/usr/bin/grep "$x" a > b', 1, true],
  ['false', 1, false],
  ['grep "', 1, false],
])('exit codes: %s with %i is benign: %s', (command, code, expected) =>
  expect(isBenignExit(command, code)).toBe(expected))

it.each([
  ['cd /w && ls', 'ls'],
  ['cd . && ls; pwd', 'ls; pwd'],
  ["cd '/w' && ! ls | cat", '! ls | cat'],
  ['cd /alias && ls', 'ls'],
  ['cd /w/sub && ls', 'cd /w/sub && ls'],
  ['cd ../w && ls', 'cd ../w && ls'],
  ['cd /w || ls', 'cd /w || ls'],
  ['cd /w; ls', 'cd /w; ls'],
  ['cd - && ls', 'cd - && ls'],
  ['cd "$X" && ls', 'cd "$X" && ls'],
  ['cd /w > x && ls', 'cd /w > x && ls'],
  ['cd && ls', 'cd && ls'],
  ['cd /w && "', 'cd /w && "'],
])('a redundant cd: %s becomes %s', (command, expected) => {
  const realpath = (path: string): string => (path === '/alias' ? '/w' : path)
  expect(withoutRedundantCd(command, '/w', realpath)).toBe(expected)
})
