// What the functions of special kinds are given, and what they give.

import type { Call } from '../../api/call.js'
import type { Catalog } from '../../api/catalog.js'
import type { ApiObject } from '../../api/object.js'
import type { Query } from '../../api/options/query.js'
import type { Engine } from '../engine.js'

/** Answers a question that was found to be in order. */
export type Review = (engine: Engine, call: Call, question: ApiObject) => ApiObject | Promise<ApiObject>

/** The question with its answer. */
export const answered = (question: ApiObject, status: object): ApiObject => ({ ...question, status }) as ApiObject

/** Finds out which objects there are, in whatever order. */
export type Compute = (engine: Engine) => Promise<readonly ApiObject[]>

export interface ActionRequest {
  readonly body: ApiObject
  readonly catalog: Catalog
  /** Asks the validating plugins; to be called once the body is found to be in order, before anything is done. */
  readonly validate: () => void | Promise<void>
}

/** Does with an object what was wished; gives the wish with its answer, where there is one. */
export type Action = (engine: Engine, call: Call, request: ActionRequest) => Promise<ApiObject | undefined>

export interface ConnectRequest {
  readonly catalog: Catalog
  readonly query: Query
  /** What stands behind the subresource in the path, decoded: empty, or with a slash in front. */
  readonly subpath: string
}

/** A way that begins at an object. */
export interface Way extends ConnectRequest {
  readonly engine: Engine
  readonly call: Call
}

/** Who is at the other end: node agents, who know this server, with and without a look at their certificates; or anybody, who does not. */
export type Trust = 'agent' | 'uncheckedAgent' | 'anybody'

/** Where a way leads. */
export interface Location {
  readonly scheme: 'http' | 'https'
  /** A name or an address, without brackets. */
  readonly host: string
  /** Undefined: the usual one. */
  readonly port: string | undefined
  /** Decoded. */
  readonly path: string
  /** Encoded; undefined: what the client asked with. */
  readonly query: string | undefined
  readonly trust: Trust
  /** Name that the certificate must have, if `host` is the address that it was resolved to. */
  readonly serverName?: string | undefined
}

/** Undefined: there is nothing to be found at the end of it, and nobody needs to be asked for that. */
export type Connect = (way: Way) => Location | undefined | Promise<Location | undefined>
