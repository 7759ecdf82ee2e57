// What is published about a path, before it becomes a document of one version of OpenAPI or the other.

import { compareText } from '../../base/text-order.js'
import type { SchemaNode } from '../../schema/node.js'
import type { PublishedKind } from '../../schema/openapi.js'

export type Method = 'get' | 'put' | 'post' | 'delete' | 'options' | 'head' | 'patch'

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly type: 'string' | 'boolean' | 'integer'
  readonly description?: string
}

export interface RequestBody {
  readonly node: SchemaNode
  readonly mediaTypes: readonly string[]
  /** Whether there is nothing to do without one. */
  readonly required: boolean
}

export interface Operation {
  readonly method: Method
  readonly id: string
  readonly tag: string
  readonly description: string
  /** What is done, in the words of the extension `x-kubernetes-action`. */
  readonly action?: string
  readonly kind?: PublishedKind
  readonly parameters: readonly Parameter[]
  readonly body?: RequestBody
  /** What an answer is, by its code. Whoever is not known gets 401, which goes without saying. */
  readonly answers: { readonly [code: string]: SchemaNode }
  readonly produces: readonly string[]
  /** Where nothing is sent: what could be, as version 2 tells; left out: anything. */
  readonly consumes?: readonly string[]
}

export interface Route {
  readonly path: string
  /** The document of version 3 that it belongs to, such as `apis/apps/v1`; undefined for what only version 2 publishes. */
  readonly document: string | undefined
  readonly operations: readonly Operation[]
}

const byName = (a: Parameter, b: Parameter): number => compareText(a.name, b.name) || compareText(a.in, b.in)

const isSame = (a: Parameter, b: Parameter): boolean => a.name === b.name && a.in === b.in

/** The parameters that all operations of a path have: they are published once, with the path. */
export function sharedParameters({ operations: [first, ...others] }: Route): readonly Parameter[] {
  const shared = first?.parameters.filter((parameter) =>
    others.every(({ parameters }) => parameters.some((other) => isSame(parameter, other))),
  )
  return [...(shared ?? [])].sort(byName)
}

export const ownParameters = (operation: Operation, shared: readonly Parameter[]): readonly Parameter[] =>
  operation.parameters.filter((parameter) => !shared.some((other) => isSame(parameter, other))).sort(byName)
