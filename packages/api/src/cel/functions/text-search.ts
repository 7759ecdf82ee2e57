// Substring search in linear time. V8's takes quadratic time for some long texts, such as runs of one character.

/** Maximum length of a searched part for which V8's search is fast enough. */
const maxNativeChars = 64

export function indexOfText(text: string, part: string, from = 0): number {
  if (part.length <= maxNativeChars) return text.indexOf(part, from)
  return search(text.length, part.length, { textAt: (i) => text.charCodeAt(i), partAt: (i) => part.charCodeAt(i) }, Math.max(from, 0))
}

export function lastIndexOfText(text: string, part: string, from = Number.POSITIVE_INFINITY): number {
  if (part.length <= maxNativeChars) return text.lastIndexOf(part, from)
  const lastText = text.length - 1
  const lastPart = part.length - 1
  const chars = { textAt: (i: number) => text.charCodeAt(lastText - i), partAt: (i: number) => part.charCodeAt(lastPart - i) }
  const found = search(text.length, part.length, chars, Math.max(0, text.length - part.length - from))
  return found === -1 ? -1 : text.length - part.length - found
}

export function splitText(text: string, separator: string): string[] {
  if (separator.length <= maxNativeChars) return text.split(separator)
  const parts: string[] = []
  let start = 0
  for (let at = indexOfText(text, separator); at !== -1; at = indexOfText(text, separator, start)) {
    parts.push(text.slice(start, at))
    start = at + separator.length
  }
  parts.push(text.slice(start))
  return parts
}

interface Chars {
  readonly textAt: (index: number) => number
  readonly partAt: (index: number) => number
}

/** Knuth-Morris-Pratt. */
function search(textLength: number, partLength: number, { textAt, partAt }: Chars, from: number): number {
  if (textLength - from < partLength) return -1
  const borders = bordersOf(partLength, partAt)
  let matched = 0
  for (let i = from; i < textLength; i++) {
    const char = textAt(i)
    while (matched > 0 && partAt(matched) !== char) matched = borders[matched - 1] as number
    if (partAt(matched) === char) matched++
    if (matched === partLength) return i - partLength + 1
  }
  return -1
}

function bordersOf(length: number, partAt: (index: number) => number): Int32Array {
  const borders = new Int32Array(length)
  let border = 0
  for (let i = 1; i < length; i++) {
    const char = partAt(i)
    while (border > 0 && partAt(border) !== char) border = borders[border - 1] as number
    if (partAt(border) === char) border++
    borders[i] = border
  }
  return borders
}
