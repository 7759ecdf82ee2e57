// Links in what is read through a proxy: those that lead to the place itself must lead through the proxy, too.

export interface ProxyPlace {
  /** The part of the path that leads to the proxy, without what is asked for behind it. */
  readonly prefix: string
  /** Host and port behind the proxy. */
  readonly host: string
  /** What the client calls the server. */
  readonly requestHost: string
}

interface Link {
  readonly scheme: string
  readonly host: string | undefined
  readonly path: string
  /** Query and fragment, with their marks. */
  readonly rest: string
}

/** Links elsewhere, relative ones, and those that cannot be read stay as they are. */
export function rewriteLink(text: string, { prefix, host, requestHost }: ProxyPlace): string {
  const link = readLink(text)
  if (link === undefined || !link.path.startsWith('/')) return text
  const isElsewhere = link.host !== undefined && link.host !== '' && link.host !== host && link.host !== requestHost
  if (isElsewhere) return text
  const keepsHost = link.host !== undefined && link.host === requestHost
  const before = keepsHost ? `${link.scheme === '' ? '' : `${link.scheme}:`}//${link.host}` : ''
  return `${before}${link.path.startsWith(prefix) ? link.path : join(prefix, link.path)}${link.rest}`
}

function readLink(text: string): Link | undefined {
  if (hasControl(text) || hasBrokenEscape(text)) return undefined
  const mark = firstOf(text, '?#')
  const before = text.slice(0, mark)
  const rest = text.slice(mark)
  const scheme = schemeOf(before)
  const behind = scheme === '' ? before : before.slice(scheme.length + 1)
  if (!behind.startsWith('//')) return { scheme, host: undefined, path: scheme === '' || behind.startsWith('/') ? behind : '', rest }
  const slash = behind.indexOf('/', 2)
  const end = slash < 0 ? behind.length : slash
  return { scheme, host: behind.slice(2, end), path: behind.slice(end), rest }
}

function firstOf(text: string, marks: string): number {
  for (let i = 0; i < text.length; i++) if (marks.includes(text[i] as string)) return i
  return text.length
}

const schemeOf = (text: string): string => /^[A-Za-z][A-Za-z0-9+.-]*(?=:)/.exec(text)?.[0] ?? ''

function hasControl(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) < 0x20 || text.charCodeAt(i) === 0x7f) return true
  return false
}

const hasBrokenEscape = (text: string): boolean => /%(?![0-9A-Fa-f]{2})/.test(text)

/** Without steps back and forth in what is joined; a slash at the end stays. */
export function join(prefix: string, path: string): string {
  const words: string[] = []
  for (const word of `${prefix}/${path}`.split('/')) {
    if (word === '..') words.pop()
    else if (word !== '' && word !== '.') words.push(word)
  }
  const joined = `/${words.join('/')}`
  return path.endsWith('/') && joined !== '/' ? `${joined}/` : joined
}
