// URL parser as lenient as the one of kube-apiserver: nearly any text is a URL.

interface UrlParts {
  readonly scheme: string
  readonly user: string | undefined
  readonly host: string
  readonly path: string
  readonly query: string
  readonly fragment: string
}

/** Returns undefined for control characters, invalid escapes, or a colon in the first segment without a scheme. */
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

/** A backslash would end the host for an HTTP client that follows the URL standard of browsers. */
const isHost = (host: string): boolean =>
  /^(\[[^\]\s\\]*\]|[^\s:[\]<>"\\^`{|}]*)(:\d*)?$/.test(host) && (host.startsWith('[') || !/%[0-7]/.test(host))

const splitAt = (text: string, separator: string): readonly string[] => {
  const at = text.indexOf(separator)
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}
