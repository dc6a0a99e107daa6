/** Characters that are invisible, move the cursor, or combine with the previous character. */
const hidden = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{sc=Zinh}\u2800\ufffc\ufffd]|(?! )\p{Zs}/u
/** Letters that change the direction of their neighbours. */
const rightToLeft =
  /[\p{sc=Hebr}\p{sc=Arab}\p{sc=Syrc}\p{sc=Thaa}\p{sc=Nkoo}\p{sc=Samr}\p{sc=Mand}\p{sc=Adlm}\p{sc=Rohg}\p{sc=Mend}\p{sc=Phnx}]/u
/** Scripts whose letters are shown unchanged; other scripts have letters that look Latin. */
const shownScripts =
  /^[\p{sc=Latn}\p{sc=Grek}\p{sc=Cyrl}\p{sc=Hani}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Deva}\p{sc=Beng}\p{sc=Taml}\p{sc=Telu}\p{sc=Thai}\p{sc=Geor}\p{sc=Ethi}\p{sc=Zyyy}]$/u
/** Common compatibility characters that cannot be confused with others. */
const everyday = new Set('…™²³¹½¼¾ªº')
/** Characters of this notation, and characters that look like shell syntax. */
const lookalikes = new Set(
  '⟨⟩␣⇥↵‐‒–−⁃─━╌╴∕⁄⟋⧸╱∖⧵⧹⟍╲∣ǀ⏐❘❙⎮⎸│┃┆┊ǃǂ‚‛‹›˂˃❮❯∶ː꞉˸∗⁎⁕✱∼˜˷⁓〜˗ˈˊˋʹʻʼʽʾʿ′‵ꞌꞋʺ″⁏⸵ˆ˄⌃♯⋕𝄀ʔɁ⟦⟧❨❩❲❳❴❵⦃⦄￩',
)
/** Cyrillic and Greek letters that look Latin. */
const latinShapes = /^[асеорхуіјѕԁԛԝһӏАВЕКМНОРСТХУІЈЅԚԜӀονυρκαιΑΒΕΖΗΙΚΜΝΟΡΤΥΧ]+$/u

const names: Readonly<Record<string, string>> = {
  '\t': '⇥',
  '\n': '↵',
  '\0': '⟨NUL⟩',
  '\r': '⟨CR⟩',
  '\u001b': '⟨ESC⟩',
  '\u007f': '⟨DEL⟩',
}

export const asCode = (sign: string): string =>
  names[sign] ?? `⟨U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`

function isPlain(sign: string): boolean {
  if (hidden.test(sign) || rightToLeft.test(sign) || lookalikes.has(sign) || !shownScripts.test(sign)) return false
  return sign.normalize('NFKC') === sign || everyday.has(sign)
}

const maxIndent = 24
const maxBlanks = 8
const plainAscii = /^ {0,24}[!-~]+(?: [!-~]+)*$/

/**
 * A text on one line, safe to show to a person. Control, invisible, direction-changing and look-alike characters are
 * shown as codes, and runs of spaces are made visible. The text can be reconstructed from the display, so two different
 * texts never look the same.
 */
export function visibleLine(line: string): string {
  if (line === '' || plainAscii.test(line)) return line
  let shown = ''
  for (const { 0: part, index } of line.matchAll(/ +|\p{L}+|./gsu)) {
    if (part[0] === ' ') shown += blanks(part.length, index === 0, index + part.length === line.length)
    else if (isDisguised(part)) shown += codes(part)
    else for (const sign of part) shown += sign >= '!' && sign <= '~' ? sign : isPlain(sign) ? sign : asCode(sign)
  }
  return shown
}

function blanks(count: number, isFirst: boolean, isLast: boolean): string {
  if (!isLast && (count === 1 || (isFirst && count <= maxIndent))) return ' '.repeat(count)
  return count <= maxBlanks ? '␣'.repeat(count) : `⟨${count} spaces⟩`
}

/** Letters of several scripts in one word, or a word that looks Latin. */
function isDisguised(word: string): boolean {
  if (!/[\p{sc=Grek}\p{sc=Cyrl}]/u.test(word)) return false
  return latinShapes.test(word) || /\p{sc=Latn}/u.test(word)
}

const codes = (word: string): string => word.replace(/[^!-~]/gu, asCode)
