// The types of apidiscovery/v2beta1 as the catalogue lists them, transcribed by scripts/generate-schemas.mjs: data, not to be edited.

import * as meta from '../../api/meta.schema.js'
import type { Infer } from '../../schema/infer.js'
import * as s from '../../schema/node.js'

export const apiSubresourceDiscovery = s.struct('APISubresourceDiscovery', {
  subresource: s.field(1, s.string, { always: true, required: true, default: '' }),
  responseKind: s.field(2, meta.groupVersionKind, { pointer: true }),
  acceptedTypes: s.field(3, s.list(meta.groupVersionKind, { listType: 'map', keys: ['group', 'version', 'kind'] })),
  verbs: s.field(4, s.list(s.string, { listType: 'set' }), { always: true, required: true }),
})
export type APISubresourceDiscovery = Infer<typeof apiSubresourceDiscovery>

export const apiResourceDiscovery = s.struct('APIResourceDiscovery', {
  resource: s.field(1, s.string, { always: true, required: true, default: '' }),
  responseKind: s.field(2, meta.groupVersionKind, { pointer: true }),
  scope: s.field(3, s.string, { always: true, required: true, default: '' }),
  singularResource: s.field(4, s.string, { always: true, required: true, default: '' }),
  verbs: s.field(5, s.list(s.string, { listType: 'set' }), { always: true, required: true }),
  shortNames: s.field(6, s.list(s.string, { listType: 'set' })),
  categories: s.field(7, s.list(s.string, { listType: 'set' })),
  subresources: s.field(8, s.list(apiSubresourceDiscovery, { listType: 'map', keys: ['subresource'] })),
})
export type APIResourceDiscovery = Infer<typeof apiResourceDiscovery>

export const apiVersionDiscovery = s.struct('APIVersionDiscovery', {
  version: s.field(1, s.string, { always: true, required: true, default: '' }),
  resources: s.field(2, s.list(apiResourceDiscovery, { listType: 'map', keys: ['resource'] })),
  freshness: s.field(3, s.string),
})
export type APIVersionDiscovery = Infer<typeof apiVersionDiscovery>

export const apiGroupDiscovery = s.struct(
  'APIGroupDiscovery',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    versions: s.field(2, s.list(apiVersionDiscovery, { listType: 'map', keys: ['version'] })),
  },
  { typeMeta: true },
)
export type APIGroupDiscovery = Infer<typeof apiGroupDiscovery>
