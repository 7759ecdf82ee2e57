// Taking a URL apart as generously as the API always has: nearly any text is one, most of it a path.

export interface UrlParts {
  readonly scheme: string
  /** Name and password before the host, as they were written; undefined where there is no `@`. */
  readonly user: string | undefined
  readonly host: string
  readonly path: string
  readonly query: string
  readonly fragment: string
}

/** Control characters, a broken escape, and a colon in the first segment of a path without a scheme make a text no URL. */
export function parseUrl(text: string): UrlParts | undefined {
  const [beforeFragment = '', fragment = ''] = splitAt(text, '#')
  if (/[\u0000-\u001f\u007f]/.test(text) || /%(?![0-9a-fA-F]{2})/.test(text)) return undefined
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(beforeFragment)?.[1] ?? ''
  const afterScheme = scheme === '' ? beforeFragment : beforeFragment.slice(scheme.length + 1)
  if (beforeFragment.startsWith(':')) return undefined
  const [rest = '', query = ''] = splitAt(afterScheme, '?')
  if (!rest.startsWith('//')) {
    const firstSegment = rest.split('/', 1)[0] ?? ''
    if (scheme === '' && firstSegment.includes(':')) return undefined
    return { scheme: scheme.toLowerCase(), user: undefined, host: '', path: rest, query, fragment }
  }
  const authority = rest.slice(2).split('/', 1)[0] ?? ''
  const at = authority.lastIndexOf('@')
  const host = authority.slice(at + 1)
  if (!isHost(host)) return undefined
  const user = at < 0 ? undefined : authority.slice(0, at)
  return { scheme: scheme.toLowerCase(), user, host, path: rest.slice(2 + authority.length), query, fragment }
}

/** A name or an address, and a port of digits. */
const isHost = (host: string): boolean => /^(\[[^\]\s]*\]|[^\s:[\]<>"]*)(:\d*)?$/.test(host)

const splitAt = (text: string, mark: string): readonly string[] => {
  const at = text.indexOf(mark)
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}
