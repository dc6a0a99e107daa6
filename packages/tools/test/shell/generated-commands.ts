import fc from 'fast-check'

/** Programs that the rules of the tests match, and others. */
export const granted = ['npm', 'node', 'git', 'make', 'cat', 'cp', 'env', 'xargs', 'find', 'tee']
export const forbidden = ['touch', 'rm', 'curl', 'sh', 'bash', 'evil', 'sort', 'python3']

const rule = fc.constantFrom<readonly [spec: string, ...words: string[]]>(
  ['npm test', 'npm', 'test'],
  ['npm run:*', 'npm', 'run', '…'],
  ['npm run *', 'npm', 'run', '…'],
  ['node:*', 'node', '…'],
  ['git commit:*', 'git', 'commit', '…'],
  ['git add *', 'git', 'add', '…'],
  ['make', 'make'],
  ['cat src/*', 'cat', 'src/~'],
  ['cp * src', 'cp', '~', 'src'],
  ['tee:*', 'tee', '…'],
  ['find:*', 'find', '…'],
  ['A=1 npm test', 'npm', 'test'],
)
/** Rules as written, and the words that they allow, written by hand: `…` for any more words, `~` for one or a part. */
export const ruleSets = fc.uniqueArray(rule, { minLength: 1, maxLength: 5, selector: ([spec]) => spec })

const word = fc.constantFrom(
  ...'a.txt src src/c.txt -m -x --all . .. * a* [ab].txt src/../a.txt src/.* HEAD~1 stash@{0} {a,b} ~ ~/x A=1 %n'.split(
    ' ',
  ),
  ...[
    "'x y'",
    '"x y"',
    '"a;b"',
    "'$(touch marker)'",
    '"\\$(touch marker)"',
    '"$HOME"',
    '$HOME',
    '$(touch marker)',
    '`touch marker`',
  ],
  ...[
    '"`touch marker`"',
    '"$(touch marker)"',
    "$'a'",
    '$"a"',
    '\\*',
    'a\\ b',
    '"foo$"',
    '<(touch marker)',
    '>(touch marker)',
    '""',
    "''",
  ],
  ...[
    "'a\nb'",
    '"a\\\nb"',
    `\${A:-$(touch marker)}`,
    '$((1+1))',
    '"a',
    "'a",
    'é',
    '#x',
    'a#b',
    '!',
    '\\',
    '{PATH}',
    "'a[$(touch marker)]'",
  ],
)
const head = fc.constantFrom(
  ...'npm|npm test|npm run|npm run build|node|git|git commit|git commit -m|git add|make|cat|cat src/c.txt|cp a.txt src|tee|find|env|xargs'.split(
    '|',
  ),
  ...`touch marker|rm a.txt|sh|bash -c|evil|./run.sh|echo|printf '%s'|test -v|[ -v|true|cd src|export A=1|eval|exec|time|!|if|{|(`.split(
    '|',
  ),
  ...[
    "'npm' test",
    'n\\pm test',
    '"npm" "test"',
    '\\npm test',
    'npm\\\n test',
    '$X',
    'A=1 npm test',
    'PATH=. npm test',
    'NODE_ENV=x npm test',
  ],
)
const tail = fc.constantFrom(
  ...'||||||2>&1|>/dev/null|2>/dev/null|&>/dev/null|> marker|>> marker|>| marker|2> marker|<a.txt|< a.txt|< marker|<<< x|&> marker'.split(
    '|',
  ),
  ...[
    ">&'$(touch marker)'",
    '>&marker',
    '1>&2',
    '{PATH}>/dev/null',
    '{PATH}< a.txt',
    '<&0',
    '3< a.txt',
    ' # touch marker',
    '<<E\n$(touch marker)\nE\n',
    "<<'E'\nx\nE\n",
  ],
)
const joint = fc.constantFrom(
  ...' && ,&&, || ,; ,;, | ,|, |& , & ,&,\n,\n\n, &&\n, |\n, \\\n, , # , !,; !, && ! ,;;,) ,} '.split(','),
)
const simple = fc
  .tuple(head, fc.array(word, { maxLength: 3 }), tail)
  .map(([program, words, end]) => [program, ...words, end].filter((each) => each !== '').join(' '))
const chained = fc
  .tuple(simple, fc.array(fc.tuple(joint, simple), { maxLength: 2 }))
  .map(([first, rest]) => first + rest.flat().join(''))

/** A plain command with an insertion anywhere: in a word, in quotes, at the end. */
const injected = fc
  .tuple(
    fc.constantFrom(
      'npm test',
      "git commit -m 'a b'",
      'git commit -m "a b"',
      'npm run build && npm test',
      'cat src/c.txt',
      'cp a.txt src',
      'node -e "x"',
    ),
    fc.nat({ max: 30 }),
    fc.constantFrom(
      ...[
        '$(touch marker)',
        '`touch marker`',
        ';touch marker;',
        '>marker',
        '>marker ',
        '&touch marker&',
        '|tee marker',
        "'",
        '"',
        '\\',
      ],
      ...[
        '\n',
        '\ntouch marker\n',
        '#',
        '\n#',
        "'$(touch marker)'",
        '\'"$(touch marker)"\'',
        '\\\ntouch marker',
        '<(touch marker)',
      ],
      ...[
        `\${x:-$(touch marker)}`,
        '&&touch marker',
        "';touch marker;'",
        '";touch marker;"',
        '\\\n',
        '\t',
        '*',
        '/..',
        '<a.txt',
        '<b.txt sh ',
      ],
    ),
    fc.constantFrom('', '', "'", '"', ';touch marker', '\ntouch marker', ' # x'),
  )
  .map(([command, at, what, end]) => command.slice(0, at) + what + command.slice(at) + end)

export const commands = fc.oneof({ weight: 2, arbitrary: chained }, { weight: 1, arbitrary: injected })

const listed =
  'ls cat head tail wc nl cut tr sort uniq diff cmp du stat file sha256sum grep rg find sed printf test [ echo date cd which'.split(
    ' ',
  )
const gitCalls = 'status log show diff blame ls-files ls-tree rev-parse branch tag remote shortlog describe'.split(' ')
const listedWord = fc.oneof(
  fc.constantFrom(
    ...'a.txt b.txt sub sub/* * ?.txt . - -- marker ./marker -o -w -i -n -f -r -R -e -exec -delete -fprint -ok ; + {} ] = -v -eq'.split(
      ' ',
    ),
    ...'-omarker --output=marker --output marker --pre=./evil --pre ./evil -O./evil --open-files-in-pager=./evil -T.'.split(
      ' ',
    ),
    ...'--compress-program=./evil --files0-from=a.txt -S1 --filter=./evil --ext-diff --textconv --no-index -d -D -m'.split(
      ' ',
    ),
    ...[
      '1p',
      '-n',
      "'w marker'",
      "'1w marker'",
      "'1e touch marker'",
      "'s/a/b/w marker'",
      "'s/a/touch marker/e'",
      'alpha',
      "'*.txt'",
    ],
    ...[
      "'%n'",
      "'%s'",
      'HOME',
      "'a[$(touch marker)]'",
      '-name',
      '-maxdepth',
      '1',
      'HEAD',
      '+%s',
      '-s',
      '--set=x',
      '--list',
      '-c',
      '-C',
    ],
  ),
  fc.stringMatching(/^-[a-zA-Z0-9]{1,3}$/),
)
/** Programs that need no prompt, with options that belong to the list and many that do not. */
export const listedCalls = fc
  .tuple(
    fc.oneof(fc.constantFrom(...listed), fc.constantFrom(...gitCalls.map((name) => `git ${name}`))),
    fc.array(listedWord, { maxLength: 4 }),
  )
  .map(([program, words]) => [program, ...words].map((word) => (/^[;{}]/.test(word) ? `'${word}'` : word)).join(' '))
