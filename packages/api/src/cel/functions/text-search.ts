// Where a text stands in another, in linear time. The platform's search takes as long as both lengths multiplied for some pairs of long texts,
// such as a run of one letter and the same with another letter in its middle.

/** Up to here the platform's search is linear enough, and much faster. */
const mostPlatformLetters = 64

/** As `indexOf`; -1 where there is none. */
export function indexOfText(text: string, part: string, from = 0): number {
  if (part.length <= mostPlatformLetters) return text.indexOf(part, from)
  return search(text.length, part.length, { textAt: (i) => text.charCodeAt(i), partAt: (i) => part.charCodeAt(i) }, Math.max(from, 0))
}

/** As `lastIndexOf`: the last place that is not behind `from`. */
export function lastIndexOfText(text: string, part: string, from = Number.POSITIVE_INFINITY): number {
  if (part.length <= mostPlatformLetters) return text.lastIndexOf(part, from)
  // The same from the other end.
  const lastText = text.length - 1
  const lastPart = part.length - 1
  const letters = { textAt: (i: number) => text.charCodeAt(lastText - i), partAt: (i: number) => part.charCodeAt(lastPart - i) }
  const found = search(text.length, part.length, letters, Math.max(0, text.length - part.length - from))
  return found === -1 ? -1 : text.length - part.length - found
}

/** As `split`. */
export function splitText(text: string, separator: string): string[] {
  if (separator.length <= mostPlatformLetters) return text.split(separator)
  const parts: string[] = []
  let start = 0
  for (let at = indexOfText(text, separator); at !== -1; at = indexOfText(text, separator, start)) {
    parts.push(text.slice(start, at))
    start = at + separator.length
  }
  parts.push(text.slice(start))
  return parts
}

interface Letters {
  readonly textAt: (index: number) => number
  readonly partAt: (index: number) => number
}

/** Never goes back in the text: how much of the part still stands before a letter that does not fit is known beforehand (Knuth, Morris, Pratt). */
function search(textLength: number, partLength: number, { textAt, partAt }: Letters, from: number): number {
  if (textLength - from < partLength) return -1
  const borders = bordersOf(partLength, partAt)
  let matched = 0
  for (let i = from; i < textLength; i++) {
    const letter = textAt(i)
    while (matched > 0 && partAt(matched) !== letter) matched = borders[matched - 1] as number
    if (partAt(matched) === letter) matched++
    if (matched === partLength) return i - partLength + 1
  }
  return -1
}

/** For each beginning of a part: how long the longest shorter beginning is that it also ends with. */
function bordersOf(length: number, partAt: (index: number) => number): Int32Array {
  const borders = new Int32Array(length)
  let border = 0
  for (let i = 1; i < length; i++) {
    const letter = partAt(i)
    while (border > 0 && partAt(border) !== letter) border = borders[border - 1] as number
    if (partAt(border) === letter) border++
    borders[i] = border
  }
  return borders
}
