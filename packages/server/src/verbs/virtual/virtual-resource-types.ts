// Function types of virtual resources, which are not stored: reviews, computed kinds, actions and connections.

import type { Call } from '@cluster-apiserver/api/api/call.js'
import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import type { Query } from '@cluster-apiserver/api/api/options/query.js'
import type { Engine } from '../engine.js'

export type Review = (engine: Engine, call: Call, review: ApiObject) => ApiObject | Promise<ApiObject>

export const withStatus = (review: ApiObject, status: object): ApiObject => ({ ...review, status }) as ApiObject

/** Objects of the call's namespace, or of all. */
export type Compute = (engine: Engine, call: Pick<Call, 'namespace'>) => Promise<readonly ApiObject[]>

export interface ActionRequest {
  readonly body: ApiObject
  readonly catalog: Catalog
  /** Runs validating admission. Call it after validation, before the action changes anything. */
  readonly validate: () => void | Promise<void>
}

/** Returns the body with its status filled in, or undefined for a success without a result. */
export type Action = (engine: Engine, call: Call, request: ActionRequest) => Promise<ApiObject | undefined>

export interface ConnectRequest {
  readonly catalog: Catalog
  readonly query: Query
  /** The decoded path after the subresource: empty, or with a leading slash. */
  readonly subpath: string
}

export interface ConnectContext extends ConnectRequest {
  readonly engine: Engine
  readonly call: Call
}

/** Kubelets get this server's client certificate; `unverifiedKubelet` skips verification of the kubelet's. `workload`: a pod or Service. */
export type Trust = 'kubelet' | 'unverifiedKubelet' | 'workload'

export interface Location {
  readonly scheme: 'http' | 'https'
  /** Host name or IP address, without brackets. */
  readonly host: string
  readonly port: string | undefined
  readonly path: string
  /** Encoded; undefined: the client's query. */
  readonly query: string | undefined
  readonly trust: Trust
  /** Name expected in the certificate, if `host` is its resolved address. */
  readonly serverName?: string | undefined
  /** Name of the node, for locations on a node. */
  readonly node?: string
  /** The pod, for locations in a pod. */
  readonly pod?: { readonly namespace: string; readonly name: string }
}

/** Undefined: the response is empty and no connection is made. */
export type Connect = (context: ConnectContext) => Location | undefined | Promise<Location | undefined>
