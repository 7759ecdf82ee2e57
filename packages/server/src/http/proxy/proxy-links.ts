// Rewrites links of proxied responses: links to the backend must lead through the proxy.

export interface ProxyOrigin {
  /** Path of the proxy subresource. */
  readonly prefix: string
  /** Host of the backend. */
  readonly host: string
  /** Host that the client used. */
  readonly requestHost: string
}

interface Link {
  readonly scheme: string
  readonly host: string | undefined
  readonly path: string
  /** Query and fragment, with `?` and `#`. */
  readonly rest: string
}

/** External, relative and invalid links stay unchanged. */
export function rewriteLink(text: string, { prefix, host, requestHost }: ProxyOrigin): string {
  const link = readLink(text)
  if (link === undefined || !link.path.startsWith('/')) return text
  const isExternal = link.host !== undefined && link.host !== '' && link.host !== host && link.host !== requestHost
  if (isExternal) return text
  const keepsHost = link.host !== undefined && link.host === requestHost
  const before = keepsHost ? `${link.scheme === '' ? '' : `${link.scheme}:`}//${link.host}` : ''
  return `${before}${link.path.startsWith(prefix) ? link.path : joinPaths(prefix, link.path)}${link.rest}`
}

function readLink(text: string): Link | undefined {
  if (hasControl(text) || hasBrokenEscape(text)) return undefined
  const queryStart = firstOf(text, '?#')
  const beforeQuery = text.slice(0, queryStart)
  const rest = text.slice(queryStart)
  const scheme = schemeOf(beforeQuery)
  const afterScheme = scheme === '' ? beforeQuery : beforeQuery.slice(scheme.length + 1)
  if (!afterScheme.startsWith('//'))
    return { scheme, host: undefined, path: scheme === '' || afterScheme.startsWith('/') ? afterScheme : '', rest }
  const slash = afterScheme.indexOf('/', 2)
  const end = slash < 0 ? afterScheme.length : slash
  return { scheme, host: afterScheme.slice(2, end), path: afterScheme.slice(end), rest }
}

function firstOf(text: string, characters: string): number {
  for (let i = 0; i < text.length; i++) if (characters.includes(text[i] as string)) return i
  return text.length
}

const schemeOf = (text: string): string => /^[A-Za-z][A-Za-z0-9+.-]*(?=:)/.exec(text)?.[0] ?? ''

function hasControl(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) < 0x20 || text.charCodeAt(i) === 0x7f) return true
  return false
}

const hasBrokenEscape = (text: string): boolean => /%(?![0-9A-Fa-f]{2})/.test(text)

/** Joins and resolves dot segments; keeps a trailing slash. */
export function joinPaths(prefix: string, path: string): string {
  const segments: string[] = []
  for (const segment of `${prefix}/${path}`.split('/')) {
    if (segment === '..') segments.pop()
    else if (segment !== '' && segment !== '.') segments.push(segment)
  }
  const joined = `/${segments.join('/')}`
  return path.endsWith('/') && joined !== '/' ? `${joined}/` : joined
}
