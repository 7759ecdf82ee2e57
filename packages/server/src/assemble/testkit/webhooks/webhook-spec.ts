// Specs of test webhooks: their kinds and options, and the checks of a spec.

import { refuseUnknownOptions } from '@cluster-apiserver/api/base/unknown-options.js'

export type WebhookKind = keyof WebhookSpecs

/** A rule of a webhook configuration. */
export interface WebhookRule {
  readonly resources: readonly string[]
  /** Default: all. */
  readonly apiGroups?: readonly string[]
  /** Default: all. */
  readonly apiVersions?: readonly string[]
  /** Default: CREATE and UPDATE. */
  readonly operations?: readonly string[]
  readonly scope?: 'Cluster' | 'Namespaced' | '*'
}

interface WebhookSelector {
  readonly matchLabels?: { readonly [key: string]: string }
  readonly matchExpressions?: readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] }[]
}

interface ValidatingSpec {
  readonly kind: 'validating'
  /** Name of the webhook and of its configuration: a domain name of at least three parts. Default: a new name. */
  readonly name?: string
  readonly rules: readonly WebhookRule[]
  readonly failurePolicy?: 'Fail' | 'Ignore'
  readonly matchPolicy?: 'Exact' | 'Equivalent'
  readonly namespaceSelector?: WebhookSelector
  readonly objectSelector?: WebhookSelector
  /** Default: None. */
  readonly sideEffects?: 'None' | 'NoneOnDryRun'
  readonly timeoutSeconds?: number
  /** Default: v1. */
  readonly admissionReviewVersions?: readonly ('v1' | 'v1beta1')[]
}

interface MutatingSpec extends Omit<ValidatingSpec, 'kind'> {
  readonly kind: 'mutating'
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded'
}

interface ConversionSpec {
  readonly kind: 'conversion'
  /** Name of the CustomResourceDefinition: `wares.shop.example.com`. */
  readonly crd: string
}

interface ServerSpec<Kind extends string> {
  readonly kind: Kind
  /** Default: 30. */
  readonly timeoutSeconds?: number
}

interface WebhookSpecs {
  readonly validating: ValidatingSpec
  readonly mutating: MutatingSpec
  readonly conversion: ConversionSpec
  readonly token: ServerSpec<'token'>
  readonly authorization: ServerSpec<'authorization'>
  readonly imagePolicy: ServerSpec<'imagePolicy'>
}

export type WebhookSpec<Kind extends WebhookKind = WebhookKind> = WebhookSpecs[Kind]

const admissionFields = {
  kind: true,
  name: true,
  rules: true,
  failurePolicy: true,
  matchPolicy: true,
  namespaceSelector: true,
  objectSelector: true,
  sideEffects: true,
  timeoutSeconds: true,
  admissionReviewVersions: true,
} as const
const serverFields = { kind: true, timeoutSeconds: true } as const

const fieldsByKind: { readonly [Kind in WebhookKind]: { readonly [name in keyof Required<WebhookSpecs[Kind]>]: true } } = {
  validating: admissionFields,
  mutating: { ...admissionFields, reinvocationPolicy: true },
  conversion: { kind: true, crd: true },
  token: serverFields,
  authorization: serverFields,
  imagePolicy: serverFields,
}

const maxTimeoutSeconds = 30

/** Throws a TypeError. The API checks the values of a webhook configuration. */
export function checkSpec(spec: unknown): asserts spec is WebhookSpec {
  const { kind, ...fields } = (typeof spec === 'object' && spec !== null ? spec : {}) as { readonly [name: string]: unknown }
  if (typeof kind !== 'string' || !Object.hasOwn(fieldsByKind, kind))
    throw new TypeError(`webhook: kind must be one of: ${Object.keys(fieldsByKind).join(', ')}`)
  refuseUnknownOptions(`webhook of kind ${kind}`, spec, fieldsByKind[kind as WebhookKind])
  const { rules, crd, timeoutSeconds } = fields
  const isAdmission = kind === 'validating' || kind === 'mutating'
  if (isAdmission && !(Array.isArray(rules) && rules.length > 0 && rules.every(hasResources)))
    throw new TypeError("webhook: rules must be a list of rules such as { resources: ['configmaps'] }")
  if (kind === 'conversion' && (typeof crd !== 'string' || crd === ''))
    throw new TypeError('webhook: crd must be the name of a CustomResourceDefinition, such as wares.shop.example.com')
  if (timeoutSeconds !== undefined && !(Number.isInteger(timeoutSeconds) && isBetween(timeoutSeconds as number, 1, maxTimeoutSeconds)))
    throw new TypeError(`webhook: timeoutSeconds must be a whole number from 1 to ${maxTimeoutSeconds}`)
}

const isBetween = (value: number, min: number, max: number): boolean => value >= min && value <= max

const hasResources = (rule: unknown): boolean => {
  const { resources } = (rule ?? {}) as Partial<WebhookRule>
  return Array.isArray(resources) && resources.length > 0
}
