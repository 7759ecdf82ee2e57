// Filters of recorded requests.

import { refuseUnknownOptions } from '@cluster-apiserver/api/base/unknown-options.js'
import type { RecordedRequest } from './recorded-request.js'

type TextOrList = string | readonly string[]

/** All given fields must match; of a list, one value. `*` matches any value. */
export interface RequestFields {
  readonly user?: TextOrList
  readonly verb?: TextOrList
  /** `pods`, `pods/status`, `pods/*`, `wares.shop.example.com`. Without a group: of any group. Requests to subresources need a subresource. */
  readonly resource?: TextOrList
  readonly namespace?: TextOrList
  readonly name?: TextOrList
  readonly status?: number | readonly number[]
  /** Without the query. */
  readonly path?: TextOrList
  readonly userAgent?: TextOrList
}

export type RequestFilter = RequestFields | ((request: RecordedRequest) => boolean)

const textFields = ['user', 'verb', 'namespace', 'name', 'path', 'userAgent'] as const
const known = { resource: true, status: true, ...Object.fromEntries(textFields.map((name) => [name, true])) }

export function compileFilter(filter: RequestFilter): (request: RecordedRequest) => boolean {
  if (typeof filter === 'function') return filter
  refuseUnknownOptions('requests', filter, known)
  const checks: ((request: RecordedRequest) => boolean)[] = []
  for (const field of textFields) {
    const wanted = setOf(field, filter[field])
    if (wanted !== undefined) checks.push((request) => wanted.has(request[field]))
  }
  const resources = setOf('resource', filter.resource)
  if (resources !== undefined) checks.push((request) => typesOf(request).some((type) => resources.has(type)))
  if (filter.status !== undefined) {
    const statuses = [filter.status].flat()
    if (!statuses.every(Number.isInteger)) throw new TypeError('requests: status must be a number or a list of numbers')
    checks.push((request) => statuses.includes(request.status ?? 0))
  }
  return (request) => checks.every((check) => check(request))
}

/** Undefined if any value matches. */
function setOf(field: string, wanted: TextOrList | undefined): ReadonlySet<string> | undefined {
  const values = new Set([wanted ?? '*'].flat())
  for (const value of values) if (typeof value !== 'string') throw new TypeError(`requests: ${field} must be a text or a list of texts`)
  return values.has('*') ? undefined : values
}

/** All texts that name the resource of a request: with and without its group, as in fault rules. */
function typesOf({ resource, subresource }: RecordedRequest): readonly string[] {
  const [plural = ''] = resource.split('.')
  const types = [resource, plural]
  return subresource === '' ? types : types.flatMap((type) => [`${type}/${subresource}`, `${type}/*`])
}
