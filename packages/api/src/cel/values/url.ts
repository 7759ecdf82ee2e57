// URLs of CEL: absolute URLs and absolute paths, parsed like Go's net/url, with its error messages.

import { quoteText } from './quote-text.js'

interface UrlParts {
  readonly scheme: string
  readonly user: string | undefined
  readonly host: string
  readonly opaque: string
  readonly escapedPath: string
  readonly query: string
  readonly omitsHost: boolean
}

export class CelUrl {
  private readonly parts: UrlParts
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

  get href(): string {
    const { scheme, user, host, opaque, escapedPath, query, omitsHost } = this.parts
    const start = scheme === '' ? '' : `${scheme}:`
    const end = `${query}${this.fragment}`
    if (opaque !== '') return `${start}${opaque}${end}`
    const hasAuthority = (scheme !== '' || host !== '' || user !== undefined) && !omitsHost
    const slashes = hasAuthority && (host !== '' || escapedPath !== '' || user !== undefined) ? '//' : ''
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

  query(): Map<string, string[]> {
    const values = new Map<string, string[]>()
    for (const part of this.parts.query.slice(1).split('&')) {
      if (part === '' || part.includes(';')) continue
      const at = part.indexOf('=')
      const name = decode(at === -1 ? part : part.slice(0, at), 'query')
      const value = decode(at === -1 ? '' : part.slice(at + 1), 'query')
      if (name instanceof UrlError || value instanceof UrlError) continue
      const existing = values.get(name)
      if (existing === undefined) values.set(name, [value])
      else existing.push(value)
    }
    return values
  }
}

const parseErrorText = (text: string, { message }: UrlError): string => `parse ${quoteText(text)}: ${message}`

/** Returns the error of Go's ParseRequestURI; undefined if valid. A `#` belongs to the path or query. */
export function requestUrlProblem(text: string): string | undefined {
  const parts = splitUrl(text, true)
  return parts instanceof UrlError ? parseErrorText(text, parts) : undefined
}

export function parseUrl(text: string): CelUrl | string {
  const problem = requestUrlProblem(text)
  if (problem !== undefined) return problem
  const hash = text.indexOf('#')
  const body = hash === -1 ? text : text.slice(0, hash)
  const parts = splitUrl(body, false)
  if (parts instanceof UrlError) return parseErrorText(body, parts)
  const rawFragment = hash === -1 ? '' : text.slice(hash + 1)
  const fragment = decode(rawFragment, 'fragment')
  if (fragment instanceof UrlError) return parseErrorText(text, fragment)
  return new CelUrl(parts, rawFragment === '' ? '' : `#${keepOrEncode(rawFragment, fragment, 'fragment')}`)
}

const emptyParts: UrlParts = { scheme: '', user: undefined, host: '', opaque: '', escapedPath: '', query: '', omitsHost: false }

function splitUrl(text: string, isRequest: boolean): UrlParts | UrlError {
  if (/[\u0000-\u001f\u007f]/.test(text)) return new UrlError('net/url: invalid control character in URL')
  if (text === '' && isRequest) return new UrlError('empty url')
  if (text === '*') return { ...emptyParts, escapedPath: '*' }
  const schemeEnd = schemeLength(text)
  if (schemeEnd === undefined) return new UrlError('missing protocol scheme')
  const scheme = text.slice(0, schemeEnd).toLowerCase()
  const afterScheme = schemeEnd === 0 ? text : text.slice(schemeEnd + 1)
  const question = afterScheme.indexOf('?')
  const rest = question === -1 ? afterScheme : afterScheme.slice(0, question)
  const query = question === -1 ? '' : afterScheme.slice(question)
  if (!rest.startsWith('/')) {
    if (scheme !== '') return { ...emptyParts, scheme, opaque: rest, query }
    if (isRequest) return new UrlError('invalid URI for request')
    if ((rest.split('/', 1)[0] as string).includes(':')) return new UrlError('first path segment in URL cannot contain colon')
  }
  const hasAuthority = rest.startsWith('//') && (scheme !== '' || (!isRequest && !rest.startsWith('///')))
  const slash = hasAuthority ? rest.indexOf('/', 2) : 0
  const authority = hasAuthority ? readAuthority(rest.slice(2, slash === -1 ? undefined : slash)) : { user: undefined, host: '' }
  if (authority instanceof UrlError) return authority
  const path = slash === -1 ? '' : rest.slice(slash)
  const decoded = decode(path, 'path')
  if (decoded instanceof UrlError) return decoded
  const escapedPath = keepOrEncode(path, decoded, 'path')
  return { scheme, ...authority, opaque: '', escapedPath, query, omitsHost: !hasAuthority && scheme !== '' }
}

/** Returns 0 without a scheme; undefined if the text begins with a colon. */
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
  const raw = at === -1 ? undefined : text.slice(0, at)
  if (raw === undefined) return { user: undefined, host }
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(raw)) return new UrlError('net/url: invalid userinfo')
  const colon = raw.indexOf(':')
  const name = decode(colon === -1 ? raw : raw.slice(0, colon), 'user')
  const password = colon === -1 ? undefined : decode(raw.slice(colon + 1), 'user')
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

type UrlPart = 'host' | 'zone' | 'path' | 'user' | 'query' | 'fragment'

class UrlError {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

const unreserved = '-_.~'
const hostChars = `!$&'()*+,;=:[]<>"`
const unescapedChars: { readonly [part in UrlPart]: string } = {
  host: `${unreserved}${hostChars}`,
  zone: `${unreserved}${hostChars}`,
  path: `${unreserved}$&+,/:;=@`,
  user: `${unreserved}$&+,;=`,
  query: unreserved,
  fragment: `${unreserved}$&+,/:;=?@!()*`,
}

const isUnescaped = (char: string, part: UrlPart): boolean => /^[A-Za-z0-9]$/.test(char) || unescapedChars[part].includes(char)

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const isEscape = (text: string): boolean => /^%[0-9A-Fa-f]{2}$/.test(text)

/** Hosts may escape only `%` and non-ASCII characters; zones only `%`, spaces and characters that hosts may have unescaped. */
function isAllowed(encoded: string, part: UrlPart): boolean {
  if (encoded === '%25') return true
  const code = Number.parseInt(encoded.slice(1), 16)
  if (part === 'host') return code >= 0x80
  return part !== 'zone' || code === 0x20 || isUnescaped(String.fromCharCode(code), 'host')
}

function decode(text: string, part: UrlPart): string | UrlError {
  const isHost = part === 'host' || part === 'zone'
  const bytes: number[] = []
  for (let at = 0; at < text.length; ) {
    const char = String.fromCodePoint(text.codePointAt(at) as number)
    if (char === '%') {
      const encoded = text.slice(at, at + 3)
      if (!isEscape(encoded) || !isAllowed(encoded, part)) return new UrlError(`invalid URL escape ${quoteText(encoded)}`)
      bytes.push(Number.parseInt(encoded.slice(1), 16))
      at += 3
      continue
    }
    if (isHost && char < '\u0080' && !isUnescaped(char, part)) return new UrlError(`invalid character ${quoteText(char)} in host name`)
    for (const byte of encoder.encode(char === '+' && part === 'query' ? ' ' : char)) bytes.push(byte)
    at += char.length
  }
  return decoder.decode(Uint8Array.from(bytes))
}

function encode(text: string, part: UrlPart): string {
  let out = ''
  for (const char of text) {
    if (isUnescaped(char, part)) out += char
    else if (char === ' ' && part === 'query') out += '+'
    else for (const byte of encoder.encode(char)) out += `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return out
}

/** Returns the text as written if it is properly encoded. */
function keepOrEncode(raw: string, decoded: string, part: 'path' | 'fragment'): string {
  const isEncoded = Array.from(raw).every((char) => "!$&'()*+,;=:@[]%".includes(char) || isUnescaped(char, part))
  return isEncoded ? raw : encode(decoded, part)
}
