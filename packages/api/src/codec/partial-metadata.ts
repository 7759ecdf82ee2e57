// PartialObjectMetadata: objects reduced to their metadata.

import { ApiError } from '../api/api-error.js'
import type { ResourceDefinition } from '../api/definition/resource-definition.js'
import type { Identity } from '../api/identity.js'
import { listMeta, partialObjectMetadata } from '../api/meta.schema.js'
import type { ApiObject, ObjectMeta } from '../api/object.js'
import { writeValue } from '../schema/json/write.js'
import * as s from '../schema/node.js'
import type { ListFieldNumbers, ObjectType, TypedObject } from './protobuf-envelope.js'

export interface PartialMetadataOptions {
  readonly identity: Identity
  readonly version: 'v1' | 'v1beta1'
  /** Annotations to omit. */
  readonly hidden?: readonly string[] | undefined
}

export const partialMetadataOptionsOf = (
  { definition }: { readonly definition?: Pick<ResourceDefinition, 'fieldAnnotations'> },
  { identity, version }: PartialMetadataOptions,
): PartialMetadataOptions => ({ identity, version, hidden: definition?.fieldAnnotations?.(identity) })

export function shownMetadata({ hidden }: PartialMetadataOptions, metadata: ObjectMeta | undefined): ObjectMeta | undefined {
  const annotations = metadata?.annotations
  if (hidden === undefined || annotations === undefined || !hidden.some((name) => Object.hasOwn(annotations, name))) return metadata
  const shown = Object.entries(annotations).filter(([name]) => !hidden.includes(name))
  const { annotations: _, ...rest } = metadata ?? {}
  return shown.length === 0 ? rest : { ...rest, annotations: Object.fromEntries(shown) }
}

const apiVersionOf = ({ identity, version }: PartialMetadataOptions): string => `${identity.group({ stem: 'meta' })}/${version}`

export const partialMetadataType = (options: PartialMetadataOptions): ObjectType => ({
  kind: 'PartialObjectMetadata',
  apiVersion: apiVersionOf(options),
})

export const partialMetadataListType = (options: PartialMetadataOptions): ObjectType => ({
  kind: 'PartialObjectMetadataList',
  apiVersion: apiVersionOf(options),
})

export const metadataListFieldNumbers = ({ version }: PartialMetadataOptions): ListFieldNumbers =>
  version === 'v1' ? { metadata: 1, items: 2 } : { metadata: 2, items: 1 }

export const partialObjectMetadataListV1beta1 = s.struct(
  'PartialObjectMetadataList',
  {
    metadata: s.field(2, listMeta),
    items: s.field(1, s.list(partialObjectMetadata), { always: true }),
  },
  { typeMeta: true },
)

export function partialMetadata(options: PartialMetadataOptions, { metadata }: ApiObject): TypedObject {
  const type = partialMetadataType(options)
  return { type, schema: partialObjectMetadata, object: { ...type, metadata: shownMetadata(options, metadata) } }
}

export function partialMetadataJson(options: PartialMetadataOptions, object: ApiObject): string {
  const typed = partialMetadata(options, object)
  return writeValue(typed.schema, typed.object)
}

export function listKindMismatch(requested: 'PartialObjectMetadata' | 'PartialObjectMetadataList', kind: string): ApiError {
  const actual = requested === 'PartialObjectMetadata' ? 'a list' : 'not a list'
  const message = `you requested ${requested}, but the requested object is ${actual} (${kind})`
  return new ApiError({ code: 406, reason: 'NotAcceptable', message })
}
