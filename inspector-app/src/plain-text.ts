/** Characters that reorder, hide or erase the text around them. Joiners stay: emoji and some scripts need them. */
const tricks =
  /(?![\t\n\r])\p{Cc}|[\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu

const asCode = (sign: string): string => `⟨U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`

/** Text from a model, a tool or a file, such that it cannot pretend to be another text. */
export const plainText = (text: string): string => text.replace(tricks, asCode)
