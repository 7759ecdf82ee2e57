// Fixture: sample kinds with every feature that published paths depend on.

import { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import {
  defineResource,
  type ResourceDefinition,
  type SubresourceDefinition,
} from '@cluster-apiserver/api/api/definition/resource-definition.js'
import { type IdentityName, identityOf } from '@cluster-apiserver/api/api/identity.js'
import * as meta from '@cluster-apiserver/api/api/meta.schema.js'
import * as s from '@cluster-apiserver/api/schema/node.js'
import { type Blueprint, blueprintOf } from './documents/blueprint.js'

const struct = s.structsOf('api.things.v1')

const metadata = s.field(1, meta.objectMeta, { default: {} })
const thing = struct('Thing', { metadata, spec: s.field(2, struct('ThingSpec', { size: s.field(1, s.int32) })) }, { typeMeta: true })
const box = struct('Box', { metadata }, { typeMeta: true, inList: { optional: true } })
const review = struct('BoxReview', { metadata }, { typeMeta: true })
const scale = s.structsOf('api.autoscaling.v1')('Scale', { metadata }, { typeMeta: true })
const opening = struct('Opening', { metadata }, { typeMeta: true })
const talkOptions = struct('ThingTalkOptions', { stdin: s.field(1, s.boolean), words: s.field(2, s.list(s.string)) }, { typeMeta: true })
const proxyOptions = struct('ThingProxyOptions', { path: s.field(1, s.string) }, { typeMeta: true })
const logOptions = struct('ThingLogOptions', { lines: s.field(1, s.int64), since: s.field(2, s.time) }, { typeMeta: true })

const keep = { prepareUpdate: <T>(next: T): T => next }
const subresources: readonly SubresourceDefinition[] = [
  { ...keep, name: 'status', verbs: ['get', 'patch', 'update'] },
  {
    ...keep,
    name: 'scale',
    verbs: ['get', 'update'],
    view: { group: 'autoscaling', version: 'v1', kind: 'Scale', schema: scale, read: (one) => one, write: (_view, one) => one },
  },
  {
    ...keep,
    name: 'opening',
    verbs: ['create'],
    body: { kind: 'Opening', group: { stem: 'doors' }, version: 'v2', schema: opening },
  },
  { ...keep, name: 'talk', verbs: ['create', 'get'], body: { kind: 'ThingTalkOptions' }, query: talkOptions },
  {
    ...keep,
    name: 'proxy',
    verbs: ['create', 'delete', 'get', 'patch', 'update'],
    body: { kind: 'ThingProxyOptions' },
    query: proxyOptions,
  },
  { ...keep, name: 'log', verbs: ['get'], body: { kind: 'Thing' }, query: logOptions },
]

const custom = s.struct(
  'Widget',
  { metadata: s.jsonField(meta.objectMeta), spec: s.jsonField(s.any('json')) },
  { typeMeta: true, noProto: true },
)

export const widget: ResourceDefinition = defineResource({
  group: 'shop.example.com',
  kind: 'Widget',
  resource: 'widgets',
  namespaced: true,
  versions: [
    {
      name: 'v1beta1',
      schema: custom,
      stored: true,
      published: {
        type: 'object',
        description: 'A widget.',
        properties: {
          spec: {
            type: 'object',
            nullable: true,
            properties: {
              size: { 'x-kubernetes-int-or-string': true, default: 3 },
              whole: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { data: { type: 'object' } } },
              tags: { type: 'array', items: { type: 'string', nullable: true }, maxItems: 5 },
              open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { a: { type: 'string' } } },
            },
          },
          sure: {
            type: 'object',
            required: ['a', 'b'],
            allOf: [{ maxProperties: 9 }],
            properties: {
              a: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }], default: 3, example: 4 },
              b: { type: 'string', nullable: true, maxLength: 3 },
              list: { type: 'array', 'x-kubernetes-preserve-unknown-fields': true, items: { type: 'string' } },
              open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { a: { type: 'string' } } },
              whole: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { data: { type: 'object' } } },
            },
          },
        },
      },
    },
  ],
  nameProblems: () => [],
})

const definitions: readonly ResourceDefinition[] = [
  defineResource({
    group: { stem: 'small.things' },
    kind: 'Thing',
    resource: 'things',
    shortNames: ['th'],
    categories: ['all'],
    namespaced: true,
    versions: [{ name: 'v1', schema: thing, stored: true }],
    subresources,
    nameProblems: () => [],
    deleteReturnsObject: true,
  }),
  defineResource({
    group: '',
    kind: 'Box',
    resource: 'boxes',
    namespaced: false,
    verbs: ['create', 'delete', 'get', 'list', 'watch'],
    versions: [{ name: 'v1', schema: box, stored: true }],
    nameProblems: () => [],
    deleteReturnsObject: true,
    isDeletionBlocked: () => false,
  }),
  defineResource({
    group: { stem: 'apiregistration' },
    kind: 'BoxReview',
    resource: 'boxreviews',
    namespaced: false,
    verbs: ['create'],
    versions: [{ name: 'v1', schema: review, stored: true }],
    nameProblems: () => [],
  }),
  widget,
]

export const gadget: ResourceDefinition = defineResource({
  group: 'shop.example.com',
  kind: 'Gadget',
  resource: 'gadgets',
  namespaced: true,
  versions: [{ name: 'v1beta1', schema: { ...custom, name: 'Gadget' }, stored: true }],
  nameProblems: () => [],
})

export const gadgetWithPackage = struct('Gadget', { metadata }, { typeMeta: true })

export const sampleCatalog = (identity: IdentityName = 'cluster'): Catalog =>
  new Catalog({ identity: identityOf(identity), definitions, isServed: () => true })

export const sampleBlueprint = (identity?: IdentityName): Promise<Blueprint> =>
  blueprintOf(sampleCatalog(identity), { describe: (type, field) => `${type} ${field ?? ''}`.trim(), release: 'v1.26.8' })
