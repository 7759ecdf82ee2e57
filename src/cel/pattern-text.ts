// The text of a regular expression, looked through once: where its groups begin, and which brackets inside its classes are mere letters.

export interface PatternText {
  /** Where groups begin, in order. What is escaped or in brackets is no group. */
  readonly groups: readonly number[]
  /** Brackets in classes that look as if a named class began there (`[:`), but no `:]` follows. */
  readonly loneBrackets: readonly number[]
}

/** What stands behind something that no parser would take is not looked at. */
export function readPattern(text: string): PatternText {
  const groups: number[] = []
  const loneBrackets: number[] = []
  const lastName = text.lastIndexOf(':]')
  for (let at = 0; at < text.length; ) {
    if (text.startsWith('\\Q', at)) at = endOfPart(text, at, '\\E')
    else if (text[at] === '\\') at = endOfLetter(text, at)
    else if (text[at] === '[') at = endOfClass(text, at, lastName, loneBrackets) + 1
    else if (text[at] === '(') {
      groups.push(at)
      at = text.startsWith('(?P<', at) || text.startsWith('(?<', at) ? endOfName(text, at, '>') : at + 1
    } else at++
  }
  return { groups, loneBrackets }
}

/** The bracket that closes a class; a bracket that comes first belongs to it. */
export function endOfClass(text: string, from: number, lastName: number, loneBrackets: number[]): number {
  let at = from + (text[from + 1] === '^' ? 2 : 1)
  for (let isFirst = true; at < text.length && (isFirst || text[at] !== ']'); isFirst = false) {
    if (text.startsWith('[:', at)) {
      if (lastName >= at + 2) {
        at = endOfPart(text, at + 2, ':]')
        continue
      }
      loneBrackets.push(at)
    }
    const isSet = text[at] === '\\' && 'dswDSWpP'.includes(text[at + 1] ?? ' ')
    at = endOfLetter(text, at)
    // What ends a range is never taken for the beginning of a name; a set of letters begins no range.
    if (!isSet && text[at] === '-' && at + 1 < text.length && text[at + 1] !== ']') at = endOfLetter(text, at + 1)
  }
  return at
}

const escaped = /\\(?:[pP].|x\{[0-9a-fA-F]*\}|x[0-9a-fA-F]{2}|[0-7]{1,3}|[^x])/suy

export function endOfLetter(text: string, at: number): number {
  if (text.startsWith('\\p{', at) || text.startsWith('\\P{', at)) return endOfName(text, at + 2, '}')
  if (text[at] !== '\\') return at + ((text.codePointAt(at) as number) > 0xffff ? 2 : 1)
  escaped.lastIndex = at
  return escaped.test(text) ? escaped.lastIndex : text.length
}

/** Behind the mark; the end of all where there is none. */
function endOfPart(text: string, from: number, mark: string): number {
  const at = text.indexOf(mark, from)
  return at === -1 ? text.length : at + mark.length
}

/** No name has a bracket in it. */
function endOfName(text: string, from: number, mark: string): number {
  const end = endOfPart(text, from, mark)
  return text.slice(from, end).includes('[') ? text.length : end
}
