// The types of discovery/v1 as the catalogue lists them, transcribed by scripts/generate-schemas.mjs: data, not to be edited.

import * as meta from '../../api/meta.schema.js'
import * as core from '../../resources/core/v1.schema.js'
import type { Infer } from '../../schema/infer.js'
import * as s from '../../schema/node.js'

const struct = s.structsOf('api.discovery.v1')

export const endpointConditions = struct('EndpointConditions', {
  ready: s.field(1, s.boolean, { pointer: true }),
  serving: s.field(2, s.boolean, { pointer: true }),
  terminating: s.field(3, s.boolean, { pointer: true }),
})
export type EndpointConditions = Infer<typeof endpointConditions>

export const forZone = struct('ForZone', {
  name: s.field(1, s.string, { always: true, required: true, default: '' }),
})
export type ForZone = Infer<typeof forZone>

export const endpointHints = struct('EndpointHints', {
  forZones: s.field(1, s.list(forZone, { listType: 'atomic' })),
})
export type EndpointHints = Infer<typeof endpointHints>

export const endpoint = struct('Endpoint', {
  addresses: s.field(1, s.list(s.string, { listType: 'set' }), { always: true, required: true }),
  conditions: s.field(2, endpointConditions, { default: {} }),
  hostname: s.field(3, s.string, { pointer: true }),
  targetRef: s.field(4, core.objectReference, { pointer: true }),
  deprecatedTopology: s.field(5, s.map(s.string)),
  nodeName: s.field(6, s.string, { pointer: true }),
  zone: s.field(7, s.string, { pointer: true }),
  hints: s.field(8, endpointHints, { pointer: true }),
})
export type Endpoint = Infer<typeof endpoint>

export const endpointPort = struct(
  'EndpointPort',
  {
    name: s.field(1, s.string, { pointer: true }),
    protocol: s.field(2, s.string, { pointer: true }),
    port: s.field(3, s.int32, { pointer: true }),
    appProtocol: s.field(4, s.string, { pointer: true }),
  },
  { mapType: 'atomic' },
)
export type EndpointPort = Infer<typeof endpointPort>

export const endpointSlice = struct(
  'EndpointSlice',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    addressType: s.field(4, s.string, { always: true, required: true, default: '', enum: ['FQDN', 'IPv4', 'IPv6'] }),
    endpoints: s.field(2, s.list(endpoint, { listType: 'atomic' }), { always: true, required: true }),
    ports: s.field(3, s.list(endpointPort, { listType: 'atomic' }), { always: true }),
  },
  { typeMeta: true },
)
export type EndpointSlice = Infer<typeof endpointSlice>
