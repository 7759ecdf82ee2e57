// Scans the text of a regular expression for groups, and for `[` in character classes that RE2JS would take for a class name.

interface RegexScan {
  readonly groups: readonly number[]
  /** Offsets of `[:` in character classes that no `:]` follows. */
  readonly loneBrackets: readonly number[]
}

/** Stops at an invalid escape or name. */
export function scanRegex(text: string): RegexScan {
  const groups: number[] = []
  const loneBrackets: number[] = []
  const lastClassNameEnd = text.lastIndexOf(':]')
  for (let at = 0; at < text.length; ) {
    if (text.startsWith('\\Q', at)) at = offsetAfter(text, at, '\\E')
    else if (text[at] === '\\') at = endOfChar(text, at)
    else if (text[at] === '[') at = endOfClass(text, at, lastClassNameEnd, loneBrackets) + 1
    else if (text[at] === '(') {
      groups.push(at)
      at = text.startsWith('(?P<', at) || text.startsWith('(?<', at) ? endOfName(text, at, '>') : at + 1
    } else at++
  }
  return { groups, loneBrackets }
}

/** Returns the offset of the closing bracket. A leading `]` belongs to the class. */
export function endOfClass(text: string, from: number, lastClassNameEnd: number, loneBrackets: number[]): number {
  let at = from + (text[from + 1] === '^' ? 2 : 1)
  for (let isFirst = true; at < text.length && (isFirst || text[at] !== ']'); isFirst = false) {
    if (text.startsWith('[:', at)) {
      if (lastClassNameEnd >= at + 2) {
        at = offsetAfter(text, at + 2, ':]')
        continue
      }
      loneBrackets.push(at)
    }
    const isEscapedClass = text[at] === '\\' && 'dswDSWpP'.includes(text[at + 1] ?? ' ')
    at = endOfChar(text, at)
    // The end of a range cannot begin a class name, and `\d` and the like cannot begin a range.
    if (!isEscapedClass && text[at] === '-' && at + 1 < text.length && text[at + 1] !== ']') at = endOfChar(text, at + 1)
  }
  return at
}

const escaped = /\\(?:[pP].|x\{[0-9a-fA-F]*\}|x[0-9a-fA-F]{2}|[0-7]{1,3}|[^x])/suy

export function endOfChar(text: string, at: number): number {
  if (text.startsWith('\\p{', at) || text.startsWith('\\P{', at)) return endOfName(text, at + 2, '}')
  if (text[at] !== '\\') return at + ((text.codePointAt(at) as number) > 0xffff ? 2 : 1)
  escaped.lastIndex = at
  return escaped.test(text) ? escaped.lastIndex : text.length
}

function offsetAfter(text: string, from: number, terminator: string): number {
  const at = text.indexOf(terminator, from)
  return at === -1 ? text.length : at + terminator.length
}

function endOfName(text: string, from: number, terminator: string): number {
  const end = offsetAfter(text, from, terminator)
  return text.slice(from, end).includes('[') ? text.length : end
}
