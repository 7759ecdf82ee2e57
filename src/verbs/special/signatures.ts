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
  /** Whether the client asks to speak another protocol from here on. */
  readonly isUpgrade: boolean
}

/** A way that begins at an object. */
export interface Way extends ConnectRequest {
  readonly engine: Engine
  readonly call: Call
  readonly object: ApiObject
}

/** The text of an answer where there is one without going anywhere. */
export type Connect = (way: Way) => string
