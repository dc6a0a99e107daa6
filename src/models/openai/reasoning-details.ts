import { asRecord, asText } from '../read-event.ts'

type Detail = Record<string, unknown>

/** The field of a detail that arrives in pieces, by type. Other details, such as encrypted ones, arrive complete. */
const textFields: Readonly<Record<string, string>> = { 'reasoning.text': 'text', 'reasoning.summary': 'summary' }

/** OpenRouter's `reasoning_details`: joins the pieces of a detail, because the service needs the details back unchanged. */
export function addDetails(before: readonly unknown[], pieces: readonly unknown[]): unknown[] {
  const details = [...before]
  for (const each of pieces) {
    const piece = asRecord(each)
    if (piece === undefined) continue
    const last = asRecord(details.at(-1))
    if (last !== undefined && isPieceOf(last, piece)) details[details.length - 1] = joined(last, piece)
    else details.push(piece)
  }
  return details
}

const isPieceOf = (last: Detail, piece: Detail): boolean =>
  last.type === piece.type && last.index === piece.index && Object.hasOwn(textFields, String(piece.type))

function joined(last: Detail, piece: Detail): Detail {
  const field = textFields[String(piece.type)] as string
  const known = Object.fromEntries(Object.entries(piece).filter(([, value]) => value !== null && value !== undefined))
  return { ...last, ...known, [field]: (asText(last[field]) ?? '') + (asText(piece[field]) ?? '') }
}
