// Fixture: a custom kind Wall in two versions, with a fake conversion webhook that a test can block or fail.

import type { BatchConversion } from '@cluster-apiserver/api/api/definition/conversion-webhook.js'
import { defineResource, type SubresourceDefinition } from '@cluster-apiserver/api/api/definition/resource-definition.js'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import { objectMeta } from '@cluster-apiserver/api/api/meta.schema.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { field, string, struct } from '@cluster-apiserver/api/schema/node.js'

export const identity = identityOf('cluster')
export const group = 'paint.example.com'
export const [v1, v2] = [`${group}/v1`, `${group}/v2`]

export const converter = {
  calls: [] as string[],
  blocked: Promise.resolve() as Promise<unknown>,
  problem: undefined as string | undefined,
}

export const convert: BatchConversion = async (objects, { from, to }) => {
  converter.calls.push(`${objects.length} ${from.slice(-2)}>${to.slice(-2)}`)
  await converter.blocked
  if (converter.problem !== undefined) throw new Error(converter.problem)
  return objects.map((object) => {
    const { color, paint, ...rest } = object as ApiObject & { color?: string; paint?: string }
    return { ...rest, ...(to === v2 ? { paint: color } : { color: paint }) }
  })
}

const schemaOf = (name: string) =>
  struct('Wall', { metadata: field(1, objectMeta), [name]: field(2, string), note: field(3, string) }, { typeMeta: true })

export interface Shade extends ApiObject {
  readonly shade?: string
}

const shades: SubresourceDefinition<ApiObject & { readonly paint?: string }> = {
  name: 'shade',
  verbs: ['get', 'update'],
  view: {
    group,
    version: 'v1',
    kind: 'Shade',
    schema: struct('Shade', { metadata: field(1, objectMeta), shade: field(2, string) }, { typeMeta: true }),
    read: ({ metadata = {}, paint }) => ({ metadata, shade: `of ${paint}` }) as Shade,
    write: ({ shade = '' }: Shade, wall) => ({ ...wall, paint: shade.slice('of '.length) }),
  },
  prepareUpdate: (next) => next,
}

export const definitionStoredAs = (stored: 'v1' | 'v2', conversion = convert) =>
  defineResource({
    group,
    kind: 'Wall',
    resource: 'walls',
    namespaced: true,
    conversion,
    versions: [
      { name: 'v1', schema: schemaOf('color'), stored: stored === 'v1' },
      { name: 'v2', schema: schemaOf('paint'), stored: stored === 'v2' },
    ],
    subresources: [shades],
    nameProblems: () => [],
  })

export interface Wall {
  readonly apiVersion?: string
  readonly metadata: {
    readonly name: string
    readonly resourceVersion: string
    readonly managedFields?: readonly { readonly manager: string; readonly apiVersion: string; readonly fieldsV1: object }[]
  }
  readonly color?: string
  readonly paint?: string
  readonly note?: string
}

export interface Reply {
  readonly code: number
  readonly json: Wall & { readonly items: readonly Wall[]; readonly message?: string; readonly metadata: { readonly continue?: string } }
  readonly bytes: Buffer
}
