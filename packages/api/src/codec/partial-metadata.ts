// Objects reduced to their metadata, for clients that want to know what there is and not what it says.

import { ApiError } from '../api/api-error.js'
import type { ResourceDefinition } from '../api/definition.js'
import type { Identity } from '../api/identity.js'
import { listMeta, partialObjectMetadata } from '../api/meta.schema.js'
import type { ApiObject, ObjectMeta } from '../api/object.js'
import * as s from '../schema/node.js'
import { writeValue } from '../schema/write.js'
import type { ListNumbers, ObjectType, TypedObject } from './protobuf.js'

export interface MetadataForm {
  readonly identity: Identity
  readonly version: 'v1' | 'v1beta1'
  /** Annotations that are not shown. */
  readonly hidden?: readonly string[] | undefined
}

/** How metadata of a kind are shown. */
export const metadataFormOf = (
  { definition }: { readonly definition?: Pick<ResourceDefinition, 'fieldAnnotations'> },
  { identity, version }: MetadataForm,
): MetadataForm => ({ identity, version, hidden: definition?.fieldAnnotations?.(identity) })

/** The metadata without annotations that are not shown. */
export function shownMetadata({ hidden }: MetadataForm, metadata: ObjectMeta | undefined): ObjectMeta | undefined {
  const annotations = metadata?.annotations
  if (hidden === undefined || annotations === undefined || !hidden.some((name) => Object.hasOwn(annotations, name))) return metadata
  const shown = Object.entries(annotations).filter(([name]) => !hidden.includes(name))
  const { annotations: _, ...rest } = metadata ?? {}
  return shown.length === 0 ? rest : { ...rest, annotations: Object.fromEntries(shown) }
}

const apiVersionOf = ({ identity, version }: MetadataForm): string => `${identity.group({ stem: 'meta' })}/${version}`

export const partialMetadataType = (form: MetadataForm): ObjectType => ({ kind: 'PartialObjectMetadata', apiVersion: apiVersionOf(form) })

export const partialMetadataListType = (form: MetadataForm): ObjectType => ({
  kind: 'PartialObjectMetadataList',
  apiVersion: apiVersionOf(form),
})

/** The older version has the two fields of the list in the other order. */
export const metadataListNumbers = ({ version }: MetadataForm): ListNumbers =>
  version === 'v1' ? { metadata: 1, items: 2 } : { metadata: 2, items: 1 }

/** The schema of the older version's list, which only differs in Protobuf. */
export const partialObjectMetadataListV1beta1 = s.struct(
  'PartialObjectMetadataList',
  {
    metadata: s.field(2, listMeta),
    items: s.field(1, s.list(partialObjectMetadata), { always: true }),
  },
  { typeMeta: true },
)

/** The metadata of an object of any kind, as an object of its own. */
export function partialMetadata(form: MetadataForm, { metadata }: ApiObject): TypedObject {
  const type = partialMetadataType(form)
  return { type, schema: partialObjectMetadata, object: { ...type, metadata: shownMetadata(form, metadata) } }
}

export function partialMetadataJson(form: MetadataForm, object: ApiObject): string {
  const typed = partialMetadata(form, object)
  return writeValue(typed.schema, typed.object)
}

/** The metadata of one object was asked for, and what there is is a list, or the other way round. */
export function notThatMany(asked: 'PartialObjectMetadata' | 'PartialObjectMetadataList', kind: string): ApiError {
  const what = asked === 'PartialObjectMetadata' ? 'a list' : 'not a list'
  const message = `you requested ${asked}, but the requested object is ${what} (${kind})`
  return new ApiError({ code: 406, reason: 'NotAcceptable', message })
}
