// URLs as expressions see them: absolute ones, or an absolute path. The parser is strict where browsers are lenient.

import { decode, encode, keepOrEncode, UrlError } from './percent.js'
import { quoteText } from './quote.js'

interface UrlParts {
  readonly scheme: string
  /** With its `@`, encoded; undefined where there is none. */
  readonly user: string | undefined
  /** With the port, decoded. */
  readonly host: string
  /** What is neither a host nor a path, as in `mailto:a`. */
  readonly opaque: string
  readonly escapedPath: string
  /** With its question mark. */
  readonly query: string
  readonly hasNoHost: boolean
}

export class CelUrl {
  private readonly parts: UrlParts
  /** With its number sign, encoded. */
  private readonly fragment: string

  constructor(parts: UrlParts, fragment: string) {
    this.parts = parts
    this.fragment = fragment
  }

  get scheme(): string {
    return this.parts.scheme
  }

  get host(): string {
    return this.parts.host
  }

  get escapedPath(): string {
    return this.parts.escapedPath
  }

  /** Put together again: two URLs with the same text are equal. */
  get href(): string {
    const { scheme, user, host, opaque, escapedPath, query, hasNoHost } = this.parts
    const start = scheme === '' ? '' : `${scheme}:`
    const end = `${query}${this.fragment}`
    if (opaque !== '') return `${start}${opaque}${end}`
    const isLocated = (scheme !== '' || host !== '' || user !== undefined) && !hasNoHost
    const slashes = isLocated && (host !== '' || escapedPath !== '' || user !== undefined) ? '//' : ''
    return `${start}${slashes}${user ?? ''}${encode(host, 'host')}${escapedPath}${end}`
  }

  private get portAt(): number {
    const { host } = this.parts
    const colon = host.lastIndexOf(':')
    return colon !== -1 && isPort(host.slice(colon)) ? colon : host.length
  }

  get hostname(): string {
    const name = this.parts.host.slice(0, this.portAt)
    return name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name
  }

  get port(): string {
    return this.parts.host.slice(this.portAt + 1)
  }

  /** Parts that cannot be decoded, or that hold a semicolon, are left out. */
  query(): Map<string, string[]> {
    const values = new Map<string, string[]>()
    for (const part of this.parts.query.slice(1).split('&')) {
      if (part === '' || part.includes(';')) continue
      const at = part.indexOf('=')
      const name = decode(at === -1 ? part : part.slice(0, at), 'query')
      const value = decode(at === -1 ? '' : part.slice(at + 1), 'query')
      if (name instanceof UrlError || value instanceof UrlError) continue
      const known = values.get(name)
      if (known === undefined) values.set(name, [value])
      else known.push(value)
    }
    return values
  }
}

const failed = (text: string, { message }: UrlError): string => `parse ${quoteText(text)}: ${message}`

/** Why the text is none that a request could be sent to; undefined where it is one. What stands behind a number sign belongs to the path or the query. */
export function refuseUrl(text: string): string | undefined {
  const parts = takeApart(text, true)
  return parts instanceof UrlError ? failed(text, parts) : undefined
}

/** The URL, or why there is none. */
export function parseUrl(text: string): CelUrl | string {
  const refused = refuseUrl(text)
  if (refused !== undefined) return refused
  const hash = text.indexOf('#')
  const body = hash === -1 ? text : text.slice(0, hash)
  const parts = takeApart(body, false)
  if (parts instanceof UrlError) return failed(body, parts)
  const written = hash === -1 ? '' : text.slice(hash + 1)
  const fragment = decode(written, 'fragment')
  if (fragment instanceof UrlError) return failed(text, fragment)
  return new CelUrl(parts, written === '' ? '' : `#${keepOrEncode(written, fragment, 'fragment')}`)
}

const noParts: UrlParts = { scheme: '', user: undefined, host: '', opaque: '', escapedPath: '', query: '', hasNoHost: false }

function takeApart(text: string, isRequest: boolean): UrlParts | UrlError {
  if (/[\u0000-\u001f\u007f]/.test(text)) return new UrlError('net/url: invalid control character in URL')
  if (text === '' && isRequest) return new UrlError('empty url')
  if (text === '*') return { ...noParts, escapedPath: '*' }
  const schemeEnd = schemeLength(text)
  if (schemeEnd === undefined) return new UrlError('missing protocol scheme')
  const scheme = text.slice(0, schemeEnd).toLowerCase()
  const afterScheme = schemeEnd === 0 ? text : text.slice(schemeEnd + 1)
  const question = afterScheme.indexOf('?')
  const rest = question === -1 ? afterScheme : afterScheme.slice(0, question)
  const query = question === -1 ? '' : afterScheme.slice(question)
  if (!rest.startsWith('/')) {
    if (scheme !== '') return { ...noParts, scheme, opaque: rest, query }
    if (isRequest) return new UrlError('invalid URI for request')
    if ((rest.split('/', 1)[0] as string).includes(':')) return new UrlError('first path segment in URL cannot contain colon')
  }
  const isLocated = rest.startsWith('//') && (scheme !== '' || (!isRequest && !rest.startsWith('///')))
  const slash = isLocated ? rest.indexOf('/', 2) : 0
  const authority = isLocated ? readAuthority(rest.slice(2, slash === -1 ? undefined : slash)) : { user: undefined, host: '' }
  if (authority instanceof UrlError) return authority
  const path = slash === -1 ? '' : rest.slice(slash)
  const decoded = decode(path, 'path')
  if (decoded instanceof UrlError) return decoded
  const escapedPath = keepOrEncode(path, decoded, 'path')
  return { scheme, ...authority, opaque: '', escapedPath, query, hasNoHost: !isLocated && scheme !== '' }
}

/** How long the scheme is; 0 without one, undefined where there is nothing before its colon. */
function schemeLength(text: string): number | undefined {
  const end = text.search(/[^A-Za-z0-9+.-]/)
  if (end === -1 || text[end] !== ':') return 0
  if (end === 0) return undefined
  return /^[A-Za-z]/.test(text) ? end : 0
}

const isPort = (text: string): boolean => /^(?::[0-9]*)?$/.test(text)

function readAuthority(text: string): { readonly user: string | undefined; readonly host: string } | UrlError {
  const at = text.lastIndexOf('@')
  const host = readHost(text.slice(at + 1))
  if (host instanceof UrlError) return host
  const written = at === -1 ? undefined : text.slice(0, at)
  if (written === undefined) return { user: undefined, host }
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(written)) return new UrlError('net/url: invalid userinfo')
  const colon = written.indexOf(':')
  const name = decode(colon === -1 ? written : written.slice(0, colon), 'user')
  const password = colon === -1 ? undefined : decode(written.slice(colon + 1), 'user')
  if (name instanceof UrlError) return name
  if (password instanceof UrlError) return password
  return { user: `${encode(name, 'user')}${password === undefined ? '' : `:${encode(password, 'user')}`}@`, host }
}

function readHost(text: string): string | UrlError {
  const end = text.startsWith('[') ? text.lastIndexOf(']') : text.lastIndexOf(':') - 1
  if (text.startsWith('[') && end === -1) return new UrlError("missing ']' in host")
  const port = end < 0 && !text.startsWith(':') ? '' : text.slice(end + 1)
  if (!isPort(port)) return new UrlError(`invalid port ${quoteText(port)} after host`)
  const zone = text.startsWith('[') ? text.slice(0, end).indexOf('%25') : -1
  if (zone === -1) return decode(text, 'host')
  const parts = [decode(text.slice(0, zone), 'host'), decode(text.slice(zone, end), 'zone'), decode(text.slice(end), 'host')]
  return parts.find((part) => part instanceof UrlError) ?? parts.join('')
}
