// A Content-Type header taken apart, as strictly as the reference does: a broken parameter spoils the whole.

const token = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+"
const typePattern = new RegExp(`^${token}(?:/${token})?$`)
const parameterPattern = new RegExp(`^\\s*;\\s*(${token})\\s*=\\s*(?:${token}|"(?:[^"\\\\]|\\\\[^\\n\\r])*")`)

/** The media type in small letters, without its parameters; undefined when the header is not well formed. */
export function parseMediaType(header: string): string | undefined {
  const semicolon = header.indexOf(';')
  const type = (semicolon < 0 ? header : header.slice(0, semicolon)).trim().toLowerCase()
  if (!typePattern.test(type)) return undefined
  const seen = new Set<string>()
  let rest = semicolon < 0 ? '' : header.slice(semicolon)
  while (rest.trim() !== '' && rest.trim() !== ';') {
    const match = parameterPattern.exec(rest)
    const name = match?.[1]?.toLowerCase()
    if (match === null || name === undefined || seen.has(name)) return undefined
    seen.add(name)
    rest = rest.slice(match[0].length)
  }
  return type
}
