// A Content-Type header taken apart, as strictly as the reference does: a broken parameter spoils the whole.

const token = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+"
const typePattern = new RegExp(`^${token}(?:/${token})?$`)
const parameterPattern = new RegExp(`\\s*;\\s*(${token})\\s*=\\s*(?:${token}|"(?:[^"\\\\]|\\\\[^\\n\\r])*")`, 'y')
const endPattern = /\s*(?:;\s*)?$/y

/** Longer headers, and more parameters, have no meaning to anybody. */
const maxLength = 4096
const maxParameters = 32

/** The media type in small letters, without its parameters; undefined when the header is not well formed. */
export function parseMediaType(header: string): string | undefined {
  if (header.length > maxLength) return undefined
  const semicolon = header.indexOf(';')
  const type = (semicolon < 0 ? header : header.slice(0, semicolon)).trim().toLowerCase()
  if (!typePattern.test(type)) return undefined
  return semicolon < 0 || hasGoodParameters(header, semicolon) ? type : undefined
}

function hasGoodParameters(header: string, from: number): boolean {
  const seen = new Set<string>()
  for (let at = from; !matchesAt(endPattern, header, at); at = parameterPattern.lastIndex) {
    parameterPattern.lastIndex = at
    const name = parameterPattern.exec(header)?.[1]?.toLowerCase()
    if (name === undefined || seen.has(name) || seen.size === maxParameters) return false
    seen.add(name)
  }
  return true
}

function matchesAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at
  return pattern.test(text)
}
