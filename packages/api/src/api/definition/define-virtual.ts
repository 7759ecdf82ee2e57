// Definitions of kinds and subresources without stored objects: reviews, computed kinds, actions and connections.

import type { StructNode } from '../../schema/node.js'
import type { ApiObject } from '../object.js'
import type { ActionName, ConnectionName, ResourceDefinition, SubresourceBody, SubresourceDefinition, Verb } from './resource-definition.js'

type DefinitionWithoutKind<T extends ApiObject> = Omit<ResourceDefinition<T>, 'kind' | 'verbs' | 'review' | 'computed'>

/** A kind that is validated and returned with its status filled in, but not stored. */
export const defineReview =
  <const Kind extends string>(kind: Kind) =>
  <T extends ApiObject>(definition: DefinitionWithoutKind<T>): ResourceDefinition & { readonly review: Kind } => ({
    ...(definition as unknown as DefinitionWithoutKind<ApiObject>),
    kind,
    verbs: ['create'],
    review: kind,
  })

/** A kind whose objects are computed on every read, such as ComponentStatus. */
export const defineComputed =
  <const Kind extends string>(kind: Kind) =>
  <T extends ApiObject>(definition: DefinitionWithoutKind<T>): ResourceDefinition & { readonly computed: Kind } => ({
    ...(definition as unknown as DefinitionWithoutKind<ApiObject>),
    kind,
    verbs: ['get', 'list'],
    computed: kind,
  })

/** For actions, such as eviction, and connections, which have no update to prepare. */
const unprepared = { prepareUpdate: <T>(next: T): T => next }

export const defineAction = (action: {
  readonly name: string
  readonly action: ActionName
  readonly body: SubresourceBody
}): SubresourceDefinition => ({ ...action, verbs: ['create'], ...unprepared })

/** A connection, such as exec, whose options come from the query. Discovery lists `kind`; default: the name of the query schema. */
export const defineConnection = (connection: {
  readonly name: string
  readonly connection: ConnectionName
  readonly query: StructNode
  readonly kind?: string
  readonly verbs?: readonly Verb[]
}): SubresourceDefinition => {
  const { kind, verbs = ['create', 'get'], ...rest } = connection
  return { ...rest, verbs, body: { kind: kind ?? connection.query.name }, ...unprepared }
}
