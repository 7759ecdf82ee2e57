// A published path with its operations, independent of the OpenAPI version.

import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import type { SchemaNode } from '@cluster-apiserver/api/schema/node.js'
import type { PublishedKind } from '@cluster-apiserver/api/schema/openapi/openapi.js'

export type Method = 'get' | 'put' | 'post' | 'delete' | 'options' | 'head' | 'patch'

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly type: 'string' | 'boolean' | 'integer'
  readonly description?: string
}

interface RequestBody {
  readonly node: SchemaNode
  readonly mediaTypes: readonly string[]
  readonly required: boolean
}

export interface Operation {
  readonly method: Method
  readonly id: string
  readonly tag: string
  readonly description: string
  /** Value of x-kubernetes-action. */
  readonly action?: string
  readonly kind?: PublishedKind
  readonly parameters: readonly Parameter[]
  readonly body?: RequestBody
  /** By status code; 401 is implied. */
  readonly responses: { readonly [code: string]: SchemaNode }
  readonly produces: readonly string[]
  /** Media types of operations without a body, for v2. */
  readonly consumes?: readonly string[]
}

export interface Route {
  readonly path: string
  /** Name of the v3 document that contains the path; undefined: only in v2. */
  readonly document: string | undefined
  readonly operations: readonly Operation[]
}

const byName = (a: Parameter, b: Parameter): number => compareText(a.name, b.name) || compareText(a.in, b.in)

const isSame = (a: Parameter, b: Parameter): boolean => a.name === b.name && a.in === b.in

/** Parameters that all operations have in common: they are published once, with the path. */
export function sharedParameters({ operations: [first, ...others] }: Route): readonly Parameter[] {
  const shared = first?.parameters.filter((parameter) =>
    others.every(({ parameters }) => parameters.some((other) => isSame(parameter, other))),
  )
  return [...(shared ?? [])].sort(byName)
}

/** Parameters that are published with the operation. */
export const ownParameters = (operation: Operation, shared: readonly Parameter[]): readonly Parameter[] =>
  operation.parameters.filter((parameter) => !shared.some((other) => isSame(parameter, other))).sort(byName)
