// The types of authorization/v1beta1 as the catalogue lists them, transcribed by scripts/generate-schemas.mjs: data, not to be edited.

import * as meta from '../../api/meta.schema.js'
import type { Infer } from '../../schema/infer.js'
import * as s from '../../schema/node.js'

export const resourceAttributes = s.struct('ResourceAttributes', {
  namespace: s.field(1, s.string),
  verb: s.field(2, s.string),
  group: s.field(3, s.string),
  version: s.field(4, s.string),
  resource: s.field(5, s.string),
  subresource: s.field(6, s.string),
  name: s.field(7, s.string),
})
export type ResourceAttributes = Infer<typeof resourceAttributes>

export const nonResourceAttributes = s.struct('NonResourceAttributes', {
  path: s.field(1, s.string),
  verb: s.field(2, s.string),
})
export type NonResourceAttributes = Infer<typeof nonResourceAttributes>

export const subjectAccessReviewSpec = s.struct('SubjectAccessReviewSpec', {
  resourceAttributes: s.field(1, resourceAttributes, { pointer: true }),
  nonResourceAttributes: s.field(2, nonResourceAttributes, { pointer: true }),
  user: s.field(3, s.string),
  group: s.field(4, s.list(s.string)),
  extra: s.field(5, s.map(s.list(s.string, { protoWrapped: true }))),
  uid: s.field(6, s.string),
})
export type SubjectAccessReviewSpec = Infer<typeof subjectAccessReviewSpec>

export const subjectAccessReviewStatus = s.struct('SubjectAccessReviewStatus', {
  allowed: s.field(1, s.boolean, { always: true, required: true, default: false }),
  denied: s.field(4, s.boolean),
  reason: s.field(2, s.string),
  evaluationError: s.field(3, s.string),
})
export type SubjectAccessReviewStatus = Infer<typeof subjectAccessReviewStatus>

export const localSubjectAccessReview = s.struct(
  'LocalSubjectAccessReview',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, subjectAccessReviewSpec, { always: true, required: true, default: {} }),
    status: s.field(3, subjectAccessReviewStatus, { default: {} }),
  },
  { typeMeta: true },
)
export type LocalSubjectAccessReview = Infer<typeof localSubjectAccessReview>

export const nonResourceRule = s.struct('NonResourceRule', {
  verbs: s.field(1, s.list(s.string), { always: true, required: true }),
  nonResourceURLs: s.field(2, s.list(s.string)),
})
export type NonResourceRule = Infer<typeof nonResourceRule>

export const resourceRule = s.struct('ResourceRule', {
  verbs: s.field(1, s.list(s.string), { always: true, required: true }),
  apiGroups: s.field(2, s.list(s.string)),
  resources: s.field(3, s.list(s.string)),
  resourceNames: s.field(4, s.list(s.string)),
})
export type ResourceRule = Infer<typeof resourceRule>

export const selfSubjectAccessReviewSpec = s.struct('SelfSubjectAccessReviewSpec', {
  resourceAttributes: s.field(1, resourceAttributes, { pointer: true }),
  nonResourceAttributes: s.field(2, nonResourceAttributes, { pointer: true }),
})
export type SelfSubjectAccessReviewSpec = Infer<typeof selfSubjectAccessReviewSpec>

export const selfSubjectAccessReview = s.struct(
  'SelfSubjectAccessReview',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, selfSubjectAccessReviewSpec, { always: true, required: true, default: {} }),
    status: s.field(3, subjectAccessReviewStatus, { default: {} }),
  },
  { typeMeta: true },
)
export type SelfSubjectAccessReview = Infer<typeof selfSubjectAccessReview>

export const selfSubjectRulesReviewSpec = s.struct('SelfSubjectRulesReviewSpec', {
  namespace: s.field(1, s.string),
})
export type SelfSubjectRulesReviewSpec = Infer<typeof selfSubjectRulesReviewSpec>

export const subjectRulesReviewStatus = s.struct('SubjectRulesReviewStatus', {
  resourceRules: s.field(1, s.list(resourceRule), { always: true, required: true }),
  nonResourceRules: s.field(2, s.list(nonResourceRule), { always: true, required: true }),
  incomplete: s.field(3, s.boolean, { always: true, required: true, default: false }),
  evaluationError: s.field(4, s.string),
})
export type SubjectRulesReviewStatus = Infer<typeof subjectRulesReviewStatus>

export const selfSubjectRulesReview = s.struct(
  'SelfSubjectRulesReview',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, selfSubjectRulesReviewSpec, { always: true, required: true, default: {} }),
    status: s.field(3, subjectRulesReviewStatus, { default: {} }),
  },
  { typeMeta: true },
)
export type SelfSubjectRulesReview = Infer<typeof selfSubjectRulesReview>

export const subjectAccessReview = s.struct(
  'SubjectAccessReview',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, subjectAccessReviewSpec, { always: true, required: true, default: {} }),
    status: s.field(3, subjectAccessReviewStatus, { default: {} }),
  },
  { typeMeta: true },
)
export type SubjectAccessReview = Infer<typeof subjectAccessReview>
