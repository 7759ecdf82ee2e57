// JSON for people: a compact text becomes the indented form that curl and browsers are sent.

const indentUnit = '  '
const indents: string[] = []

/** Two spaces a level, a space behind each colon, `{}` and `[]` closed; everything inside quotes stays as it is. */
export const prettyJson = (compact: string): string => printAt(compact, 0)

/** The same for a part of a text that stands so many levels deep, and is cut between items of a list. */
export function printAt(compact: string, from: number): string {
  const parts: string[] = []
  let depth = from
  let at = 0
  while (at < compact.length) {
    const char = compact.charAt(at)
    if (char === '"') {
      const end = endOfString(compact, at)
      parts.push(compact.slice(at, end))
      at = end
      continue
    }
    at++
    if (char === '{' || char === '[') {
      const next = skipSpace(compact, at)
      const isEmpty = compact.charAt(next) === (char === '{' ? '}' : ']')
      if (isEmpty) at = next + 1
      parts.push(isEmpty ? (char === '{' ? '{}' : '[]') : char + newLine(++depth))
    } else if (char === '}' || char === ']') parts.push(newLine(--depth) + char)
    else if (char === ',') parts.push(char + newLine(depth))
    else if (char === ':') parts.push(': ')
    else if (!isSpace(char)) parts.push(char)
  }
  return parts.join('')
}

const isSpace = (char: string): boolean => char === ' ' || char === '\n' || char === '\r' || char === '\t'

function skipSpace(text: string, from: number): number {
  let at = from
  while (isSpace(text.charAt(at))) at++
  return at
}

/** Behind the closing quote: the first one with an even number of backslashes before it. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let backslash = quote
    while (text.charAt(backslash - 1) === '\\') backslash--
    if ((quote - backslash) % 2 === 0) return quote + 1
  }
  return text.length
}

function newLine(depth: number): string {
  for (let next = indents.length; next <= depth; next++) indents.push(`\n${indentUnit.repeat(next)}`)
  return indents[depth] ?? '\n'
}
