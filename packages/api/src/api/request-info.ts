// RequestInfo: verb, API group, resource, namespace and name from method and URL. Authorization and dispatch use it.

import { RecentMap } from '../base/recent-map.js'
import { isWatchRequested } from './options/list-options.js'
import { decodeEscapes, readQuery } from './options/query.js'
import { parseFieldSelector } from './selectors/field-selector.js'

type RequestVerb =
  | 'get'
  | 'list'
  | 'watch'
  | 'create'
  | 'update'
  | 'patch'
  | 'delete'
  | 'deletecollection'
  | 'proxy'
  | 'head'
  | 'options'
  | 'post'
  | 'put'
  | ''

export interface RequestInfo {
  readonly method: string
  readonly path: string
  /** Percent-encoded. */
  readonly query: string
  readonly isResource: boolean
  readonly verb: RequestVerb
  readonly prefix: string
  readonly group: string
  readonly version: string
  readonly namespace: string
  readonly resource: string
  readonly subresource: string
  /** From the path; for list and watch of a collection from the field selector, because permission for that name suffices. */
  readonly name: string
  /** Path segments from the resource on: more than three mean a path below a subresource. */
  readonly parts: readonly string[]
  /** The path cannot be decoded. */
  readonly isMalformed?: true
}

/** `/namespaces/<name>/status` belongs to the Namespace, not to a resource in it. */
const namespaceSubresources = new Set(['status', 'finalize'])

const maxCachedPerMethod = 512
const maxCachedUrlLength = 256

const verbsByMethod: { readonly [method: string]: RequestVerb } = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

/** Cached RequestInfos by method and URL, because clients repeat requests. */
const requestInfoCaches = new Map(
  Object.keys(verbsByMethod).map((method) => [method, new RecentMap<string, RequestInfo>(maxCachedPerMethod)]),
)

export function parseRequest(method: string, url: string): RequestInfo {
  const cache = url.length > maxCachedUrlLength ? undefined : requestInfoCaches.get(method)
  const known = cache?.get(url)
  if (known !== undefined) return known
  const info = readRequest(method, url)
  cache?.set(url, info)
  return info
}

function readRequest(method: string, target: string): RequestInfo {
  const url = target.startsWith('/') ? target : withoutOrigin(target)
  const questionMark = url.indexOf('?')
  const path = questionMark < 0 ? url : url.slice(0, questionMark)
  const query = questionMark < 0 ? '' : url.slice(questionMark + 1)
  const decoded = path.includes('%') ? decodeEscapes(path) : path
  if (decoded === undefined) return { ...nonResource({ method, path, query }), isMalformed: true }
  const segments = splitPath(decoded)
  const isCore = segments[0] === 'api'
  if ((!isCore && segments[0] !== 'apis') || segments.length < (isCore ? 3 : 4)) return nonResource({ method, path, query })
  return resourceRequest({ method, path, query, segments, isCore })
}

/** Accepts the absolute-form (RFC 9112) that proxies send: `GET https://host/path`. */
function withoutOrigin(target: string): string {
  const schemeEnd = target.indexOf('://')
  if (schemeEnd < 1 || target.slice(0, schemeEnd).includes('/')) return target
  const path = target.slice(schemeEnd + 3)
  const from = path.search(/[/?]/)
  return from < 0 ? '/' : path[from] === '/' ? path.slice(from) : `/${path.slice(from)}`
}

/** An escaped slash separates segments, too. Leading and trailing slashes are ignored. */
function splitPath(path: string): string[] {
  const segments = path.split('/')
  let from = 0
  let until = segments.length
  while (from < until && segments[from] === '') from++
  while (until > from && segments[until - 1] === '') until--
  return segments.slice(from, until)
}

interface RequestTarget {
  readonly method: string
  readonly path: string
  readonly query: string
}

const nonResource = (parts: RequestTarget): RequestInfo => ({
  ...parts,
  isResource: false,
  verb: parts.method.toLowerCase() as RequestVerb,
  prefix: '',
  group: '',
  version: '',
  namespace: '',
  resource: '',
  subresource: '',
  name: '',
  parts: [],
})

function resourceRequest(input: RequestTarget & { readonly segments: readonly string[]; readonly isCore: boolean }): RequestInfo {
  const { method, path, query, segments, isCore } = input
  let rest = segments.slice(isCore ? 2 : 3)
  let namespace = ''
  const [first] = rest
  // The legacy prefixes `watch` and `proxy` decide the verb for any method.
  const legacyVerb = first === 'watch' || first === 'proxy' ? first : undefined
  if (legacyVerb !== undefined) rest = rest.slice(1)
  if (rest[0] === 'namespaces' && rest.length > 1) {
    namespace = rest[1] as string
    if (rest.length > 2 && !namespaceSubresources.has(rest[2] as string)) rest = rest.slice(2)
  }
  const nameInPath = rest[1] ?? ''
  const verb = legacyVerb ?? verbOf({ method, query, name: nameInPath })
  // As in kube-apiserver, a field selector names no object on the legacy paths.
  const isSelected = nameInPath === '' && legacyVerb === undefined && (verb === 'list' || verb === 'watch')
  const name = isSelected ? selectedName(query) : nameInPath
  return {
    method,
    path,
    query,
    isResource: true,
    verb,
    prefix: isCore ? 'api' : 'apis',
    group: isCore ? '' : (segments[1] as string),
    version: (isCore ? segments[1] : segments[2]) as string,
    namespace,
    resource: rest[0] ?? '',
    subresource: rest[2] ?? '',
    name,
    parts: rest,
  }
}

function verbOf(input: { readonly method: string; readonly query: string; readonly name: string }): RequestVerb {
  const verb = verbsByMethod[input.method] ?? ''
  if (input.name !== '') return verb
  if (verb === 'get') return hasWatch(input.query) ? 'watch' : 'list'
  return verb === 'delete' ? 'deletecollection' : verb
}

/** Runs before authentication, so it parses the query only if it contains `watch`. */
const hasWatch = (query: string): boolean => query.includes('watch') && isWatchRequested(readQuery(query))

/** Returns '' unless the field selector requires one name. */
function selectedName(query: string): string {
  if (!query.includes('fieldSelector')) return ''
  const text = readQuery(query).first('fieldSelector')
  if (text === undefined || !text.includes('metadata.name')) return ''
  try {
    const name = parseFieldSelector(text).exactValue('metadata.name') ?? ''
    return name === '.' || name === '..' || name.includes('/') || name.includes('%') ? '' : name
  } catch {
    return '' // The list handler reports the invalid selector after authorization.
  }
}
