// Kinds and subresources of which nothing is kept: each says by a name what is done instead, and verbs/special has a function for every name.

import type { StructNode } from '../schema/node.js'
import type { ActionName, ConnectionName, ResourceDefinition, SubresourceBody, SubresourceDefinition, Verb } from './definition.js'
import type { ApiObject } from './object.js'

type Rest<T extends ApiObject> = Omit<ResourceDefinition<T>, 'kind' | 'verbs' | 'review' | 'computed'>

/** A kind of question: what is sent is checked by `validate` alone and answered. */
export const defineReview =
  <const Kind extends string>(kind: Kind) =>
  <T extends ApiObject>(definition: Rest<T>): ResourceDefinition & { readonly review: Kind } => ({
    ...(definition as unknown as Rest<ApiObject>),
    kind,
    verbs: ['create'],
    review: kind,
  })

/** A kind whose objects are found out when somebody asks for them. */
export const defineComputed =
  <const Kind extends string>(kind: Kind) =>
  <T extends ApiObject>(definition: Rest<T>): ResourceDefinition & { readonly computed: Kind } => ({
    ...(definition as unknown as Rest<ApiObject>),
    kind,
    verbs: ['get', 'list'],
    computed: kind,
  })

/** They do not write the object as an update does, so that there is nothing to prepare. */
const unprepared = { prepareUpdate: <T>(next: T): T => next }

/** A subresource that takes a wish and does something with the object. */
export const defineAction = (action: {
  readonly name: string
  readonly action: ActionName
  readonly body: SubresourceBody
}): SubresourceDefinition => ({ ...action, verbs: ['create'], ...unprepared })

/** A subresource that leads to what runs somewhere else. It takes its options from the query, and discovery calls it after them. */
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
