// Kinds that tenants write: path of the payload, supported encodings and patches. Objects contain the mark, a secret text, of their tenant.

import type { JsonObject } from '../kit/network/json-object.js'
import type { Tenant } from './tenant.js'
import { payloadText } from './workload/payload.js'

export const widgetGroup = 'tenants.example.com'
export const requestAnnotation = 'tenants.example.com/request'
export const laneLabel = 'tenants.example.com/lane'

/** Content of an object: id of the last request that wrote it, and the payload, which an earlier request may have written. */
export interface Version {
  readonly id: string
  readonly payloadId: string
  readonly payloadBytes: number
}

export interface Kind {
  readonly kind: string
  readonly resource: string
  /** The versions that are served; the first one is stored. */
  readonly apiVersions: readonly string[]
  readonly hasProtobuf: boolean
  readonly hasStrategicPatch: boolean
  readonly maxPayloadBytes: number
  /** False: the spec cannot be changed. */
  readonly isMutable: boolean
  /** JSON pointer of the payload. */
  readonly payloadPath: string
  readonly payloadValue: (payload: string) => unknown
  readonly content: (tenant: Tenant, payload: string) => Readonly<Record<string, unknown>>
  readonly payloadOf: (object: JsonObject) => string
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const envOf = (payload: string) => payload.split('\n').map((value, i) => ({ name: `E${i}`, value }))

interface PodSpec {
  readonly containers: readonly { readonly env?: readonly { readonly value: string }[] }[]
}
const payloadOfPod = (spec: unknown): string => ((spec as PodSpec).containers[0]?.env ?? []).map(({ value }) => value).join('\n')
const podSpec = (payload: string) => ({ containers: [{ name: 'c', image: 'i', env: envOf(payload) }] })

export const configMapKind: Kind = {
  kind: 'ConfigMap',
  resource: 'configmaps',
  apiVersions: ['v1'],
  hasProtobuf: true,
  hasStrategicPatch: true,
  maxPayloadBytes: 900_000,
  isMutable: true,
  payloadPath: '/data/payload',
  payloadValue: (payload) => payload,
  content: ({ mark }, payload) => ({ data: { payload, [`key-${mark}`]: mark }, binaryData: { [`raw-${mark}`]: base64(mark) } }),
  payloadOf: ({ data }) => data?.['payload'] ?? '',
}

export const secretKind: Kind = {
  ...configMapKind,
  kind: 'Secret',
  resource: 'secrets',
  payloadValue: base64,
  // At each base64 alignment.
  content: ({ mark }, payload) => ({
    type: 'Opaque',
    data: { payload: base64(payload), [`key-${mark}`]: base64(mark), one: base64(`.${mark}`), two: base64(`..${mark}`) },
  }),
  payloadOf: ({ data }) => Buffer.from(data?.['payload'] ?? '', 'base64').toString(),
}

const deploymentKind: Kind = {
  kind: 'Deployment',
  resource: 'deployments',
  apiVersions: ['apps/v1'],
  hasProtobuf: true,
  hasStrategicPatch: true,
  maxPayloadBytes: 100_000,
  isMutable: true,
  payloadPath: '/spec/template/spec/containers/0/env',
  payloadValue: envOf,
  content: ({ mark }, payload) => ({
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: mark } },
      template: { metadata: { labels: { app: mark } }, spec: podSpec(payload) },
    },
  }),
  payloadOf: ({ spec }) => payloadOfPod((spec as { readonly template: { readonly spec: PodSpec } }).template.spec),
}

export const podKind: Kind = {
  ...deploymentKind,
  kind: 'Pod',
  resource: 'pods',
  apiVersions: ['v1'],
  isMutable: false,
  payloadPath: '/spec/containers/0/env',
  content: (_tenant, payload) => ({ spec: podSpec(payload) }),
  payloadOf: ({ spec }) => payloadOfPod(spec),
}

const widgetKind: Kind = {
  kind: 'Widget',
  resource: 'widgets',
  apiVersions: [`${widgetGroup}/v1`, `${widgetGroup}/v2`],
  hasProtobuf: false,
  hasStrategicPatch: false,
  maxPayloadBytes: 1_300_000,
  isMutable: true,
  payloadPath: '/spec/payload',
  payloadValue: (payload) => payload,
  content: ({ mark }, payload) => ({ spec: { mark, payload, parts: [{ id: 'x', value: mark }], any: { [mark]: [mark] } } }),
  payloadOf: ({ spec }) => (spec as { readonly payload?: string } | undefined)?.payload ?? '',
}

export const kinds: readonly Kind[] = [configMapKind, secretKind, deploymentKind, widgetKind]

export const collectionOf = ({ resource }: Kind, apiVersion: string, namespace: string): string =>
  `/${apiVersion.includes('/') ? 'apis' : 'api'}/${apiVersion}/namespaces/${namespace}/${resource}`

const partSchema = { type: 'object', required: ['id'], properties: { id: { type: 'string', maxLength: 10 }, value: { type: 'string' } } }
const widgetSchema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['mark', 'payload'],
      'x-kubernetes-validations': [
        { rule: 'self.payload.startsWith(self.mark)', message: 'the payload must begin with the mark' },
        { rule: 'self.mark == oldSelf.mark', message: 'the mark must not change' },
        { rule: '!has(self.parts) || self.parts.all(p, !has(p.value) || p.value == self.mark)', message: 'every part must have the mark' },
      ],
      properties: {
        mark: { type: 'string', maxLength: 40 },
        payload: { type: 'string', maxLength: 3_000_000 },
        parts: { type: 'array', maxItems: 20, items: partSchema, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['id'] },
        any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
    status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
}
const crdVersion = (name: string, storage: boolean) => ({
  name,
  storage,
  served: true,
  schema: { openAPIV3Schema: widgetSchema },
  subresources: { status: {} },
  additionalPrinterColumns: [{ name: 'Mark', type: 'string', jsonPath: '.spec.mark' }],
})

export const widgetCrd = {
  metadata: { name: `widgets.${widgetGroup}` },
  spec: {
    group: widgetGroup,
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [crdVersion('v1', true), crdVersion('v2', false)],
  },
}

interface CreatedObject {
  readonly name: string
  readonly lane: string
  readonly version: Version
  readonly apiVersion: string
}

/** An object as a tenant writes it, with its mark in labels, annotations, keys and values. */
export function objectOf(kind: Kind, tenant: Tenant, { name, lane, version, apiVersion }: CreatedObject) {
  const { mark, namespace } = tenant
  const metadata = {
    name,
    namespace,
    labels: { [laneLabel]: lane, [`label-${mark}`]: mark },
    annotations: { [requestAnnotation]: version.id, [`annotation-${mark}`]: mark },
  }
  return { apiVersion, kind: kind.kind, metadata, ...kind.content(tenant, payloadText(mark, version.payloadId, version.payloadBytes)) }
}

/** Difference between an object and its expected version; undefined if there is none. */
export function differenceFrom(kind: Kind, { mark }: Tenant, object: JsonObject, version: Version): string | undefined {
  const id = object.metadata.annotations?.[requestAnnotation]
  if (id !== version.id) return `last written by ${id}, not by ${version.id}`
  return kind.payloadOf(object) === payloadText(mark, version.payloadId, version.payloadBytes)
    ? undefined
    : `its payload is not the ${version.payloadBytes} bytes of ${version.payloadId}`
}
