import { asCode, visibleLine } from '../../src/permission/visible-text.ts'

/** Characters that reorder, hide or erase the text around them. Joiners stay: emoji and some scripts need them. */
const tricks =
  /(?![\t\n\r])\p{Cc}|[\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu

/** A text of a model, a tool or a file, for reading. `visibleLine` also codes foreign letters and spaces, for approvals. */
export const plainText = (text: string): string => text.replace(tricks, asCode)

const codes = /(⟨(?:U\+[0-9A-F]{4,6}|NUL|ESC|DEL)⟩)/

/** A text of `plainText` for approvals: its codes stay as they are. */
export const visibleText = (plain: string): string =>
  plain
    .split(codes)
    .map((part, index) => (index % 2 === 1 ? part : visibleLine(part)))
    .join('')
