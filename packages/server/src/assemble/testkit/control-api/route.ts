// A route of the control API, and what its functions get: the embedded server, path parameters, query and body.

import { isRecord } from '@cluster-apiserver/api/schema/json/read.js'
import type { EmbeddedServer } from '../../running-server.js'
import type { Snapshot } from '../snapshot.js'
import type { Testkit } from '../testkit.js'
import { ControlError } from './control-error.js'

/** The server, and what clients created through the control API, by id. */
export interface ControlSession {
  readonly server: EmbeddedServer
  readonly testkit: Testkit
  readonly snapshots: Map<string, Snapshot>
  readonly forks: Map<string, EmbeddedServer>
  /** True when the server has closed its forks: a fork that starts afterwards is closed at once. */
  isClosed: boolean
}

export interface ControlRequest {
  /** Values of the placeholders of the path, such as `id`. */
  readonly params: { readonly [name: string]: string }
  readonly query: URLSearchParams
  /** Parsed JSON; undefined without a body. */
  readonly body: unknown
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Below `/testkit`; `{id}` is a placeholder. */
  readonly path: string
  readonly summary: string
  /** The result is the body of the response; `{}` for undefined. */
  readonly run: (session: ControlSession, request: ControlRequest) => unknown
}

type Fields<Name extends string> = { readonly [name in Name]?: unknown }

/** Members of the body, which may be absent. Throws a ControlError unless it is an object with these members only. */
export function fieldsOf<Name extends string>({ body = {} }: ControlRequest, names: readonly Name[]): Fields<Name> {
  const fields = objectOf(body)
  const unknown = Object.keys(fields).find((name) => !(names as readonly string[]).includes(name))
  if (unknown !== undefined) throw new ControlError(400, `unknown member ${JSON.stringify(unknown)}; ${expected(names)}`)
  return fields as Fields<Name>
}

const expected = (names: readonly string[]): string => (names.length === 0 ? 'expected none' : `expected: ${names.join(', ')}`)

export function objectOf(body: unknown): { readonly [name: string]: unknown } {
  if (!isRecord(body)) throw new ControlError(400, 'the body must be a JSON object')
  return body
}

/** Query parameters, each at most once. Throws a ControlError for others. */
export function queryOf<Name extends string>({ query }: ControlRequest, names: readonly Name[]): { readonly [name in Name]?: string } {
  const values: { [name: string]: string } = {}
  for (const [name, value] of query) {
    if (!(names as readonly string[]).includes(name))
      throw new ControlError(400, `unknown query parameter ${JSON.stringify(name)}; ${expected(names)}`)
    if (name in values) throw new ControlError(400, `query parameter ${JSON.stringify(name)} is given twice`)
    values[name] = value
  }
  return values as { readonly [name in Name]?: string }
}
