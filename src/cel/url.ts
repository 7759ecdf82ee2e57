// URLs as expressions see them: absolute ones, or an absolute path. The parser is strict where browsers are lenient.

export class CelUrl {
  readonly href: string
  readonly scheme: string
  /** With the port. */
  readonly host: string
  readonly escapedPath: string
  readonly rawQuery: string

  constructor(href: string, parts: { scheme: string; host: string; escapedPath: string; rawQuery: string }) {
    this.href = href
    this.scheme = parts.scheme
    this.host = parts.host
    this.escapedPath = parts.escapedPath
    this.rawQuery = parts.rawQuery
  }

  get hostname(): string {
    const { host } = this
    if (host.startsWith('[')) return host.slice(1, host.indexOf(']'))
    return host.includes(':') ? host.slice(0, host.lastIndexOf(':')) : host
  }

  get port(): string {
    const afterBracket = this.host.slice(this.host.indexOf(']') + 1)
    const colon = afterBracket.lastIndexOf(':')
    return colon === -1 ? '' : afterBracket.slice(colon + 1)
  }

  /** Parts that cannot be decoded, or that hold a semicolon, are left out. */
  query(): Map<string, string[]> {
    const values = new Map<string, string[]>()
    for (const part of this.rawQuery.split('&')) {
      if (part === '' || part.includes(';')) continue
      const at = part.indexOf('=')
      const name = decodeQuery(at === -1 ? part : part.slice(0, at))
      const value = decodeQuery(at === -1 ? '' : part.slice(at + 1))
      if (name === undefined || value === undefined) continue
      const known = values.get(name)
      if (known === undefined) values.set(name, [value])
      else known.push(value)
    }
    return values
  }
}

const badEscape = /%(?![0-9A-Fa-f]{2})(.{0,2})/su

const decoder = new TextDecoder()

function decodeQuery(text: string): string | undefined {
  if (badEscape.test(text)) return undefined
  return decodePercent(text.replaceAll('+', ' '))
}

function decodePercent(text: string): string {
  return text.replace(/(?:%[0-9A-Fa-f]{2})+/g, (run) =>
    decoder.decode(Uint8Array.from(run.slice(1).split('%'), (byte) => Number.parseInt(byte, 16))),
  )
}

/** The URL, or why there is none. */
export function parseUrl(text: string): CelUrl | string {
  const fail = (why: string): string => `parse ${JSON.stringify(text)}: ${why}`
  if (/[\u0000-\u001f\u007f]/.test(text)) return fail('net/url: invalid control character in URL')
  if (text === '') return fail('empty url')
  const hash = text.indexOf('#')
  const body = hash === -1 ? text : text.slice(0, hash)
  if (body === '') return fail('empty url')
  const schemeEnd = schemeLength(body)
  if (typeof schemeEnd === 'string') return fail(schemeEnd)
  const scheme = body.slice(0, schemeEnd).toLowerCase()
  const afterScheme = schemeEnd === 0 ? body : body.slice(schemeEnd + 1)
  const question = afterScheme.indexOf('?')
  const rest = question === -1 ? afterScheme : afterScheme.slice(0, question)
  const rawQuery = question === -1 ? '' : afterScheme.slice(question + 1)
  if (!rest.startsWith('/')) {
    return scheme === '' ? fail('invalid URI for request') : new CelUrl(text, { scheme, host: '', escapedPath: '', rawQuery })
  }
  let host = ''
  let path = rest
  if (scheme !== '' && rest.startsWith('//')) {
    const slash = rest.indexOf('/', 2)
    const authority = slash === -1 ? rest.slice(2) : rest.slice(2, slash)
    path = slash === -1 ? '' : rest.slice(slash)
    const found = hostOf(authority)
    if (typeof found === 'string') return fail(found)
    host = found.host
  }
  const bad = badEscape.exec(path)
  if (bad !== null) return fail(`invalid URL escape ${JSON.stringify(bad[0])}`)
  return new CelUrl(text, { scheme, host, escapedPath: escapePath(path), rawQuery })
}

/** How long the scheme is; 0 without one. */
function schemeLength(text: string): number | string {
  for (let i = 0; i < text.length; i++) {
    const letter = text[i] as string
    if (/[A-Za-z]/.test(letter)) continue
    if (/[0-9+.-]/.test(letter)) {
      if (i === 0) return 0
      continue
    }
    if (letter === ':') return i === 0 ? 'missing protocol scheme' : i
    return 0
  }
  return 0
}

function hostOf(authority: string): { host: string } | string {
  const at = authority.lastIndexOf('@')
  const raw = at === -1 ? authority : authority.slice(at + 1)
  if (at !== -1 && !/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(authority.slice(0, at))) return 'net/url: invalid userinfo'
  const bad = /[\s"<>\\^`{|}]/.exec(raw)?.[0]
  if (bad !== undefined) return `invalid character ${JSON.stringify(bad)} in host name`
  const wrong = badEscape.exec(raw)
  if (wrong !== null) return `invalid URL escape ${JSON.stringify(wrong[0])}`
  if (raw.startsWith('[')) {
    const end = raw.lastIndexOf(']')
    if (end === -1) return "missing ']' in host"
    if (!/^(?::\d*)?$/.test(raw.slice(end + 1))) return `invalid port ${JSON.stringify(raw.slice(end + 1))} after host`
  } else {
    const colon = raw.lastIndexOf(':')
    if (colon !== -1 && !/^\d*$/.test(raw.slice(colon + 1))) return `invalid port ${JSON.stringify(raw.slice(colon))} after host`
  }
  return { host: decodePercent(raw) }
}

/** As it was written, but what must be escaped is. */
const escapePath = (path: string): string => path.replace(/[^A-Za-z0-9\-._~!$&'()*+,;=:@/%[\]]/gu, (letter) => encodeURIComponent(letter))
