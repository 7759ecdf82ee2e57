// What a method and a path ask for, before anybody looks whether it exists. Authorization and dispatch read the same value.

import { RecentMap } from '../base/recent-map.js'
import { parseFieldSelector } from './field-selector.js'
import { isWatchRequested } from './options/list-options.js'
import { decodeEscapes, scanQuery } from './options/query.js'

export type RequestVerb =
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
  /** Of a method that no verb of a resource stands for. */
  | ''

export interface RequestInfo {
  readonly method: string
  readonly path: string
  /** Everything behind the question mark, still encoded; empty without one. */
  readonly query: string
  readonly isResource: boolean
  readonly verb: RequestVerb
  /** `api` or `apis`. */
  readonly prefix: string
  readonly group: string
  readonly version: string
  readonly namespace: string
  readonly resource: string
  readonly subresource: string
  /** Of the path; of a list or watch that selects one name, that name: whoever may read that object alone may read it so. */
  readonly name: string
  /** Path segments from the resource on: more than three mean a path below a subresource. */
  readonly parts: readonly string[]
  /** Its path cannot be decoded: nobody can say what it asks for. */
  readonly isMalformed?: true
}

/** Resources of which a path below `/namespaces/<name>/` with this word is a part of the namespace itself. */
const namespaceSubresources = new Set(['status', 'finalize'])

const mostKept = 512
const longestKept = 256

const verbsByMethod: { readonly [method: string]: RequestVerb } = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

/**
 * By method and by path with its query, what was read of the last ones: clients ask for the same again and again. Whoever looks something up by
 * these texts finds it sooner, too, because their hashes are known.
 */
const recent = new Map(Object.keys(verbsByMethod).map((method) => [method, new RecentMap<string, RequestInfo>(mostKept)]))

export function parseRequest(method: string, url: string): RequestInfo {
  const kept = url.length > longestKept ? undefined : recent.get(method)
  const known = kept?.get(url)
  if (known !== undefined) return known
  const info = readRequest(method, url)
  kept?.set(url, info)
  return info
}

function readRequest(method: string, target: string): RequestInfo {
  const url = target.startsWith('/') ? target : withoutOrigin(target)
  const mark = url.indexOf('?')
  const path = mark < 0 ? url : url.slice(0, mark)
  const query = mark < 0 ? '' : url.slice(mark + 1)
  const decoded = path.includes('%') ? decodeEscapes(path) : path
  if (decoded === undefined) return { ...nonResource({ method, path, query }), isMalformed: true }
  const words = splitPath(decoded)
  const core = words[0] === 'api'
  if ((!core && words[0] !== 'apis') || words.length < (core ? 3 : 4)) return nonResource({ method, path, query })
  return resourceRequest({ method, path, query, words, core })
}

/** A request may name the server, too, as it would for a proxy: `GET https://host/path`. It is for the path all the same. */
function withoutOrigin(target: string): string {
  const mark = target.indexOf('://')
  if (mark < 1 || target.slice(0, mark).includes('/')) return target
  const path = target.slice(mark + 3)
  const from = path.search(/[/?]/)
  return from < 0 ? '/' : path[from] === '/' ? path.slice(from) : `/${path.slice(from)}`
}

/** The words of a path. It was decoded before, so that an escaped slash separates like a plain one; slashes at its ends do not count. */
function splitPath(path: string): string[] {
  const words = path.split('/')
  let from = 0
  let until = words.length
  while (from < until && words[from] === '') from++
  while (until > from && words[until - 1] === '') until--
  return words.slice(from, until)
}

interface PathParts {
  readonly method: string
  readonly path: string
  readonly query: string
}

const nonResource = (parts: PathParts): RequestInfo => ({
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

function resourceRequest(input: PathParts & { readonly words: readonly string[]; readonly core: boolean }): RequestInfo {
  const { method, path, query, words, core } = input
  let rest = words.slice(core ? 2 : 3)
  let namespace = ''
  const [first] = rest
  // Words in front of a path that say by themselves what is asked for, whatever the method.
  const special = first === 'watch' || first === 'proxy' ? first : undefined
  if (special !== undefined) rest = rest.slice(1)
  if (rest[0] === 'namespaces' && rest.length > 1) {
    namespace = rest[1] as string
    if (rest.length > 2 && !namespaceSubresources.has(rest[2] as string)) rest = rest.slice(2)
  }
  const inPath = rest[1] ?? ''
  const verb = special ?? verbOf({ method, query, name: inPath })
  const name = inPath === '' && (verb === 'list' || verb === 'watch') ? selectedName(query) : inPath
  return {
    method,
    path,
    query,
    isResource: true,
    verb,
    prefix: core ? 'api' : 'apis',
    group: core ? '' : (words[1] as string),
    version: (core ? words[1] : words[2]) as string,
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

/** Asked before it is known who asks, so the query is not read for it. */
const hasWatch = (query: string): boolean => query.includes('watch') && isWatchRequested(scanQuery(query))

/** The one name that a field selector asks for; empty where it asks for others, or cannot be understood. */
function selectedName(query: string): string {
  if (!query.includes('fieldSelector')) return ''
  const text = scanQuery(query).first('fieldSelector')
  if (text === undefined || !text.includes('metadata.name')) return ''
  try {
    const name = parseFieldSelector(text).exactValue('metadata.name') ?? ''
    return name === '.' || name === '..' || name.includes('/') || name.includes('%') ? '' : name
  } catch {
    return '' // whoever may list at all is told what is wrong with it
  }
}
