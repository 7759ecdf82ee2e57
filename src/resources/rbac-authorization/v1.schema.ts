// The types of rbac-authorization/v1 as the catalogue lists them, transcribed by scripts/generate-schemas.mjs: data, not to be edited.

import * as meta from '../../api/meta.schema.js'
import type { Infer } from '../../schema/infer.js'
import * as s from '../../schema/node.js'

const struct = s.structsOf('api.rbac.v1')

export const aggregationRule = struct('AggregationRule', {
  clusterRoleSelectors: s.field(1, s.list(meta.labelSelector)),
})
export type AggregationRule = Infer<typeof aggregationRule>

export const policyRule = struct('PolicyRule', {
  verbs: s.field(1, s.list(s.string), { always: true, required: true }),
  apiGroups: s.field(2, s.list(s.string)),
  resources: s.field(3, s.list(s.string)),
  resourceNames: s.field(4, s.list(s.string)),
  nonResourceURLs: s.field(5, s.list(s.string)),
})
export type PolicyRule = Infer<typeof policyRule>

export const clusterRole = struct(
  'ClusterRole',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    rules: s.field(2, s.list(policyRule), { always: true }),
    aggregationRule: s.field(3, aggregationRule, { pointer: true }),
  },
  { typeMeta: true },
)
export type ClusterRole = Infer<typeof clusterRole>

export const subject = struct(
  'Subject',
  {
    kind: s.field(1, s.string, { always: true, required: true, default: '' }),
    apiGroup: s.field(2, s.string),
    name: s.field(3, s.string, { always: true, required: true, default: '' }),
    namespace: s.field(4, s.string),
  },
  { mapType: 'atomic' },
)
export type Subject = Infer<typeof subject>

export const roleRef = struct(
  'RoleRef',
  {
    apiGroup: s.field(1, s.string, { always: true, required: true, default: '' }),
    kind: s.field(2, s.string, { always: true, required: true, default: '' }),
    name: s.field(3, s.string, { always: true, required: true, default: '' }),
  },
  { mapType: 'atomic' },
)
export type RoleRef = Infer<typeof roleRef>

export const clusterRoleBinding = struct(
  'ClusterRoleBinding',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    subjects: s.field(2, s.list(subject)),
    roleRef: s.field(3, roleRef, { always: true, required: true, default: {} }),
  },
  { typeMeta: true },
)
export type ClusterRoleBinding = Infer<typeof clusterRoleBinding>

export const role = struct(
  'Role',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    rules: s.field(2, s.list(policyRule), { always: true }),
  },
  { typeMeta: true },
)
export type Role = Infer<typeof role>

export const roleBinding = struct(
  'RoleBinding',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    subjects: s.field(2, s.list(subject)),
    roleRef: s.field(3, roleRef, { always: true, required: true, default: {} }),
  },
  { typeMeta: true },
)
export type RoleBinding = Infer<typeof roleBinding>
